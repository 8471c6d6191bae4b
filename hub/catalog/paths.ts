/** Which files of a tree the catalog reads. */
import ignore from 'ignore';
import type { Trust, TreeEntry } from '../git/source.ts';
import { isProjectFile } from '../projectfile.ts';

/** Manifests are looked for in these unless the repository says otherwise. */
export const DEFAULT_MANIFESTS: readonly string[] = ['*.yaml', '*.yml'];

const isRegular = ({ mode }: TreeEntry): boolean => mode === '100644' || mode === '100755';

/** Whether a path is chosen: the last pattern that matches says so, with a leading `!` against it. */
function matcherOf(patterns: readonly string[]): (path: string) => boolean {
  const rules = patterns.map((pattern) => {
    const against = pattern.startsWith('!');
    const rule = ignore({ ignorecase: false, allowRelativePaths: true });
    return { against, rule: rule.add(against ? pattern.slice(1) : pattern) };
  });
  return (path) => rules.findLast(({ rule }) => rule.ignores(path))?.against === false;
}

/**
 * The files that may hold manifests: YAML files that the patterns (gitignore syntax) name, and JSON files that a pattern
 * ending in `.json` names. Links and submodules hold none.
 */
export function manifestPaths(entries: readonly TreeEntry[], patterns: readonly string[]): TreeEntry[] {
  const yaml = matcherOf(patterns.length > 0 ? patterns : DEFAULT_MANIFESTS);
  const json = matcherOf(patterns.filter((pattern) => pattern.startsWith('!') || pattern.endsWith('.json')));
  return entries.filter((entry) => {
    if (!isRegular(entry) || isProjectFile(entry.path)) return false;
    if (/\.ya?ml$/.test(entry.path)) return yaml(entry.path);
    return entry.path.endsWith('.json') && json(entry.path);
  });
}

/** The project files, wherever they are. */
export const projectPaths = (entries: readonly TreeEntry[]): TreeEntry[] =>
  entries.filter((entry) => isRegular(entry) && isProjectFile(entry.path));

/** Everything that the catalog reads of a repository, in the tree's order. */
export function catalogPaths(
  entries: readonly TreeEntry[],
  source: { readonly trust: Trust; readonly manifests: readonly string[] },
): TreeEntry[] {
  const links = new Set(entries.flatMap(({ path, mode }) => (mode === '160000' ? [path] : [])));
  const manifests = source.trust === 'sources' ? [] : manifestPaths(entries, source.manifests);
  // What stands in a submodule was committed to another repository, whose trust is not this one's.
  const own = manifests.filter(({ path }) => !inSubmodule(path, links));
  const wanted = new Set([...own, ...projectPaths(entries)]);
  return entries.filter((entry) => wanted.has(entry));
}

function inSubmodule(path: string, links: ReadonlySet<string>): boolean {
  if (links.size === 0) return false;
  for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1))
    if (links.has(path.slice(0, cut))) return true;
  return false;
}
