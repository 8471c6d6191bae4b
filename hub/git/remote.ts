/** What the configured URL and ref of a repository mean. Pure. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RefChoice } from './source.ts';
import { isRange } from './tags.ts';

export type Remote =
  | { readonly kind: 'local'; readonly path: string; readonly url: string }
  | {
      readonly kind: 'http';
      /** Without user info: it may be shown, logged and handed to programs as an argument. */
      readonly url: string;
    }
  | { readonly kind: 'ssh'; readonly url: string };

export type ReadRemote = Remote | { readonly kind: 'refused'; readonly problem: string };

/** The remote behind a URL: a local path, `file://`, `http(s)://`, `ssh://` or `user@host:path`. */
export function readRemote(url: string): ReadRemote {
  if (url === '' || url.startsWith('-') || /[\0-\x1f\x7f]/.test(url))
    return {
      kind: 'refused',
      problem: 'the url of a repository must not be empty, start with “-” or hold control characters',
    };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'http':
    case 'https':
      return readHttp(url);
    case 'ssh':
      return readSsh(url);
    case 'file':
      return readFileUrl(url);
    case undefined:
      break;
    default:
      return { kind: 'refused', problem: `${scheme}:// is not supported; use https, ssh, file or a path` };
  }
  if (/^[a-z][a-z0-9]*::/i.test(url))
    return { kind: 'refused', problem: 'remote helpers (“helper::…”) are not supported' };
  if (/^(?:[\w.-]+@)?[\w.-]{2,}:(?!\/\/)/.test(url)) return { kind: 'ssh', url };
  const path = resolve(url);
  return { kind: 'local', path, url: path };
}

function readHttp(text: string): ReadRemote {
  const url = parseUrl(text);
  if (url === undefined) return notReadable;
  // A URL reaches logs, answers and arguments of programs, so nothing secret may begin its way there.
  if (url.username !== '' || url.password !== '') return { kind: 'refused', problem: USER_INFO };
  return { kind: 'http', url: url.href.replace(/\/+$/, '') };
}

function readSsh(text: string): ReadRemote {
  const url = parseUrl(text);
  if (url === undefined) return notReadable;
  if (url.password !== '')
    return { kind: 'refused', problem: 'an ssh:// url must not hold a password: use auth.privateKey' };
  return { kind: 'ssh', url: url.href };
}

function readFileUrl(text: string): ReadRemote {
  const url = parseUrl(text);
  if (url === undefined || (url.host !== '' && url.host !== 'localhost')) return notReadable;
  const path = fileURLToPath(`file://${url.pathname}`);
  return { kind: 'local', path, url: path };
}

const USER_INFO =
  'the url holds a user name or password: take them out, and say auth: {username: NAME, password: {file: PATH}} or auth: {token: {file: PATH}}';

const notReadable = { kind: 'refused', problem: 'the url of a repository cannot be read' } as const;

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** The host of a remote, with its port; undefined for a path on this machine. */
export function hostOf(remote: Remote): string | undefined {
  if (remote.kind === 'local') return undefined;
  if (remote.url.includes('://')) return new URL(remote.url).host;
  // user@host:path
  return remote.url.slice(remote.url.indexOf('@') + 1, remote.url.indexOf(':'));
}

export type ReadRef =
  | {
      readonly kind: 'ref';
      /** `refs/heads/main`, `refs/tags/v1`, `HEAD`, the id of a commit, or `semver:^1.2`. */
      readonly name: string;
      /** The tag with the highest version in this range is meant. */
      readonly range?: string;
    }
  | { readonly kind: 'refused'; readonly problem: string };

/** The full name of a ref. The branch `HEAD` is whatever the repository has checked out, or names as its default. */
export function readRef(choice: RefChoice): ReadRef {
  if ('semver' in choice)
    return isRange(choice.semver)
      ? { kind: 'ref', name: `semver:${choice.semver}`, range: choice.semver }
      : { kind: 'refused', problem: `ref.semver “${choice.semver}” is no range of versions, such as ^1.2` };
  if ('commit' in choice)
    return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(choice.commit)
      ? { kind: 'ref', name: choice.commit }
      : { kind: 'refused', problem: 'ref.commit must be a whole commit id, in lower case' };
  const [folder, name] = 'branch' in choice ? ['heads', choice.branch] : ['tags', choice.tag];
  if (folder === 'heads' && name === 'HEAD') return { kind: 'ref', name: 'HEAD' };
  const short = name.startsWith(`refs/${folder}/`) ? name.slice(`refs/${folder}/`.length) : name;
  return isRefName(short)
    ? { kind: 'ref', name: `refs/${folder}/${short}` }
    : { kind: 'refused', problem: `“${name}” is not the name of a ${folder === 'heads' ? 'branch' : 'tag'}` };
}

/** The rules of git check-ref-format. */
const isRefName = (name: string): boolean =>
  /^[^\0-\x20\x7f~^:?*[\\]+$/.test(name) &&
  !/\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name) &&
  name !== '@' &&
  name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
