/** The `workspaces` of a root package.json. */
import picomatch from 'picomatch';
import { fieldsOf, textOf } from './json.ts';

/** Wildcards of a pattern: a pattern with many of them may take very long for a path. */
const MAX_WILDCARDS = 12;
const WILDCARD = /[*?[({]/g;

/**
 * Whether a folder is that of a workspace. The last pattern that matches decides, so one after a `!` brings back what
 * that took away. A pattern that is costly to try counts as matching.
 */
export function workspaceTest(workspaces: unknown): (folder: string) => boolean {
  const rules = patternsOf(workspaces).map((written) => {
    const plain = written
      .replace(/^!+/, '')
      .replace(/^\.?\/+/, '')
      .replace(/\/+$/, '');
    const cheap = (plain.match(WILDCARD)?.length ?? 0) <= MAX_WILDCARDS;
    return { negative: written.startsWith('!'), matches: cheap ? picomatch(plain) : () => true };
  });
  const known = new Map<string, boolean>();
  return (folder) => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const last = rules.findLast(({ matches }) => matches(folder));
    const is = last !== undefined && !last.negative && !folder.split('/').includes('node_modules');
    known.set(folder, is);
    return is;
  };
}

/** A list of patterns, or one below `packages` as yarn has it. */
function patternsOf(workspaces: unknown): string[] {
  const list = Array.isArray(workspaces) ? workspaces : fieldsOf(workspaces)?.['packages'];
  return (Array.isArray(list) ? list : []).flatMap((pattern) => textOf(pattern) ?? []);
}

/**
 * The same field with exactly the workspaces in some folders, so that another one that is added changes nothing, and
 * that files of another one that are shipped for other reasons do not make it a workspace of the install. A folder that
 * would be read as a pattern leaves the field as it is.
 */
export function cutWorkspaces(workspaces: unknown, folders: readonly string[]): unknown {
  if (workspaces === undefined || folders.some((folder) => /[!*?[\]{}()+@\\]/.test(folder)))
    return workspaces;
  const list = [...new Set(folders)].filter((folder) => folder !== '.').sort();
  const fields = fieldsOf(workspaces);
  return fields === undefined ? list : { ...fields, packages: list };
}
