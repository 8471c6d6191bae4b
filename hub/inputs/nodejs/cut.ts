/** The lockfile and the files beside it as they are shipped: cut down to what one project installs. */
import type { Slice } from '../../lockfiles/lockfile.ts';
import { isPatchFor, patchFolder } from '../../lockfiles/patchpackage.ts';
import { blobId } from '../blob.ts';
import type { MadeFile } from '../infer.ts';
import { inside, joinPath, nameOf, relativeTo } from '../paths.ts';
import type { Question, View } from '../view.ts';
import type { Install } from './install.ts';
import { CUTTERS, lockfileParser } from './lockfiles.ts';
import { hasWorkspaces, workspacesOf } from './workspaces.ts';

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
export const cutOf = (cutting: Cutting): Question<Cut> => {
  const { install, also } = cutting;
  const { manager, root, importer, lockfile, rivals } = install;
  return {
    // what the answer is made of is asked of a later tree as well, where the install may be another one
    key: `nodejs/cut\0${JSON.stringify([manager, root, importer, lockfile, rivals, also])}`,
    answer: (view) => {
      if (lockfile === null) return { ...NOTHING, whole: [...rivals], warnings: rivalry(install) };
      const slice = sliceOf(view, lockfile, cutting);
      if (slice === undefined) return { ...NOTHING, whole: [lockfile] };
      if (typeof slice === 'string')
        return { ...NOTHING, whole: [lockfile], warnings: [asWhole(lockfile, slice)] };
      return cutFrom(view, { lockfile, cutting, slice });
    },
  };
};

/** A text: why the lockfile cannot be cut. Undefined: there is no reader for it, or its content is not here. */
function sliceOf(view: View, lockfile: string, { install, also }: Cutting): Slice | string | undefined {
  const parser = lockfileParser(lockfile);
  const read = parser === undefined ? undefined : view.parsed(lockfile, parser);
  if (read?.kind !== 'lockfile') return read?.why;
  const from = (folder: string): string => fromRoot(install.root, folder);
  return read.lockfile.slice(from(install.importer), workspacesOf(view, install), also.map(from));
}

const fromRoot = (root: string, folder: string): string => (folder === root ? '.' : relativeTo(folder, root));

interface Sliced {
  readonly lockfile: string;
  readonly cutting: Cutting;
  readonly slice: Slice;
}

function cutFrom(view: View, sliced: Sliced): Cut {
  const { lockfile, cutting, slice } = sliced;
  const { root } = cutting.install;
  const texts = [{ path: lockfile, key: `${nameOf(lockfile)} ${slice.key}`, make: () => asText(slice) }];
  const pieces = [...texts, ...besides(view, sliced)].map((piece) => ({ ...piece, ...knownOf(piece) }));
  const named = [...slice.paths, ...patchesIn(view, root, slice), ...pieces.flatMap(({ paths }) => paths)];
  const paths = named.map((path) => [path, joinPath(root, path)] as const);
  const outside = paths.filter(([, path]) => path === undefined).map(([path]) => leadsOut(lockfile, path));
  return {
    made: pieces.map(({ path, id }) => [path, id]),
    whole: [],
    workspaces: slice.workspaces.map((folder) => inside(root, folder)),
    paths: [...paths.flatMap(([, path]) => path ?? []), ...archivesIn(view, root, slice)],
    problems: [...slice.problems, ...outside],
    warnings: [],
  };
}

interface Made {
  readonly text: string;
  /** Files that it names, from the folder of the lockfile. */
  readonly paths: readonly string[];
}

interface Piece {
  readonly path: string;
  /** Equal keys, equal texts. */
  readonly key: string;
  make(): Made;
}

const asText = (slice: Slice): Made => ({ text: slice.text(), paths: [] });

interface Known {
  readonly id: string;
  readonly paths: readonly string[];
}

/** What was made, by its key: keys are cheap, texts are not, and most stay from commit to commit. */
const known = new Map<string, Known>();
const MAX_KNOWN = 100_000;

function knownOf({ key, make }: Piece): Known {
  const before = known.get(key);
  const made = before ?? (({ text, paths }: Made) => ({ id: blobId(Buffer.from(text)), paths }))(make());
  known.delete(key);
  known.set(key, made);
  const [oldest] = known.size > MAX_KNOWN ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
  return made;
}

/** Files beside the lockfile that speak of all workspaces. Those of a project that has none are its own. */
function besides(view: View, { cutting: { install, also }, lockfile, slice }: Sliced): Piece[] {
  if (install.importer === install.root && !hasWorkspaces(view, install)) return [];
  const folder = fromRoot(install.root, install.importer);
  const others = also.map((other) => fromRoot(install.root, other));
  const workspaces = [...new Set([...slice.workspaces, ...others])].sort();
  const cut = {
    folder,
    slice: {
      workspaces,
      ...(slice.catalogs === undefined ? {} : { catalogs: slice.catalogs }),
      // costly, and few files ask for it
      get packages() {
        return slice.packages;
      },
    },
    // what is run after the install is not known here, so every script stays
    commands: ['*'],
  };
  return Object.entries(CUTTERS).flatMap(([name, cutter]): Piece[] => {
    const path = inside(install.root, name);
    const content = view.content(path);
    if (content === undefined) return [];
    const key = [name, view.entry(path)?.id, nameOf(lockfile), slice.key, folder, ...workspaces].join('\0');
    return [{ path, key, make: () => cutter(content.toString('utf8'), cut) }];
  });
}

/** Archives that the repository has; where it has none of them, they are fetched. */
const archivesIn = (view: View, root: string, { archives = [] }: Slice): string[] =>
  archives.map((path) => inside(root, path)).filter((path) => view.entry(path) !== undefined);

/** Files that patch-package puts on packages of the slice, from the folder of the lockfile. */
function patchesIn(view: View, root: string, slice: Slice): readonly string[] {
  const folder = patchFolder(view.content(inside(root, 'package.json'))?.toString('utf8') ?? '');
  const at = folder === undefined ? undefined : joinPath(root, folder);
  if (at === undefined) return [];
  return view
    .below(at)
    .map(({ path }) => relativeTo(path, root))
    .filter((path) => isPatchFor(nameOf(path), slice.packages));
}

const asWhole = (lockfile: string, why: string): string =>
  `${lockfile} is taken whole, so that each change of it runs the stack: ${why}`;

const leadsOut = (lockfile: string, path: string): string =>
  `${lockfile} takes a package from ${path}, which is outside of the repository: runs see files of the repository only`;

function rivalry({ rivals, root }: Install): string[] {
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
  const { lockfile } = cutting.install;
  const slice = lockfile === null ? undefined : sliceOf(view, lockfile, cutting);
  // contents that are missing are read, and the question is asked again
  if (lockfile === null || slice === undefined || typeof slice === 'string') return Buffer.alloc(0);
  if (path === lockfile) return Buffer.from(slice.text());
  const piece = besides(view, { lockfile, cutting, slice }).find((beside) => beside.path === path);
  return Buffer.from(piece?.make().text ?? '');
}
