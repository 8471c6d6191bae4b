/** The lockfile and the files beside it as they are shipped: cut down to what one project installs. */
import type { Slice } from '../../lockfiles/lockfile.ts';
import { blobId } from '../blob.ts';
import type { MadeFile } from '../infer.ts';
import { inside, joinPath, relativeTo } from '../paths.ts';
import type { Question, View } from '../view.ts';
import type { Install } from './install.ts';
import { lockfileParser } from './lockfiles.ts';
import { workspacesOf } from './workspaces.ts';

export type Cut = {
  /** Path and object id of each file that is made. */
  readonly made: [string, string][];
  /** Paths that are taken as they are. */
  readonly whole: string[];
  /** Folders of workspaces, from the repository's root. */
  readonly workspaces: string[];
  /** Files and folders that packages come from. */
  readonly paths: string[];
  readonly problems: string[];
  readonly warnings: string[];
};

/** An install, and folders of workspaces that lie in the project and are installed with it. */
export interface Cutting {
  readonly install: Install;
  readonly also: readonly string[];
}

const NOTHING: Cut = { made: [], whole: [], workspaces: [], paths: [], problems: [], warnings: [] };

/**
 * What a project installs, in few words: it stays the same while others change what they install, so that whoever
 * asked is not asked again.
 */
export const cutOf = (cutting: Cutting): Question<Cut> => ({
  key: [
    'nodejs/cut',
    cutting.install.manager,
    cutting.install.root,
    cutting.install.importer,
    ...cutting.also,
  ].join('\0'),
  answer: (view) => {
    const { lockfile } = cutting.install;
    if (lockfile === null)
      return { ...NOTHING, whole: [...cutting.install.rivals], warnings: rivals(cutting.install) };
    const read = sliceOf(view, lockfile, cutting);
    if (read === undefined) return { ...NOTHING, whole: [lockfile] };
    if (typeof read === 'string')
      return { ...NOTHING, whole: [lockfile], warnings: [asWhole(lockfile, read)] };
    return cutFrom(view, { lockfile, root: cutting.install.root, slice: read });
  },
});

/** A text: why the lockfile cannot be cut. Undefined: there is no reader for it, or its content is not here. */
function sliceOf(view: View, path: string, { install, also }: Cutting): Slice | string | undefined {
  const parser = lockfileParser(path);
  const read = parser === undefined ? undefined : view.parsed(path, parser);
  if (read?.kind !== 'lockfile') return read?.why;
  const from = (folder: string): string => fromRoot(install.root, folder);
  return read.lockfile.slice(from(install.importer), workspacesOf(view, install), also.map(from));
}

const fromRoot = (root: string, folder: string): string => (folder === root ? '.' : relativeTo(folder, root));

interface Sliced {
  readonly lockfile: string;
  readonly root: string;
  readonly slice: Slice;
}

function cutFrom(view: View, { lockfile, root, slice }: Sliced): Cut {
  const paths = slice.paths.map((path) => [path, joinPath(root, path)] as const);
  const outside = paths.filter(([, path]) => path === undefined).map(([path]) => leadsOut(lockfile, path));
  return {
    made: [[lockfile, blobId(Buffer.from(slice.text()))]],
    whole: [],
    workspaces: slice.workspaces.map((folder) => inside(root, folder)),
    paths: [...paths.flatMap(([, path]) => path ?? []), ...archivesIn(view, root, slice)],
    problems: [...slice.problems, ...outside],
    warnings: [],
  };
}

/** Archives that the repository has; where it has none of them, they are fetched. */
const archivesIn = (view: View, root: string, { archives = [] }: Slice): string[] =>
  archives.map((path) => inside(root, path)).filter((path) => view.entry(path) !== undefined);

const asWhole = (lockfile: string, why: string): string =>
  `${lockfile} is taken whole, so that each change of it runs the stack: ${why}`;

const leadsOut = (lockfile: string, path: string): string =>
  `${lockfile} takes a package from ${path}, which is outside of the repository: runs see files of the repository only`;

function rivals({ rivals, root }: Install): string[] {
  if (rivals.length === 0) return [];
  const manifest = inside(root, 'package.json');
  return [
    `${rivals.join(' and ')} stand beside each other: delete one, or name the package manager in packageManager of ${manifest}`,
  ];
}

/** The files with their contents, which are made when they are asked for. */
export const madeFiles = (cut: Cut, cutting: Cutting): MadeFile[] =>
  cut.made.map(([path, id]) => ({ path, id, content: (view) => contentOf(view, path, cutting) }));

function contentOf(view: View, path: string, cutting: Cutting): Buffer {
  const slice = sliceOf(view, path, cutting);
  return Buffer.from(slice === undefined || typeof slice === 'string' ? '' : slice.text());
}
