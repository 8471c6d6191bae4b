/** Names of the files directly in a folder: whoever asks is asked again when one comes or goes, not when one changes. */
import { nameOf, relativeTo } from './paths.ts';
import type { View } from './view.ts';

/** Names of files, symlinks and submodules in a folder, without those of folders below, in byte order. */
export const filesIn = (view: View, folder: string): readonly string[] =>
  view.fact({
    key: `files:${folder}`,
    answer: (inner) =>
      inner
        .below(folder)
        .filter(({ path }) => !relativeTo(path, folder).includes('/'))
        .map(({ path }) => nameOf(path)),
  });
