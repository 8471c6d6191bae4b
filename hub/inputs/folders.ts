/** A tree prepared for questions about paths and folders. Built once per tree, asked by every placement. */
import type { TreeEntry } from '../git/source.ts';
import { isProjectFile } from '../projectfile.ts';
import { folderOf, isBelow } from './paths.ts';

/** Positions in the listing, the end excluded. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface ProjectRange extends Range {
  readonly folder: string;
}

export interface TreeIndex {
  /** Sorted so that everything below a folder stands together. */
  readonly entries: readonly TreeEntry[];
  readonly positions: ReadonlyMap<string, number>;
  /** Every folder that holds a file at any depth; `.` is the root. */
  readonly folders: ReadonlyMap<string, Range>;
  /** Folders with a Pulumi project file of their own. Content decides, not manifests. */
  readonly projects: ReadonlySet<string>;
  /** The same, by first position. */
  readonly projectRanges: readonly ProjectRange[];
  /** Answers that many placements share, kept by the stage that asks. */
  readonly memo: Map<string, readonly number[]>;
}

/** Prepares a complete listing in the byte order of its paths. */
export function indexTree(entries: readonly TreeEntry[]): TreeIndex {
  const positions = new Map<string, number>();
  const projects = new Set<string>();
  entries.forEach((entry, position) => {
    positions.set(entry.path, position);
    if (isProjectFile(entry.path)) projects.add(folderOf(entry.path));
  });
  const folders = foldersOf(entries);
  const projectRanges = [...projects]
    .map((folder) => ({ folder, ...(folders.get(folder) as Range) }))
    .sort((a, b) => a.start - b.start || b.end - a.end);
  return { entries, positions, folders, projects, projectRanges, memo: new Map() };
}

function foldersOf(entries: readonly TreeEntry[]): Map<string, Range> {
  const ranges = new Map<string, Range>([['.', { start: 0, end: entries.length }]]);
  const open: { folder: string; start: number }[] = [];
  const closeTo = (path: string, end: number): void => {
    for (let top = open.at(-1); top !== undefined && !isBelow(path, top.folder); top = open.at(-1)) {
      ranges.set(top.folder, { start: top.start, end });
      open.pop();
    }
  };
  entries.forEach(({ path }, position) => {
    closeTo(path, position);
    const opened = open.at(-1)?.folder;
    let cut = path.indexOf('/', opened === undefined ? 0 : opened.length + 1);
    for (; cut >= 0; cut = path.indexOf('/', cut + 1))
      open.push({ folder: path.slice(0, cut), start: position });
  });
  for (const { folder, start } of open) ranges.set(folder, { start, end: entries.length });
  return ranges;
}

/** Positions of a folder's files without those in the folders of projects below it. */
export function projectFiles(index: TreeIndex, folder: string): readonly number[] {
  const key = `project:${folder}`;
  const known = index.memo.get(key);
  if (known !== undefined) return known;
  const found: number[] = [];
  const range = index.folders.get(folder);
  if (range !== undefined) {
    let at = range.start;
    for (const nested of nestedRanges(index, folder, range)) {
      for (; at < nested.start; at++) found.push(at);
      at = Math.max(at, nested.end);
    }
    for (; at < range.end; at++) found.push(at);
  }
  index.memo.set(key, found);
  return found;
}

function nestedRanges(index: TreeIndex, folder: string, range: Range): Range[] {
  const found: Range[] = [];
  const ranges = index.projectRanges;
  for (let n = firstAtLeast(ranges, range.start); n < ranges.length; n++) {
    const candidate = ranges[n];
    if (candidate === undefined || candidate.start >= range.end) break;
    if (candidate.folder !== folder && isBelow(candidate.folder, folder)) found.push(candidate);
  }
  return found;
}

function firstAtLeast(ranges: readonly Range[], position: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle] as Range).start < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
