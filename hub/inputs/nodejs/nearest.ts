/** Folders above a folder, asked one by one, so that all that lies below one shares the answers from there on. */
import { folderOf, inside, isBelow } from '../paths.ts';
import { isTooDeep } from '../patterns.ts';
import type { Question, View } from '../view.ts';

/** The folder itself or the nearest one above it that is what is looked for. */
export function nearest(
  what: string,
  folder: string,
  isIt: (view: View, folder: string) => boolean,
): Question<string | null> {
  return {
    key: `nodejs/nearest ${what}\0${folder}`,
    answer: (view) => {
      if (isIt(view, folder)) return folder;
      // inputs that lie deeper are refused wherever they come from
      return folder === '.' || isTooDeep(folder) ? null : view.fact(nearest(what, folderOf(folder), isIt));
    },
  };
}

/** The same for a folder with a file of one of some names. */
export const nearestWith = (names: readonly string[], folder: string): Question<string | null> =>
  nearest(names.join(), folder, (view, at) =>
    names.some((name) => view.entry(inside(at, name)) !== undefined),
  );

const PROJECT_FILES = ['Pulumi.yaml', 'Pulumi.yml', 'Pulumi.json'];

/** Nearest Pulumi project at or above a folder. */
export const projectFolder = (folder: string): Question<string | null> => nearestWith(PROJECT_FILES, folder);

/** Whether a folder comes with another one: it lies in it, and no Pulumi project of its own lies between. */
export function comesWith(view: View, folder: string, whole: string): boolean {
  if (folder === whole) return true;
  if (!isBelow(folder, whole)) return false;
  const project = view.fact(projectFolder(folder));
  return project === null || project === whole || isBelow(whole, project);
}
