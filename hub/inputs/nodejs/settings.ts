/** What package managers read beside the lockfile and above a project, always as a whole. */
import { inside, upwards } from '../paths.ts';
import type { Question } from '../view.ts';
import type { Install } from './install.ts';

const FILES = ['.npmrc', '.pnpmfile.cjs', '.pnpmfile.mjs', '.yarnrc', '.yarnrc.yml'];
const FOLDERS = ['.yarn/releases', '.yarn/plugins'];

type Settings = { readonly files: string[]; readonly folders: string[] };

/** Files and folders of settings from the project's package up to the lockfile's folder, every package.json included. */
export const settingsFiles = ({ root, importer }: Install): Question<Settings> => ({
  key: `nodejs/settings\0${root}\0${importer}`,
  answer: (view) => {
    const all = upwards(importer);
    const between = all.slice(0, all.indexOf(root) + 1);
    const files = between.flatMap((folder) => [...FILES, 'package.json'].map((name) => inside(folder, name)));
    return {
      files: [...files, inside(root, 'pnpm-workspace.yaml')].filter((path) => view.entry(path) !== undefined),
      folders: FOLDERS.map((folder) => inside(root, folder)).filter((folder) => view.hasFolder(folder)),
    };
  },
});
