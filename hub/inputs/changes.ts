/**
 * What a selection noted about a tree, and which notes say something else in another tree. A note is a text; its first
 * letter says what it is about.
 */
import { fileValue } from '../git/source.ts';
import type { TreeIndex } from './folders.ts';
import { folderOf } from './paths.ts';

/** An entry, or that there is none. */
export const entryNote = (path: string): string => `f:${path}`;
/** Everything below a folder. */
export const belowNote = (folder: string): string => `d:${folder}`;
/** Whether anything is below a path. */
export const folderNote = (folder: string): string => `x:${folder}`;
/** The answer to a question. */
export const factNote = (key: string): string => `q:${key}`;

/** The key of a fact's note; undefined: a note about the tree itself. */
export const factKey = (note: string): string | undefined =>
  note.startsWith('q:') ? note.slice('q:'.length) : undefined;

/** Every note about the tree itself that one tree answers otherwise than the other. */
export function changedNotes(before: TreeIndex, after: TreeIndex): ReadonlySet<string> {
  const notes = new Set<string>();
  for (const path of changedPaths(before, after)) {
    notes.add(entryNote(path));
    for (let folder = folderOf(path); !notes.has(belowNote(folder)); folder = folderOf(folder)) {
      notes.add(belowNote(folder));
      if (before.folders.has(folder) !== after.folders.has(folder)) notes.add(folderNote(folder));
    }
  }
  return notes;
}

/** Paths whose entry is another one, or is in one of them only. */
export function changedPaths(before: TreeIndex, after: TreeIndex): string[] {
  const changed = after.entries
    .filter((entry) => {
      const position = before.positions.get(entry.path);
      const known = position === undefined ? undefined : before.entries[position];
      return known === undefined || fileValue(known) !== fileValue(entry);
    })
    .map(({ path }) => path);
  const gone = before.entries.filter(({ path }) => !after.positions.has(path)).map(({ path }) => path);
  return [...changed, ...gone];
}

/** The notes without those that others cover: whoever noted everything below a folder need not note what is in it. */
export function withoutCovered(notes: ReadonlySet<string>): string[] {
  return [...notes].filter((note) => {
    if (factKey(note) !== undefined) return true;
    let folder = note.slice(2);
    while (folder !== '.') {
      folder = folderOf(folder);
      if (notes.has(belowNote(folder))) return false;
    }
    return true;
  });
}
