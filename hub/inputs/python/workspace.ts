/** Workspaces of uv: which folder above a project is its root, and which folders are members. */
import picomatch from 'picomatch';
import { folderOf, inside, joinPath, relativeTo, upwards } from '../paths.ts';
import { isCheap } from '../patterns.ts';
import type { View } from '../view.ts';
import { pyprojectParser, type Pyproject } from './pyproject.ts';

/** The folder of the workspace that a project's folder belongs to; undefined: to none. */
export function workspaceRoot(view: View, folder: string): string | undefined {
  for (const root of upwards(folder)) {
    const workspace = pyprojectOf(view, root)?.workspace;
    if (workspace !== undefined && (root === folder || isMember(workspace, relativeTo(folder, root))))
      return root;
  }
  return undefined;
}

/** Folder of the member of a name; undefined: there is none. */
export const memberOf = (view: View, root: string, name: string): string | undefined =>
  view.fact({
    key: `uv member:${root}:${name}`,
    answer: (inner) => {
      const members = membersOf(inner, root);
      return Object.hasOwn(members, name) ? (members[name] ?? null) : null;
    },
  }) ?? undefined;

const pyprojectOf = (view: View, folder: string): Pyproject | undefined => {
  const read = view.parsed(inside(folder, 'pyproject.toml'), pyprojectParser);
  return read?.kind === 'read' ? read.value : undefined;
};

/** Folders of all members, by the names of their packages. */
const membersOf = (view: View, root: string): Readonly<Record<string, string>> =>
  view.fact({
    key: `uv members:${root}`,
    answer: (inner) => {
      const workspace = pyprojectOf(inner, root)?.workspace;
      const members = new Map<string, string>();
      for (const folder of workspace === undefined ? [] : [root, ...candidates(inner, root, workspace)]) {
        const name = pyprojectOf(inner, folder)?.name;
        if (name !== undefined) members.set(name, folder);
      }
      return Object.fromEntries(members);
    },
  });

type Workspace = NonNullable<Pyproject['workspace']>;

/** Folders with a pyproject.toml that the patterns name, looked for below the fixed part of each pattern only. */
function candidates(view: View, root: string, workspace: Workspace): string[] {
  const bases = new Set(
    workspace.members.map((pattern) => joinPath(root, picomatch.scan(plain(pattern)).base)),
  );
  const folders = [...bases].flatMap((base) =>
    base === undefined
      ? []
      : view
          .below(base)
          .map(({ path }) => path)
          .filter(isPyproject)
          .map(folderOf),
  );
  return folders.filter((folder) => isMember(workspace, relativeTo(folder, root)));
}

const isPyproject = (path: string): boolean => /(?:^|\/)pyproject\.toml$/.test(path);

const plain = (pattern: string): string => pattern.replace(/^\.\//, '').replace(/\/+$/, '');

/** Groups could take exponential time; uv has none. */
const MATCHING = { dot: true, noextglob: true, nobrace: true, nonegate: true, maxLength: 512 } as const;

function isMember({ members, exclude }: Workspace, path: string): boolean {
  const matches = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => isCheap(pattern) && picomatch.isMatch(path, plain(pattern), MATCHING));
  return matches(members) && !matches(exclude);
}
