/** What a tarball may lay into a folder. Pure: names and links only. */
import { posix } from 'node:path';
import { limits } from '../shared/limits.ts';

export interface TreeEntry {
  /** As it stands in the tarball. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  /** Where a symlink points to. */
  readonly target?: string;
}

export type Checked =
  | { readonly kind: 'safe'; readonly paths: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

/** Clean paths of all entries in their order, or what is wrong with the first bad one. */
export function checkTree(entries: readonly TreeEntry[]): Checked {
  const paths: string[] = [];
  const links = new Map<string, string>();
  const spellings = new Map<string, string>();
  const taken = new Set<string>();
  for (const entry of entries) {
    const path = posix.normalize(entry.name).replace(/\/$/, '');
    const why =
      badPath(entry.name, path) ?? badType(entry) ?? twin(path, spellings) ?? again(path, entry, taken);
    if (why !== undefined) return { kind: 'refused', why: `${JSON.stringify(entry.name)}: ${why}` };
    if (entry.type === 'symlink') links.set(path, entry.target ?? '');
    paths.push(path);
  }
  const bad = [...links.keys(), ...paths].find((path) => !staysInside(path, links));
  if (bad !== undefined)
    return {
      kind: 'refused',
      why: `${JSON.stringify(bad)}: the link leaves the artifact, or lies behind one`,
    };
  return { kind: 'safe', paths };
}

function badPath(name: string, path: string): string | undefined {
  if (name.includes('\0')) return 'a zero byte in the path';
  if (posix.isAbsolute(name)) return 'an absolute path';
  if (name.split('/').includes('..')) return 'a path with ..';
  return path === '' || path === '.' ? 'an empty path' : undefined;
}

const badType = (entry: TreeEntry): string | undefined =>
  entry.type === 'other' ? 'neither a file, a folder nor a symbolic link' : undefined;

/** Of two entries with one path nobody can say which one is meant; folders may be named as often as they like. */
function again(path: string, entry: TreeEntry, taken: Set<string>): string | undefined {
  if (entry.type === 'directory') return undefined;
  if (taken.has(path)) return 'it is there twice';
  taken.add(path);
  return undefined;
}

/** On a file system that folds case or composes accents, two such paths would be one file. */
function twin(path: string, spellings: Map<string, string>): string | undefined {
  const parts = path.split('/');
  for (let length = 1; length <= parts.length; length++) {
    const prefix = parts.slice(0, length).join('/');
    const folded = prefix.normalize('NFC').toLowerCase();
    const known = spellings.get(folded);
    if (known !== undefined && known !== prefix) return `the same path as ${known} where case does not count`;
    spellings.set(folded, prefix);
  }
  return undefined;
}

/** Follows a path through links as the kernel does; a link on the way to an entry is as bad as one that leaves. */
function staysInside(path: string, links: ReadonlyMap<string, string>): boolean {
  const own = links.get(path);
  const above = posix.dirname(path);
  if (above !== '.' && crossesLink(above, links)) return false;
  return own === undefined || resolves(path, links);
}

function crossesLink(path: string, links: ReadonlyMap<string, string>): boolean {
  const parts = path.split('/');
  return parts.some((_part, index) => links.has(parts.slice(0, index + 1).join('/')));
}

function resolves(link: string, links: ReadonlyMap<string, string>): boolean {
  let todo = link.split('/');
  let at: string[] = [];
  for (let hops = 0; todo.length > 0;) {
    const part = todo.shift() ?? '';
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at.pop() === undefined) return false;
      continue;
    }
    const target = links.get([...at, part].join('/'));
    if (target === undefined) at = [...at, part];
    else {
      if (posix.isAbsolute(target) || ++hops > limits.symlinkHops) return false;
      todo = [...target.split('/'), ...todo];
    }
  }
  return true;
}
