/** Which folders beside a lockfile are workspaces of it, by the globs of package.json. Pure. */
import { posix } from 'node:path';
import picomatch from 'picomatch';
import { isBelow, objectOf, readJson, type ManifestFile } from './manifests.ts';

/** Globs of `workspaces`, in both spellings. */
function globsOf(text: string): string[] {
  const field = readJson(text)?.['workspaces'];
  const globs: unknown = Array.isArray(field) ? field : objectOf(field)?.['packages'];
  return Array.isArray(globs) ? globs.filter((glob) => typeof glob === 'string') : [];
}

/** Folders of package.json files, from the lockfile's folder, as the manifests' paths are. */
const foldersOf = (manifests: readonly ManifestFile[]): string[] =>
  manifests.filter(isPackage).map(({ path }) => posix.dirname(path));

/** Whether it is a package.json. */
export const isPackage = ({ path }: { readonly path: string }): boolean =>
  posix.basename(path) === 'package.json';

/** Folders that the manifest in the first of them asks for as workspaces, and those that they ask for, without itself. */
export function workspacesOf(manifests: readonly ManifestFile[], root = '.'): string[] {
  const found = new Set<string>();
  const visit = (folder: string): void => {
    const text = manifests.find(({ path }) => path === posix.join(folder, 'package.json'))?.text ?? '';
    for (const workspace of matching(globsOf(text), folder, foldersOf(manifests))) {
      if (found.has(workspace) || workspace === root) continue;
      found.add(workspace);
      visit(workspace);
    }
  };
  visit(root);
  return [...found].sort();
}

/** A later glob with `!` takes away what an earlier one gave. */
function matching(globs: readonly string[], root: string, folders: readonly string[]): string[] {
  const below = folders.filter((folder) => folder !== root && isBelow(folder, root));
  const chosen = new Set<string>();
  for (const glob of globs) {
    const isNegative = glob.startsWith('!');
    const matches = picomatch(posix.normalize(isNegative ? glob.slice(1) : glob).replace(/\/$/, ''));
    for (const folder of below.filter((one) => matches(posix.relative(root, one))))
      if (isNegative) chosen.delete(folder);
      else chosen.add(folder);
  }
  return [...chosen];
}
