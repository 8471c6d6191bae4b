/** A tree object as Git stores it: mode, name and id of each entry. Pure. */
import { decodePath } from './decode.ts';
import type { FileMode } from './source.ts';

export interface RawEntry {
  /** A byte that is not UTF-8 is kept as {@link decodePath} says. */
  readonly name: string;
  /** `40000`: a folder. */
  readonly mode: FileMode | '40000';
  readonly id: string;
}

export type RawTree =
  | { readonly kind: 'entries'; readonly entries: readonly RawEntry[] }
  /** What nobody could unpack, or could mean two things. */
  | { readonly kind: 'refused'; readonly problem: string };

/** Entries in the order of the object. `idBytes`: 20, or 32 where ids are SHA-256. */
export function decodeTree(content: Buffer, idBytes: number): RawTree {
  const entries: RawEntry[] = [];
  const names = new Set<string>();
  let previous: Buffer | undefined;
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const zero = space < 0 ? -1 : content.indexOf(0, space);
    const end = zero + 1 + idBytes;
    if (zero < 0 || end > content.length) return refused('a tree object is cut off');
    const text = content.toString('latin1', at, space);
    const mode = modeOf(text);
    const bytes = content.subarray(space + 1, zero);
    const name = decodePath(bytes);
    const problem = mode === undefined ? `an entry has the mode ${text.slice(0, 12)}` : problemOf(name);
    if (mode === undefined || problem !== undefined) return refused(problem ?? '');
    // The order of Git: as if a folder's name ended with a slash.
    const key = mode === '40000' ? Buffer.concat([bytes, SLASH]) : bytes;
    if (names.has(name)) return refused(`the name “${name}” stands in it twice`);
    if (previous !== undefined && Buffer.compare(previous, key) >= 0)
      return refused(`it is not sorted at “${name}”`);
    entries.push({ name, mode, id: content.toString('hex', zero + 1, end) });
    names.add(name);
    previous = key;
    at = end;
  }
  return { kind: 'entries', entries };
}

const SLASH = Buffer.from('/');

const refused = (problem: string): RawTree => ({ kind: 'refused', problem });

/** Only the kind and the right to execute count, as in Git: old repositories hold other bits. */
function modeOf(text: string): RawEntry['mode'] | undefined {
  if (!/^[0-7]{5,7}$/.test(text)) return undefined;
  const mode = Number.parseInt(text, 8);
  switch (mode >> 12) {
    case 0o04:
      return '40000';
    case 0o10:
      return (mode & 0o100) === 0 ? '100644' : '100755';
    case 0o12:
      return '120000';
    case 0o16:
      return '160000';
    default:
      return undefined;
  }
}

/** Names that Git refuses to check out. */
function problemOf(name: string): string | undefined {
  if (name === '') return 'an entry has no name';
  if (name === '.' || name === '..' || name.toLowerCase() === '.git') return `an entry is called “${name}”`;
  return name.includes('/') ? `the name “${name}” holds a slash` : undefined;
}
