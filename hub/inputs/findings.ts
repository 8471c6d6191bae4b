/** What one inference has found so far. The order of findings is that of the questions, so equal trees answer alike. */
import type { Inferred, MadeFile } from './infer.ts';
import { folderOf, isBelow } from './paths.ts';
import type { Read } from './parsers.ts';
import type { Parser, View } from './view.ts';

/** What lies at a path; `link`: it lies behind a symlink or in a submodule, which was taken instead. */
export type Found = 'file' | 'folder' | 'link';

export interface Findings {
  readonly view: View;
  /** Takes what lies at a path of the repository; undefined: there is nothing. */
  take(path: string): Found | undefined;
  made(file: MadeFile): void;
  problem(text: string): void;
  warn(text: string): void;
  /** Adds all that another inference found. */
  add(inferred: Inferred): void;
  result(): Inferred;
}

/** Nothing found yet. */
export function makeFindings(view: View): Findings {
  const files = new Set<string>();
  const folders = new Set<string>();
  const made = new Map<string, MadeFile>();
  const problems = new Set<string>();
  const warnings = new Set<string>();
  return {
    view,
    take(path) {
      const found = foundAt(view, path);
      if (found?.kind === 'folder') folders.add(found.path);
      else if (found !== undefined) files.add(found.path);
      return found?.kind;
    },
    made: (file) => void made.set(file.path, file),
    problem: (text) => void problems.add(text),
    warn: (text) => void warnings.add(text),
    add(inferred) {
      inferred.files.forEach((path) => files.add(path));
      inferred.folders.forEach((path) => folders.add(path));
      inferred.made.forEach((file) => made.set(file.path, file));
      inferred.problems.forEach((text) => problems.add(text));
      inferred.warnings.forEach((text) => warnings.add(text));
    },
    result: () => ({
      files: [...files],
      folders: [...folders],
      made: [...made.values()],
      problems: [...problems],
      warnings: [...warnings],
    }),
  };
}

interface Place {
  readonly kind: Found;
  readonly path: string;
}

function foundAt(view: View, path: string): Place | undefined {
  if (view.entry(path) !== undefined) return { kind: 'file', path };
  if (view.hasFolder(path)) return { kind: 'folder', path };
  // what is taken of a link is wherever it leads to; what is taken of a submodule is its commit
  for (let above = folderOf(path); above !== '.'; above = folderOf(above)) {
    if (view.hasFolder(above)) return undefined;
    if (view.entry(above) !== undefined) return { kind: 'link', path: above };
  }
  return undefined;
}

/** What a file says; a file that cannot be read is warned of, and nothing else is held up by it. */
export function readFile<T>(findings: Findings, path: string, parser: Parser<Read<T>>): T | undefined {
  const { view } = findings;
  const entry = view.entry(path);
  if (entry === undefined) return undefined;
  if (entry.mode === '120000')
    findings.warn(
      `${path} is a symlink, so what it names is not looked up: list the files that it names in include`,
    );
  const read = view.parsed(path, parser);
  if (read?.kind !== 'broken') return read?.value;
  findings.warn(
    `${path} line ${read.line} cannot be understood (${read.text}): mend it, or list what it names in include`,
  );
  return undefined;
}

/** Whether a folder is the other one, or holds it at any depth. */
export const holdsFolder = (outer: string, inner: string): boolean =>
  outer === inner || isBelow(inner, outer);
