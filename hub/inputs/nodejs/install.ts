/** Where the packages of a project are installed, and what the package managers read there. */
import { inside } from '../paths.ts';
import type { Question, View } from '../view.ts';
import { manifestIn } from './manifest.ts';
import { nearest, nearestWith } from './nearest.ts';

export type Manager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** Lockfiles, of two of one manager the one first that it prefers. */
const LOCKFILES: Readonly<Record<string, Manager>> = {
  'npm-shrinkwrap.json': 'npm',
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
};

export interface Install {
  /** Folder in which the package manager runs. */
  readonly root: string;
  /** Of the lockfile, or else as `packageManager` says. */
  readonly manager: Manager | null;
  /** Path of the lockfile. */
  readonly lockfile: string | null;
  /** Paths of lockfiles of which none can be preferred. */
  readonly rivals: readonly string[];
  /** Folder of the package.json that the project installs; not always that of the project. */
  readonly importer: string;
}

/** Undefined: there is no package.json at or above a folder, so nothing is installed. */
export function installOf(view: View, folder: string): Install | undefined {
  const importer = view.fact(packageFolder(folder));
  if (importer === null) return undefined;
  const root = view.fact(lockedFolder(importer)) ?? view.fact(workspaceFolder(importer)) ?? importer;
  return { ...view.fact(installAt(root)), root, importer };
}

/** The folder itself or the nearest one above it that holds a package.json. */
export const packageFolder = (folder: string): Question<string | null> =>
  nearestWith(['package.json'], folder);

const lockedFolder = (folder: string): Question<string | null> => nearestWith(Object.keys(LOCKFILES), folder);

const workspaceFolder = (folder: string): Question<string | null> =>
  nearest(
    'workspaces',
    folder,
    (view, at) =>
      view.entry(inside(at, 'pnpm-workspace.yaml')) !== undefined ||
      manifestIn(view, at)?.['workspaces'] !== undefined,
  );

type InstallAt = {
  readonly manager: Manager | null;
  readonly lockfile: string | null;
  readonly rivals: string[];
};

const installAt = (root: string): Question<InstallAt> => ({
  key: `nodejs/install\0${root}`,
  answer: (view) => {
    const present = Object.entries(LOCKFILES).filter(
      ([name]) => view.entry(inside(root, name)) !== undefined,
    );
    const named = namedManager(manifestIn(view, root)?.['packageManager']);
    const managers = new Set(present.map(([, manager]) => manager));
    const [only] = managers.size === 1 ? managers : [named];
    const first = present.find(([, manager]) => manager === only)?.[0];
    return {
      manager: first === undefined && present.length > 0 ? null : (only ?? null),
      lockfile: first === undefined ? null : inside(root, first),
      rivals: first === undefined ? present.map(([name]) => inside(root, name)) : [],
    };
  },
});

/** As in `"packageManager": "pnpm@11.2.0"`. */
function namedManager(field: unknown): Manager | undefined {
  const [name] = typeof field === 'string' ? field.split('@') : [];
  return Object.values(LOCKFILES).find((manager) => manager === name);
}
