/**
 * Content of submodules, joined to the tree of the repository that names them. Only what the hub's configuration allows
 * is fetched, by commit id; the gitlink itself stays in the tree, so a move of it is a change in any case.
 */
import { createHash } from 'node:crypto';
import { limits } from '../../shared/limits.ts';
import type { GitProgram } from './command.ts';
import { listConfig } from './configfile.ts';
import type { GitDriver, Opened } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import { decodeModules, moduleUrl } from './gitmodules.ts';
import { readRemote, type Remote } from './remote.ts';
import type { LargeFiles, Tree } from './source.ts';

export interface Submodules {
  /** The tree with the content of its submodules, as far as that is allowed. */
  join(tree: Tree): Promise<Opened | Failure>;
  /** Whether the newest join left out something that may come yet. */
  lacking(): boolean;
  /** Whether a read of their content met damage. */
  damaged(): boolean;
  close(): Promise<void>;
}

export interface SubmodulesOptions {
  readonly git: GitProgram;
  readonly remote: Remote;
  /** Where a `.gitmodules` is put for git to read. */
  readonly file: string;
  /** A driver over an address; undefined: its content may not be fetched. `key`: unique among them. */
  readonly driverOf: (remote: Remote, key: string) => Promise<GitDriver | undefined>;
}

/** One submodule at a commit; without a tree: why its content is not to be had. */
interface Joined {
  readonly path: string;
  readonly tree?: Tree;
  readonly lacks?: string;
}

/** Nothing is asked for before a tree has submodules. */
export function makeSubmodules({ git, remote, file, driverOf }: SubmodulesOptions): Submodules {
  const drivers = new Map<string, Promise<GitDriver | undefined>>();
  let open: readonly GitDriver[] = [];
  let lacking = false;

  const driverFor = async (at: Remote, path: string): Promise<GitDriver | undefined> => {
    const key = createHash('sha256').update(`${path}\n${at.url}`).digest('hex').slice(0, 16);
    const begun = drivers.get(key) ?? driverOf(at, key);
    drivers.set(key, begun);
    const driver = await begun;
    if (driver !== undefined && !open.includes(driver)) open = [...open, driver];
    return driver;
  };
  const find = async (at: Place, budget: { left: number }): Promise<readonly Joined[] | Failure> => {
    const entries = await at.tree.entries();
    const links = entries.filter(({ mode }) => mode === '160000');
    if (links.length === 0 || at.depth > limits.submoduleDepth) return [];
    const urls = await modulesOf(at.tree, { git, file });
    const joined: Joined[] = [];
    for (const { path, id } of links) {
      const module = remoteOf(urls.get(path), at.remote);
      const driver = module === undefined ? undefined : await driverFor(module, `${at.prefix}${path}`);
      if (module === undefined || driver === undefined || (budget.left -= 1) < 0) continue;
      const opened = await bring(driver, id);
      // What the server will not give keeps back who needs it; what it may give later is waited for by all.
      if (opened.kind === 'failed' && opened.state === 'RefMissing') {
        joined.push({ path: `${at.prefix}${path}`, lacks: opened.message });
        continue;
      }
      if (opened.kind === 'failed') return about(`${at.prefix}${path}`, opened);
      const below = `${at.prefix}${path}/`;
      const inner = await find(
        { tree: opened.tree, remote: module, prefix: below, depth: at.depth + 1 },
        budget,
      );
      if ('kind' in inner) return inner;
      joined.push({ path: `${at.prefix}${path}`, tree: opened.tree }, ...inner);
    }
    return joined;
  };
  return {
    async join(tree) {
      const found = await find({ tree, remote, prefix: '', depth: 1 }, { left: limits.submodules });
      if ('kind' in found) return found;
      lacking = found.some(({ tree: inner }) => inner === undefined);
      return { kind: 'opened', tree: found.length === 0 ? tree : await joinAll(tree, found) };
    },
    lacking: () => lacking,
    damaged: () => open.some((driver) => driver.damaged()),
    async close() {
      await Promise.all([...drivers.values()].map(async (driver) => (await driver)?.close()));
    },
  };
}

/** A driver whose trees have the content of their submodules. */
export const joining = (driver: GitDriver, submodules: Submodules): GitDriver => {
  const joined = async (opened: Opened | Failure): Promise<Opened | Failure> =>
    opened.kind === 'failed' ? opened : submodules.join(opened.tree);
  return {
    ...driver,
    open: async (id, ref) => joined(await driver.open(id, ref)),
    older: async (id, ref) => joined(await driver.older(id, ref)),
    unfinished: () => submodules.lacking(),
    damaged: () => driver.damaged() || submodules.damaged(),
    async close() {
      await submodules.close();
      await driver.close();
    },
  };
};

