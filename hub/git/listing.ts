/** The listing of a tree, read folder by folder. Folders that a listing of before has in the same place are not read again. */
import { limits } from '../../shared/limits.ts';
import { refused, type Failure } from './failure.ts';
import { decodeTree, type RawEntry } from './rawtree.ts';
import type { TreeEntry } from './source.ts';

/** One folder of a listing. Two listings share the folders in which they agree. */
export interface Folder {
  readonly kind: 'folder';
  /** Object id of its tree. */
  readonly id: string;
  /** Empty for the root, else ends with a slash. */
  readonly prefix: string;
  /** In the order of the bytes of the paths below. */
  readonly items: readonly (Folder | TreeEntry)[];
}

export interface ListingOptions {
  /** Content of a tree object, as a whole and proven by its id. */
  readonly read: (id: string) => Promise<Buffer | Failure>;
  /** A listing of before. */
  readonly before: Folder | undefined;
  /** Files and folders; bytes of a path; characters of all paths. More is refused. */
  readonly bounds?: { readonly entries: number; readonly pathBytes: number; readonly characters: number };
}

const BOUNDS = {
  entries: limits.treeEntries,
  pathBytes: limits.pathBytes,
  characters: limits.listingCharacters,
};

/** A folder that is to be filled. */
interface Open {
  readonly folder: Folder & { readonly items: (Folder | TreeEntry)[] };
  readonly before: Folder | undefined;
}

/** Trees read at once; what they hold stays in memory until their level is done. */
const BATCH = 512;

/** Reads everything below a tree, or says why not: a part of a listing is never answered. */
export async function readListing(root: string, options: ListingOptions): Promise<Folder | Failure> {
  const { before, bounds = BOUNDS } = options;
  if (before?.id === root) return before;
  const read = once(options.read, root.length / 2);
  const top = open(root, '', before);
  const filling: Filling = { read, count: { entries: 0, characters: 0 }, bounds };
  for (let level: readonly Open[] = [top]; level.length > 0;) {
    const below = await fillLevel(level, filling);
    if ('kind' in below) return below;
    level = below;
  }
  return top.folder;
}

/** Answers with the folders of the next level. */
async function fillLevel(level: readonly Open[], filling: Filling): Promise<readonly Open[] | Failure> {
  const next: Open[] = [];
  for (let at = 0; at < level.length; at += BATCH) {
    const failure = await fillBatch(level.slice(at, at + BATCH), next, filling);
    if (failure !== undefined) return failure;
  }
  return next;
}

async function fillBatch(
  batch: readonly Open[],
  next: Open[],
  filling: Filling,
): Promise<Failure | undefined> {
  const contents = await Promise.all(batch.map(({ folder }) => filling.read(folder.id)));
  for (const [n, content] of contents.entries()) {
    if ('kind' in content) return content;
    const problem = fill(batch[n] as Open, content, { ...filling, next });
    if (problem !== undefined) return refused(problem);
  }
  return undefined;
}

const open = (id: string, prefix: string, before: Folder | undefined): Open => ({
  folder: { kind: 'folder', id, prefix, items: [] },
  before,
});

/** The same tree may stand in many places; it is read and decoded once. */
function once(
  read: ListingOptions['read'],
  idBytes: number,
): (id: string) => Promise<readonly RawEntry[] | Failure> {
  const known = new Map<string, Promise<readonly RawEntry[] | Failure>>();
  const decode = async (id: string): Promise<readonly RawEntry[] | Failure> => {
    const content = await read(id);
    if (!Buffer.isBuffer(content)) return content;
    const tree = decodeTree(content, idBytes);
    return tree.kind === 'entries' ? tree.entries : refused(`tree ${id}: ${tree.problem}`);
  };
  return (id) => {
    const found = known.get(id) ?? decode(id);
    known.set(id, found);
    return found;
  };
}

interface Filling {
  readonly read: (id: string) => Promise<readonly RawEntry[] | Failure>;
  readonly count: { entries: number; characters: number };
  readonly bounds: NonNullable<ListingOptions['bounds']>;
}

/** Puts the entries into their folder. A text says what is too much. */
function fill(
  one: Open,
  entries: readonly RawEntry[],
  { next, count, bounds }: Filling & { readonly next: Open[] },
): string | undefined {
  const { folder } = one;
  count.entries += entries.length;
  const known = new Map(one.before?.items.map((item) => [placeOf(item), item]));
  for (const { name, mode, id } of entries) {
    const path = folder.prefix + name;
    count.characters += path.length;
    if (Buffer.byteLength(path) > bounds.pathBytes)
      return `a path is longer than ${bounds.pathBytes} bytes, which no machine can unpack: ${path.slice(0, 60)}…`;
    if (mode !== '40000') {
      const before = known.get(path);
      const same = before !== undefined && !isFolder(before) && before.id === id && before.mode === mode;
      folder.items.push(same ? before : { path, mode, id });
      continue;
    }
    const before = known.get(`${path}/`);
    if (before !== undefined && isFolder(before) && before.id === id) {
      count.entries += before.items.length;
      folder.items.push(before);
      continue;
    }
    const below = open(id, `${path}/`, before !== undefined && isFolder(before) ? before : undefined);
    folder.items.push(below.folder);
    next.push(below);
  }
  if (count.entries + next.length > bounds.entries) return `it holds more than ${bounds.entries} files`;
  if (count.characters > bounds.characters)
    return `its paths have more than ${bounds.characters} characters in all`;
  return undefined;
}

const isFolder = (item: Folder | TreeEntry): item is Folder => 'kind' in item;

const placeOf = (item: Folder | TreeEntry): string => (isFolder(item) ? item.prefix : item.path);

/** Every file of a listing, sorted by path in byte order. */
export function filesOf(root: Folder): readonly TreeEntry[] {
  const files: TreeEntry[] = [];
  const add = ({ items }: Folder): void => {
    for (const item of items)
      if (isFolder(item)) add(item);
      else files.push(item);
  };
  add(root);
  return files;
}
