/**
 * The workspaces beside a lockfile. Who holds the answer for one name or one folder is not asked again when another
 * package.json changes: the map of all of them is an answer of its own, made anew once a tree.
 */
import picomatch from 'picomatch';
import type { Workspaces } from '../../lockfiles/lockfile.ts';
import { folderOf, inside, isBelow, joinPath, relativeTo } from '../paths.ts';
import type { Question, View } from '../view.ts';
import { type Roots, trimmed, workspacePatterns } from './globs.ts';
import { manifestIn } from './manifest.ts';
import { comesWith } from './nearest.ts';

/** Folders of the workspaces from the repository's root, in the order of their paths. */
const members = (roots: Roots): Question<string[]> => ({
  key: `nodejs/members\0${roots.manager ?? ''}\0${roots.root}`,
  answer: (view) => {
    const { root, manager } = roots;
    const { patterns } = view.fact(workspacePatterns(roots));
    const found = new Set<string>();
    const dropped: ((folder: string) => boolean)[] = [];
    for (const pattern of patterns) {
      const isIt = matcher(pattern, root);
      if (!pattern.startsWith('!'))
        foldersOf(view, root, pattern)
          .filter(isIt)
          .forEach((folder) => found.add(folder));
      else if (manager === 'npm') [...found].filter(isIt).forEach((folder) => found.delete(folder));
      else dropped.push(isIt);
    }
    return [...found].filter((folder) => !dropped.some((isIt) => isIt(folder))).sort();
  },
});

function matcher(pattern: string, root: string): (folder: string) => boolean {
  const matches = picomatch(trimmed(pattern));
  return (folder) => isBelow(folder, root) && folder !== root && matches(relativeTo(folder, root));
}

/** Folders with a package.json that the fixed part of a pattern leads to. */
function foldersOf(view: View, root: string, pattern: string): string[] {
  const { base, isGlob } = picomatch.scan(trimmed(pattern));
  const at = joinPath(root, base);
  if (at === undefined) return [];
  if (!isGlob) return view.entry(inside(at, 'package.json')) === undefined ? [] : [at];
  return view
    .below(at)
    .filter(({ path }) => path.endsWith('/package.json') && !path.includes('node_modules/'))
    .map(({ path }) => folderOf(path));
}

/** Workspaces in a folder, without those of Pulumi projects below it: their files are there wherever the folder is. */
export const membersBelow = (roots: Roots, folder: string): Question<string[]> => ({
  key: `nodejs/members below\0${roots.manager ?? ''}\0${roots.root}\0${folder}`,
  answer: (view) => {
    const all = view.fact(members(roots));
    const found: string[] = [];
    for (let n = folder === '.' ? 0 : firstFrom(all, `${folder}/`); n < all.length; n++) {
      const member = all[n] ?? '';
      if (!isBelow(member, folder)) break;
      if (comesWith(view, member, folder)) found.push(member);
    }
    return found;
  },
});

function firstFrom(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Folders by name; of two with one name both, since which of them is meant is not known. */
const folders = (roots: Roots): Question<Record<string, string[]>> => ({
  key: `nodejs/names\0${roots.manager ?? ''}\0${roots.root}`,
  answer: (view) => {
    const byName = new Map<string, string[]>();
    const withRoot = roots.manager === 'npm' ? [] : [roots.root];
    for (const folder of [...withRoot, ...view.fact(members(roots))]) {
      const name = manifestIn(view, folder)?.name;
      if (name !== undefined) byName.set(name, [...(byName.get(name) ?? []), folder]);
    }
    return Object.fromEntries(byName);
  },
});

/** Folders, from the repository's root, of the workspaces of a name; more than one is a mistake of the repository. */
export const workspaceFolders = (roots: Roots, name: string): Question<string[]> => ({
  key: `nodejs/workspace\0${roots.manager ?? ''}\0${roots.root}\0${name}`,
  answer: (view) => {
    const all = view.fact(folders(roots));
    return Object.hasOwn(all, name) ? (all[name] ?? []) : [];
  },
});

/** Whether the repository has workspaces at all; asked first, since most names of packages are none. */
export const hasWorkspaces = (view: View, roots: Roots): boolean =>
  view.fact(workspacePatterns(roots)).patterns.length > 0;

/** The workspaces as the lockfiles are read with: folders are from the lockfile's folder. */
export const workspacesOf = (view: View, roots: Roots): Workspaces => ({
  manifest: (folder) => manifestIn(view, folder === '.' ? roots.root : inside(roots.root, folder)),
  folderOf: (name) => {
    const [folder] = hasWorkspaces(view, roots) ? view.fact(workspaceFolders(roots, name)) : [];
    if (folder === undefined) return undefined;
    return folder === roots.root ? '.' : relativeTo(folder, roots.root);
  },
  content: (path) => view.content(inside(roots.root, path)),
});