/** URLs of submodules by path. What git cannot read names none: it would check out none either. */
async function modulesOf(
  tree: Tree,
  place: Pick<SubmodulesOptions, 'git' | 'file'>,
): Promise<ReadonlyMap<string, string>> {
  const entries = await tree.entries();
  const found = entries.find(({ path, mode }) => path === '.gitmodules' && mode !== '120000');
  const listed = found === undefined ? undefined : await listConfig(await tree.blob(found.id), place);
  return listed === undefined ? new Map() : decodeModules(listed);
}

interface Place {
  readonly tree: Tree;
  readonly remote: Remote;
  /** Path of the submodule with a `/`; empty for the repository itself. */
  readonly prefix: string;
  readonly depth: number;
}

function remoteOf(url: string | undefined, base: Remote): Remote | undefined {
  const whole = url === undefined ? undefined : moduleUrl(url, base);
  const remote = whole === undefined ? undefined : readRemote(whole);
  return remote === undefined || remote.kind === 'refused' ? undefined : remote;
}

/** A commit never changes: what is here is not asked for again. */
async function bring(driver: GitDriver, id: string): Promise<Opened | Failure> {
  if (!driver.damaged()) {
    const here = await driver.open(id, id);
    if (here.kind === 'opened') return here;
  }
  const fetched = await driver.fetch(id, { anew: driver.damaged() });
  return fetched.kind === 'failed' ? fetched : driver.open(id, id);
}

const about = (path: string, failure: Failure): Failure => ({
  ...failure,
  ...failed(failure.state, `submodule ${path}: ${failure.message}`),
});

/** All entries in the order of a listing: those of a submodule follow whatever sorts before its path with a `/`. */
async function joinAll(tree: Tree, submodules: readonly Joined[]): Promise<Tree> {
  let entries = [...(await tree.entries())];
  const owners = new Map<string, Tree>();
  for (const { path, tree: inner, lacks } of submodules) {
    const first = entries.findIndex((entry) => entry.path === path) + 1;
    if (inner === undefined) {
      entries = entries.map((entry) => (entry.path === path ? { ...entry, lacks: lacks ?? '' } : entry));
      continue;
    }
    const below = await inner.entries();
    for (const { id } of below) owners.set(id, inner);
    const rest = entries.slice(first).findIndex((entry) => entry.path > `${path}/`);
    const at = rest < 0 ? entries.length : first + rest;
    const moved = below.map((entry) => ({ ...entry, path: `${path}/${entry.path}` }));
    entries = [...entries.slice(0, at), ...moved, ...entries.slice(at)];
  }
  const own = new Set((await tree.entries()).map(({ id }) => id));
  const blob = (id: string): Promise<Buffer> => (own.has(id) ? tree : (owners.get(id) ?? tree)).blob(id);
  const large = largeOf(tree, submodules);
  const lacking = submodules.flatMap(({ path, tree: inner }) => (inner === undefined ? [path] : [])).join();
  const joined = { ...tree, entries: () => Promise.resolve(entries), blob, ...(large && { large }) };
  return lacking === '' ? joined : { ...joined, lacking };
}

/** Each file is asked for where its own repository keeps it. */
function largeOf(tree: Tree, submodules: readonly Joined[]): LargeFiles | undefined {
  const ownerOf = (path: string): LargeFiles | undefined =>
    (submodules.findLast((inner) => inner.tree && path.startsWith(`${inner.path}/`))?.tree ?? tree).large;
  if (tree.large === undefined) return undefined;
  return {
    refuses: (path) => {
      const owner = ownerOf(path);
      return owner === undefined ? NO_LARGE : owner.refuses(path);
    },
    begin(files) {
      const begun = [...Map.groupBy(files, ({ path }) => ownerOf(path))].map(
        ([owner, theirs]) => [owner, owner?.begin(theirs)] as const,
      );
      const readers = new Map(begun);
      return (file) =>
        readers.get(ownerOf(file.path))?.(file) ?? Promise.reject(new Error(`${file.path}: ${NO_LARGE}`));
    },
  };
}

const NO_LARGE = 'it is in a submodule whose Git LFS nothing here asks; take the file out of LFS';
