/** Files that rules on packages name: overrides and patches. A lockfile that is cut says which of them count. */
import { inside, joinPath } from '../paths.ts';
import type { Question } from '../view.ts';
import { manifestIn } from './manifest.ts';
import { placeOf } from './place.ts';
import { PNPM_WORKSPACE } from './pnpm.ts';
import { leavesOf } from './resolve.ts';

const FIELDS = ['overrides', 'resolutions', 'patchedDependencies', 'pnpm'];

/** All files and folders that the rules beside a lockfile name, for one that is taken whole. */
export const ruledPaths = (root: string): Question<string[]> => ({
  key: `nodejs/rules\0${root}`,
  answer: (view) => {
    const manifest = manifestIn(view, root);
    const pnpm = view.parsed(inside(root, 'pnpm-workspace.yaml'), PNPM_WORKSPACE)?.rules ?? [];
    const texts = [...FIELDS.flatMap((field) => leavesOf(manifest?.[field])), ...pnpm];
    const paths = texts.flatMap(pathsIn).flatMap((path) => joinPath(root, path) ?? []);
    return [...new Set(paths)]
      .filter((path) => path !== root && (view.entry(path) !== undefined || view.hasFolder(path)))
      .sort();
  },
});

/** A patch is named by its path alone, so whatever may be one is looked up. */
function pathsIn(text: string): string[] {
  const place = placeOf('', text);
  if (place.kind === 'patches') return place.files.flatMap((file) => ('path' in file ? [file.path] : []));
  return place.kind === 'path' || place.kind === 'fromRoot' ? [place.path] : [text];
}
