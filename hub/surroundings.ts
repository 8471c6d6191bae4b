/**
 * What lies in the repository around the files of an artifact. It is told by the order, not by the artifact: a new
 * neighbour changes no digest. Only folders that hold files of the artifact are looked at, so the cost follows their
 * number, not that of the files of the tree. Pure.
 */
import { limits } from '../shared/limits.ts';
import { TOOL_NAMES, type PartialFolder, type Surroundings } from '../shared/surroundings.ts';
import type { TreeEntry } from './git/source.ts';
import { folderOf, inside, nameOf, upwards } from './inputs/paths.ts';

export interface Around {
  /** Folder of Pulumi.yaml. */
  readonly project: string;
  /** Whether a file holds nothing but manifests: no pattern makes it an input. */
  readonly isManifest: (path: string) => boolean;
}

/** The folders that are only partly in an artifact; `entries` are sorted in byte order, `files` are paths of the artifact. */
export function surroundingsOf(
  entries: readonly TreeEntry[],
  files: readonly string[],
  around: Around,
): Surroundings {
  const folders = foldersOf(files);
  const known = { declared: new Set(files), folders, settings: settingsFolders(files, around), around };
  const found: Record<string, PartialFolder> = {};
  const room = { names: limits.surroundingNames, bytes: limits.surroundingBytes };
  for (const folder of inOrder(folders, around.project)) {
    const most = folder === around.project ? room.names : Math.min(room.names, limits.surroundingFolderNames);
    const partial = partialFolder({ entries, folder, most }, known);
    if (partial !== undefined && take(partial, folder, room)) found[folder] = partial;
    else if (partial !== undefined) found[folder] = closedFolder({ entries, folder, most: 0 }, known);
  }
  return found;
}

/** Every folder above a file. */
function foldersOf(files: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const file of files)
    for (const folder of upwards(folderOf(file))) {
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}

const SETTINGS_FILE = /^Pulumi\..+\.(?:yaml|yml|json)$/;

/** Where settings of stacks lie: beside the project's file, and beside the settings of this stack. */
const settingsFolders = (files: readonly string[], { project }: Around): Set<string> =>
  new Set([project, ...files.filter((file) => SETTINGS_FILE.test(nameOf(file))).map(folderOf)]);

/** The project's own folder and those above it first: their names are the last that may be cut. */
function inOrder(folders: ReadonlySet<string>, project: string): string[] {
  const first = upwards(project).filter((folder) => folders.has(folder));
  const others = [...folders].filter((folder) => !first.includes(folder));
  return [...first, ...others.sort()];
}

interface Looking {
  readonly entries: readonly TreeEntry[];
  readonly folder: string;
  /** Names that may be told. */
  readonly most: number;
}

interface Known {
  readonly declared: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
  readonly settings: ReadonlySet<string>;
  readonly around: Around;
}

function partialFolder(looking: Looking, known: Known): PartialFolder | undefined {
  const { folder, most } = looking;
  const undeclared: string[] = [];
  const withheld: string[] = [];
  let closed = false;
  for (const [name, entry] of childrenOf(looking)) {
    const path = inside(folder, name);
    if (known.declared.has(path) || known.folders.has(path)) continue;
    const isFile = entry.path === path && entry.mode !== '160000';
    // a name that is not UTF-8 cannot be told, nor asked for
    if (!name.isWellFormed()) closed = true;
    else if (isFile && isWithheld(path, known)) withheld.push(name);
    else undeclared.push(isFile ? name : `${name}/`);
    if (undeclared.length + withheld.length > most) return closedFolder(looking, known);
  }
  if (undeclared.length === 0 && withheld.length === 0 && !closed) return undefined;
  return {
    ...(undeclared.length > 0 && { undeclared }),
    ...(withheld.length > 0 && { withheld }),
    ...(closed && { closed }),
  };
}

/** Of a folder with too many names only those are told that would pass otherwise. */
function closedFolder({ entries, folder }: Looking, { declared, folders }: Known): PartialFolder {
  const tools = TOOL_NAMES.map((tool) => inside(folder, tool))
    .filter((path) => !declared.has(path) && !folders.has(path))
    .flatMap((path) => toldAs(entries, path));
  return { closed: true, ...(tools.length > 0 && { undeclared: tools }) };
}

/** Manifests, and the settings of other stacks. */
const isWithheld = (path: string, { settings, around }: Known): boolean =>
  around.isManifest(path) || (SETTINGS_FILE.test(nameOf(path)) && settings.has(folderOf(path)));

/** Names in a folder with their first entry. What lies below one name stands together, so that it is passed over. */
function* childrenOf({ entries, folder }: Looking): Generator<readonly [string, TreeEntry]> {
  const prefix = folder === '.' ? '' : `${folder}/`;
  // names that are not UTF-8 may stand where no text would
  const first = firstBelow(entries, prefix) ?? entries.findIndex(({ path }) => path.startsWith(prefix));
  for (let n = first; entries[n]?.path.startsWith(prefix) === true; n++) {
    const entry = entries[n] as TreeEntry;
    const cut = entry.path.indexOf('/', prefix.length);
    yield [entry.path.slice(prefix.length, cut < 0 ? undefined : cut), entry];
    if (cut >= 0) n = lastBelow(entries, n, entry.path.slice(0, cut + 1));
  }
}

/** The last position whose path begins so; the one at `from` does, and they stand together. */
function lastBelow(entries: readonly TreeEntry[], from: number, prefix: string): number {
  const holds = (position: number): boolean => entries[position]?.path.startsWith(prefix) === true;
  let last = from;
  let width = 1;
  for (; holds(last + width); width *= 2) last += width;
  for (; width >= 1; width = Math.floor(width / 2)) if (holds(last + width)) last += width;
  return last;
}

/** The first position whose path begins so. */
function firstBelow(entries: readonly TreeEntry[], prefix: string): number | undefined {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes((entries[middle] as TreeEntry).path, prefix) < 0) low = middle + 1;
    else high = middle;
  }
  return entries[low]?.path.startsWith(prefix) === true ? low : undefined;
}

/** A name of the repository as it is told: nothing when there is none. */
function toldAs(entries: readonly TreeEntry[], path: string): string[] {
  const at = entries[firstBelow(entries, path) ?? entries.length];
  if (at?.path === path && at.mode !== '160000') return [nameOf(path)];
  const isFolder = at?.path === path || firstBelow(entries, `${path}/`) !== undefined;
  return isFolder ? [`${nameOf(path)}/`] : [];
}

/** As UTF-8 sorts: a pair of surrogates stands above everything else. */
function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let n = 0; n < length; n++) {
    const [x, y] = [a.charCodeAt(n), b.charCodeAt(n)];
    if (x !== y) return raised(x) - raised(y);
  }
  return a.length - b.length;
}

const raised = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit);

/** Whether there is room for these names; then it is theirs. */
function take(partial: PartialFolder, folder: string, room: { names: number; bytes: number }): boolean {
  const names = [...(partial.undeclared ?? []), ...(partial.withheld ?? [])];
  const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name) + 3, Buffer.byteLength(folder));
  if (names.length > room.names || bytes > room.bytes) return false;
  room.names -= names.length;
  room.bytes -= bytes;
  return true;
}
