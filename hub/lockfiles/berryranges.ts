/** Descriptors and locators of yarn 2 and later: `name@protocol:source#selector::params`. */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import semver from 'semver';

/** Between the descriptors of one entry. */
export const SEPARATOR = ', ';

export interface Descriptor {
  readonly name: string;
  readonly range: string;
}

export interface Range {
  /** With its colon; undefined: none. */
  readonly protocol: string | undefined;
  readonly source: string;
  readonly selector: string;
  /** Locator of the package that wrote the range, where a path is relative to it. */
  readonly locator: string | undefined;
}

/** Splits `@scope/name@range`. */
export function parseDescriptor(text: string): Descriptor {
  const cut = text.indexOf('@', 1);
  return cut < 0 ? { name: text, range: '' } : { name: text.slice(0, cut), range: text.slice(cut + 1) };
}

/** Takes a range, or the reference of a locator, apart. */
export function parseRange(range: string): Range {
  const [main = '', params = ''] = splitAt(range, '::');
  const [front = '', selector = ''] = splitAt(main, '#');
  const colon = front.indexOf(':');
  return {
    protocol: colon < 0 ? undefined : front.slice(0, colon + 1),
    source: decoded(front.slice(colon + 1)),
    selector: decoded(selector),
    locator: new URLSearchParams(params).get('locator') ?? undefined,
  };
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const cut = text.indexOf(mark);
  return cut < 0 ? [text, ''] : [text.slice(0, cut), text.slice(cut + mark.length)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const encoded = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll(':', '%3A').replaceAll('#', '%23');

/** A version, a range of versions or a tag stands for one with `npm:` before it. */
export const normalRange = (range: string): string =>
  semver.validRange(range, true) !== null || isTag(range) ? `npm:${range}` : range;

/** Whether a range leaves the choice between a workspace and the registry to yarn. */
export function isOpen(range: string): boolean {
  const rest = range.startsWith('npm:') ? range.slice(4) : range;
  return semver.validRange(rest, true) !== null || isTag(rest);
}

const isTag = (range: string): boolean => /^(?!v)[a-z0-9._-]+$/i.test(range);

/** What a dependency may be called in the lockfile, the likeliest first: as written, or bound to who wrote it. */
export const namesOf = ({ name, range }: Descriptor, locators: readonly string[]): readonly string[] => {
  const ranges = [...new Set([range, normalRange(range)])];
  const bound = ranges.flatMap((one) =>
    one.includes('::') ? [] : locators.map((locator) => `${one}::locator=${encodeURIComponent(locator)}`),
  );
  return [...ranges, ...bound].map((one) => `${name}@${one}`);
};

/** How a patch of yarn's own begins that yarn puts on a package by its name. */
export const ownPatchesOf = ({ name, range }: Descriptor): readonly string[] =>
  [...new Set([range, normalRange(range)])].map((one) => `${name}@patch:${encoded(`${name}@${one}`)}#`);

/** Whether a descriptor is of a patch that yarn itself holds. */
export const isOwnPatch = (descriptor: string): boolean => descriptor.includes('builtin<');

/** The descriptor of the package that a patch is put on. */
export function patched({ range }: Descriptor): Descriptor | undefined {
  const { protocol, source } = parseRange(range);
  return protocol === 'patch:' ? parseDescriptor(source) : undefined;
}

/** Files and folders of the repository that a descriptor names, from the lockfile's folder. */
export function pathsOf({ range }: Descriptor): readonly string[] {
  const { protocol, source, selector, locator } = parseRange(range);
  const from = locator === undefined ? '.' : folderOf(locator);
  if (protocol === 'patch:') return selector.split('&').flatMap((path) => patchPath(path, from));
  if (protocol === undefined || !LOCAL.includes(protocol) || from === undefined) return [];
  return [posix.join(from, source).replace(/\/$/, '')];
}

const LOCAL: readonly string[] = ['file:', 'portal:', 'link:', 'exec:'];

/** `optional!./a.patch`, `~/a.patch` from the root, `~builtin<…>` in yarn. */
function patchPath(written: string, from: string | undefined): readonly string[] {
  const path = written.slice(written.lastIndexOf('!') + 1);
  if (path === '' || isOwnPatch(path)) return [];
  if (path.startsWith('~/')) return [posix.normalize(path.slice(2))];
  const plain = path.startsWith('~') ? path.slice(1) : path;
  return posix.isAbsolute(plain) || from === undefined ? [] : [posix.join(from, plain)];
}

/** Folder of a workspace or of a package in the repository; undefined for one that comes from elsewhere. */
function folderOf(locator: string): string | undefined {
  const { protocol, source, locator: parent } = parseRange(parseDescriptor(locator).range);
  if (protocol === 'workspace:') return source;
  if (protocol !== 'portal:' && protocol !== 'link:') return undefined;
  const from = parent === undefined ? '.' : folderOf(parent);
  return from === undefined ? undefined : posix.join(from, source);
}

/** Name of the archive of a package in yarn's cache. */
export function archiveOf(locator: string, checksum: string): string {
  const { name: full, range: reference } = parseDescriptor(locator);
  const slash = full.indexOf('/');
  const scope = slash < 0 ? undefined : full.slice(1, slash);
  const name = full.slice(slash + 1);
  const { protocol, selector, source } = parseRange(reference);
  const version = semver.valid(selector === '' ? source : selector);
  const kind = protocol === undefined ? 'exotic' : protocol.slice(0, -1);
  const human = version === null ? kind : `${kind}-${version}`;
  const hash = sha512(sha512((scope ?? '') + name) + reference).slice(0, SHOWN);
  const content = checksum.slice(checksum.lastIndexOf('/') + 1).slice(0, SHOWN);
  return `${full.replace('/', '-')}-${human}-${hash}-${content}.zip`;
}

/** Digits of a hash that yarn writes into a file name. */
const SHOWN = 10;

const sha512 = (text: string): string => createHash('sha512').update(text).digest('hex');
