/**
 * Clean filters of `.gitattributes` on inputs. Blobs are shipped as Git stores them, so a file that a filter would turn
 * into something else on checkout (git-crypt, LFS) must not reach a run unnoticed.
 */
import ignore from 'ignore';
import type { Reason } from '../../shared/outcome.ts';
import type { LargeFile, TreeEntry } from '../git/source.ts';
import { folderOf, inside, relativeTo, upwards } from './paths.ts';
import { isCheap, isTooDeep } from './patterns.ts';
import { parsePointer, type Pointer } from './pointer.ts';
import type { Look } from './reading.ts';

interface Rule {
  /** Folder of the `.gitattributes` file. */
  readonly folder: string;
  readonly matches: (path: string) => boolean;
  /** Undefined: the filter is unset again. */
  readonly filter: string | undefined;
}

export interface Filtered {
  readonly problems: readonly Reason[];
  /** What Git LFS keeps of the inputs, by path. */
  readonly large: ReadonlyMap<string, LargeFile>;
}

/** Finds inputs under a clean filter. Reads attribute files, and of the inputs only those marked for LFS. */
export function checkFilters(look: Look, files: Iterable<number>): Filtered {
  const { index } = look;
  const problems: Reason[] = [];
  const large = new Map<string, LargeFile>();
  const rulesByFolder = new Map<string, readonly Rule[]>();
  for (const position of files) {
    const entry = index.entries[position] as TreeEntry;
    if (entry.mode !== '100644' && entry.mode !== '100755') continue;
    const folder = folderOf(entry.path);
    const rules = rulesByFolder.get(folder) ?? rulesOf(look, folder);
    rulesByFolder.set(folder, rules);
    const filter = rules.findLast((rule) => rule.matches(entry.path))?.filter;
    if (filter === undefined) continue;
    if (filter !== 'lfs') {
      problems.push(filtered(entry, filter));
      continue;
    }
    const content = look.blob(entry.id);
    const pointer = content === undefined ? undefined : parsePointer(content);
    if (pointer?.kind === 'unreadable') problems.push(unreadable(entry, pointer.text));
    else if (pointer !== undefined) large.set(entry.path, { path: entry.path, ...sizedBy(pointer) });
  }
  return { problems, large };
}

const sizedBy = ({ oid, size }: Pointer & { readonly kind: 'pointer' }): Omit<LargeFile, 'path'> => ({
  oid,
  size,
});

const filtered = (entry: TreeEntry, filter: string): Reason => ({
  code: 'Invalid',
  text: `${entry.path} is stored through the Git filter “${filter}”; Towline ships what Git stores and cannot undo the filter`,
});

const unreadable = (entry: TreeEntry, why: string): Reason => ({
  code: 'Invalid',
  text: `${entry.path} is a Git LFS pointer that cannot be followed: ${why}. Commit it anew with git-lfs, or take it out of LFS`,
});

/** Rules on a folder's files, the deciding one last: from the root down, in the order of their lines. */
function rulesOf(look: Look, folder: string): Rule[] {
  const macros = new Map<string, string | undefined>();
  return upwards(folder)
    .reverse()
    .flatMap((at) => {
      const content = look.content(inside(at, '.gitattributes'));
      return content === undefined ? [] : parseAttributes(content.toString('utf8'), at, macros);
    });
}

/** Reads the rules of one file that set or unset a filter. Macros are kept for the files below. */
export function parseAttributes(
  text: string,
  folder: string,
  macros: Map<string, string | undefined>,
): Rule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const parsed = /^[ \t]*("(?:[^"\\]|\\.)*"|\S+)[ \t]+(.*)$/.exec(line);
    if (parsed === null || parsed[1]?.startsWith('#') === true) return [];
    const [, pattern = '', attributes = ''] = parsed;
    if (pattern.startsWith('[attr]')) {
      const set = filterOf(attributes, macros);
      if (set !== 'untouched') macros.set(pattern.slice('[attr]'.length), set.filter);
      return [];
    }
    const set = filterOf(attributes, macros);
    return set === 'untouched' || pattern.startsWith('!')
      ? []
      : [{ folder, filter: set.filter, matches: matcherOf(unquote(pattern), folder) }];
  });
}

/** A bare `filter`, without a value, names no filter. */
function filterOf(
  attributes: string,
  macros: ReadonlyMap<string, string | undefined>,
): 'untouched' | { readonly filter: string | undefined } {
  let set: 'untouched' | { readonly filter: string | undefined } = 'untouched';
  for (const attribute of attributes.split(/[ \t]+/)) {
    if (attribute.startsWith('filter=')) set = { filter: attribute.slice('filter='.length) };
    else if (/^[-!]?filter$/.test(attribute)) set = { filter: undefined };
    else if (macros.has(attribute)) set = { filter: macros.get(attribute) };
  }
  return set;
}

const unquote = (pattern: string): string =>
  pattern.startsWith('"') ? pattern.slice(1, -1).replaceAll(/\\(.)/g, '$1') : pattern;

/** As in a `.gitignore`, but a pattern that matches a folder says nothing about the files in it. */
function matcherOf(pattern: string, folder: string): (path: string) => boolean {
  // whatever a pattern with so many wildcards is for, the filter that it sets is not missed
  if (!isCheap(pattern)) return () => true;
  const rules = ignore({ ignorecase: false }).add([{ pattern }, { pattern: '!**/' }]);
  return (path) => !isTooDeep(path) && rules.ignores(relativeTo(path, folder));
}
