/** What `.gitmodules` says, and whose content may be fetched for it. Pure. */
import { posix } from 'node:path';
import { readRemote, type Remote } from './remote.ts';

/** The output of `git config --null --list` for a `.gitmodules`: URLs by path. The last word on a field counts. */
export function decodeModules(output: Buffer): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  const urls = new Map<string, string>();
  for (const record of output.toString('utf8').split('\0')) {
    const cut = record.indexOf('\n');
    const [key, value] = [record.slice(0, cut), record.slice(cut + 1)];
    if (cut < 0 || !key.startsWith('submodule.')) continue;
    const name = key.slice('submodule.'.length, key.lastIndexOf('.'));
    const field = key.slice(key.lastIndexOf('.') + 1);
    if (field === 'path') paths.set(name, value.replace(/\/$/, ''));
    if (field === 'url') urls.set(name, value);
  }
  return new Map(
    [...paths].flatMap(([name, path]): [string, string][] => {
      const url = urls.get(name);
      return url === undefined ? [] : [[path, url]];
    }),
  );
}

/** The URL of a submodule: `./` and `../` count from the repository's own URL. Undefined: it leads nowhere. */
export function moduleUrl(url: string, base: Remote): string | undefined {
  if (!/^\.\.?\//.test(url)) return url;
  const own = base.url.replace(/\/+$/, '');
  if (base.kind === 'local') return posix.resolve(own, url);
  const host = own.includes('://') ? own.indexOf('/', own.indexOf('://') + 3) : own.indexOf(':') + 1;
  if (host <= 0) return undefined;
  const path = posix.normalize(posix.join('/', own.slice(host), url)).slice(1);
  const climbs = posix.normalize(posix.join(own.slice(host).replace(/^\//, ''), url)).startsWith('..');
  return climbs ? undefined : `${own.slice(0, host)}${own.includes('://') ? '/' : ''}${path}`;
}

/** Spellings of one address as one text. */
export const normalUrl = (remote: Remote): string => {
  const url = remote.url.replace(/\/+$/, '').replace(/\.git$/, '');
  if (!url.includes('://')) return url;
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`.replace(/\/+$/, '');
};

/** Whether an address begins like one that is allowed: the same host, and the path or a folder above it. */
export function isBelowUrl(remote: Remote, allowed: string): boolean {
  if (remote.kind === 'local') return false;
  const prefix = readRemote(allowed);
  if (prefix.kind === 'refused' || prefix.kind !== remote.kind) return false;
  const [url, above] = [normalUrl(remote), normalUrl(prefix)];
  return url === above || url.startsWith(above.endsWith(':') ? above : `${above}/`);
}
