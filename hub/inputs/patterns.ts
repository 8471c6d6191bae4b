/**
 * `include` patterns: gitignore syntax, relative to the project folder, a leading `/` is the repository's root, leading
 * `../` go up from the project folder.
 *
 * They are applied in order and the last one that matches a file decides. A positive pattern adds; a negative one
 * removes, also from the project's own files. A negative pattern without a folder (`!**\/*.md`, `!*.md`) is about the
 * whole repository, since what was added may lie anywhere. Unlike in a `.gitignore`, a folder that a pattern adds does
 * not keep a later `!` from taking files in it away.
 */
import ignore from 'ignore';
import { inside, isBelow, joinPath, relativeTo } from './paths.ts';
import type { Look } from './reading.ts';

export interface Pattern {
  /** As written. */
  readonly text: string;
  readonly negative: boolean;
  /** Folder that the rest is relative to. */
  readonly base: string;
  readonly rest: string;
  /** Deepest path that everything it matches is, or lies below. */
  readonly root: string;
  /** Without wildcards: it names one file or folder. */
  readonly literal: boolean;
}

/** `**` of a pattern: each multiplies the time that a path may take (four of them took minutes for one path). */
const MAX_FOLDER_WILDCARDS = 3;
/** Folders above a file that patterns are tried on, for the same reason. */
export const MAX_DEPTH = 64;

/** Whether a path is not to be tried against patterns. */
export function isTooDeep(path: string): boolean {
  let depth = 0;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth += 1;
  return depth > MAX_DEPTH;
}

/** Whether a pattern in gitignore syntax takes little time for any path that is not too deep. */
export const isCheap = (pattern: string): boolean =>
  (pattern.match(/\*\*/g)?.length ?? 0) <= MAX_FOLDER_WILDCARDS;

const WILDCARD = /[*?[\\]/;

/** Reads one pattern; undefined when it leads out of the repository or cannot be understood. */
export function parsePattern(text: string, project: string): Pattern | undefined {
  const negative = text.startsWith('!');
  let rest = negative ? text.slice(1) : text;
  let base: string | undefined = project;
  let anchored = rest.startsWith('/');
  if (anchored) {
    base = '.';
    rest = rest.slice(1);
  }
  for (let step = /^\.{1,2}(?:\/|$)/.exec(rest); step !== null; step = /^\.{1,2}(?:\/|$)/.exec(rest)) {
    base = joinPath(base, step[0]);
    if (base === undefined) return undefined;
    rest = rest.slice(step[0].length);
    anchored = true;
  }
  if (rest.split('/').includes('..')) return undefined;
  if (rest === '')
    return anchored ? complete({ text, negative, base, rest: '/**', root: base, literal: true }) : undefined;
  anchored ||= /\/./.test(rest) && !rest.startsWith('**/');
  if (!anchored) {
    const everywhere = negative ? '.' : base;
    return complete({ text, negative, base: everywhere, rest, root: everywhere, literal: false });
  }
  const parts = rest.replace(/\/$/, '').split('/');
  const wild = parts.findIndex((part) => WILDCARD.test(part));
  const fixed = wild < 0 ? parts : parts.slice(0, wild);
  const root = fixed.length === 0 ? base : inside(base, fixed.join('/'));
  return complete({ text, negative, base, rest: `/${rest}`, root, literal: wild < 0 });
}

/** A comment or nothing but blanks is no pattern; the library would take it for one that matches nothing. */
const complete = (pattern: Pattern): Pattern | undefined =>
  pattern.rest.trim() === '' || pattern.rest.startsWith('#') || !isCheap(pattern.rest) ? undefined : pattern;

/** Positions of everything that a pattern matches in a tree. */
export function matchesOf(pattern: Pattern, look: Look): readonly number[] {
  const { index } = look;
  const candidates = candidatesOf(pattern.root, look);
  const key = `pattern:${pattern.base}\0${pattern.rest}`;
  const known = index.memo.get(key);
  if (known !== undefined) return known;
  const matches = matcherOf(pattern);
  const found = candidates.filter((position) =>
    matches((index.entries[position] as { path: string }).path, index.entries[position]?.mode === '160000'),
  );
  index.memo.set(key, found);
  return found;
}

/** Positions of a file, or of all files below a folder. */
export function candidatesOf(root: string, look: Look): number[] {
  const { index } = look;
  look.noteEntry(root);
  look.noteBelow(root);
  const file = index.positions.get(root);
  if (file !== undefined) return [file];
  const range = index.folders.get(root);
  return range === undefined
    ? []
    : Array.from({ length: range.end - range.start }, (_, n) => range.start + n);
}

/** A test of one path; a submodule counts as a folder as well, as in Git. */
export function matcherOf(pattern: Pattern): (path: string, submodule: boolean) => boolean {
  const rules = ignore({ ignorecase: false }).add(pattern.rest);
  return (path, submodule) => {
    if (!isBelow(path, pattern.base)) return false;
    // one that is too deep stays among the inputs, where it is said
    if (isTooDeep(path)) return !pattern.negative;
    const rest = relativeTo(path, pattern.base);
    return rules.ignores(rest) || (submodule && rules.ignores(`${rest}/`));
  };
}
