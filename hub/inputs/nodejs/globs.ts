/** How a repository names its workspaces. */
import { inside, joinPath } from '../paths.ts';
import { isCheap } from '../patterns.ts';
import type { Question, View } from '../view.ts';
import type { Manager } from './install.ts';
import { manifestIn } from './manifest.ts';
import { PNPM_WORKSPACE } from './pnpm.ts';

/** The folder that workspaces are seen from, and whose way of naming them holds. */
export interface Roots {
  readonly root: string;
  readonly manager: Manager | null;
}

type Patterns = { readonly patterns: string[]; readonly problems: string[] };

/** How the workspaces are named; without any, no package of the repository is one. */
export const workspacePatterns = ({ root, manager }: Roots): Question<Patterns> => ({
  key: `nodejs/patterns\0${manager ?? ''}\0${root}`,
  answer: (view) => {
    const file = inside(root, 'pnpm-workspace.yaml');
    const pnpm = manager === 'pnpm' || manager === null ? view.parsed(file, PNPM_WORKSPACE) : undefined;
    const written = [...(manager === 'pnpm' ? [] : inManifest(view, root)), ...(pnpm?.packages ?? [])];
    const refused = written.filter((pattern) => !isUsable(pattern));
    const broken = pnpm?.broken === undefined ? [] : [`${file} ${pnpm.broken}: mend it`];
    return {
      patterns: written.filter(isUsable),
      problems: [...broken, ...refused.map((pattern) => unusable(root, pattern))],
    };
  },
});

function inManifest(view: View, root: string): string[] {
  const field = manifestIn(view, root)?.['workspaces'];
  const list: unknown =
    field !== null && typeof field === 'object' && !Array.isArray(field)
      ? (field as { packages?: unknown }).packages
      : field;
  return Array.isArray(list) ? list.filter((pattern) => typeof pattern === 'string') : [];
}

const unusable = (root: string, pattern: string): string =>
  `the workspaces of ${root === '.' ? 'the repository' : root} have the pattern “${pattern.slice(0, 100)}”, which is not one that can be followed: name folders below it, with at most three “**” and one extended group`;

/** Characters. Longer ones are no names of folders, and time grows with the length. */
const MAX_PATTERN = 512;

/** Nested groups of extended patterns may take exponential time. */
const isUsable = (pattern: string): boolean =>
  pattern.length <= MAX_PATTERN &&
  isCheap(pattern) &&
  (pattern.match(/[?*+@!]\(/g)?.length ?? 0) <= 1 &&
  joinPath('.', trimmed(pattern)) !== undefined;

/** Without what says nothing about the folder. */
export const trimmed = (pattern: string): string =>
  pattern.replace(/^!+/, '').replace(/^\.\//, '').replace(/\/+$/, '');
