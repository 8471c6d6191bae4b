/** A program's dependencies, laid into its work folder from a cache that each set enters once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { limits } from '../../shared/limits.ts';
import { own, type RunUser } from '../folders.ts';
import { removeFolder, takeBack } from '../reclaim.ts';
import { withLock } from './lock.ts';
import { installIn, type InstallMeans, type Installed } from './npm.ts';
import { isManifest, planDependencies, type DependencyPlan, type ManifestFile } from './plan.ts';

/** A run that needs dependencies. */
export interface Need {
  /** The artifact's files. */
  readonly work: string;
  /** Project folder from there. */
  readonly project: string;
  /** Home of the installer: the run's own. */
  readonly home: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export type Provided =
  /** `installs`: how often npm was started for it. */
  | { readonly kind: 'provided'; readonly installs: 0 | 1 }
  | { readonly kind: 'unusable'; readonly code: 'Invalid' | 'NotYetSupported'; readonly why: string }
  | { readonly kind: 'failed'; readonly output: string };

/** Lays dependencies in. A set that was installed before costs no process, or one copy where it has local links. */
export async function provideDependencies(
  need: Need,
  cache: string,
  means: InstallMeans | undefined,
): Promise<Provided> {
  const machine = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    npm: means?.npm.version ?? '',
  };
  const plan = planDependencies(need.project, await readManifests(need.work), machine);
  if (plan.kind === 'none') return { kind: 'provided', installs: 0 };
  if (plan.kind === 'unusable') return plan;
  const folder = join(need.work, plan.folder);
  if (await exists(join(folder, 'node_modules'))) return { kind: 'provided', installs: 0 };
  if (means === undefined) return { kind: 'failed', output: 'npm is not on the PATH of this machine' };
  if (plan.kind === 'inPlace') return outcome(await install(folder, need, means));
  return cached(plan, { need, means, folder, entry: join(cache, plan.key) });
}

type CachedPlan = Extract<DependencyPlan, { key: string }>;

interface Filling {
  readonly need: Need;
  readonly means: InstallMeans;
  /** Folder of the lockfile in the work folder. */
  readonly folder: string;
  /** Folder of this set in the cache. */
  readonly entry: string;
}

async function cached(plan: CachedPlan, filling: Filling): Promise<Provided> {
  const { entry, need } = filling;
  let installs: 0 | 1 = 0;
  if (!(await exists(entry))) {
    const filled = await withLock(entry, need.signal, async () => {
      if (await exists(entry)) return undefined;
      installs = 1;
      return fill(plan, filling);
    });
    if (filled?.kind === 'failed') return filled;
    await trimCache(dirname(entry));
  }
  const now = new Date();
  await utimes(entry, now, now);
  await layIn(plan, filling);
  return { kind: 'provided', installs };
}

const install = (folder: string, need: Need, means: InstallMeans): Promise<Installed> =>
  installIn(folder, means, need);

const outcome = (installed: Installed): Provided =>
  installed.kind === 'failed' ? installed : { kind: 'provided', installs: 1 };

/** Installs beside the cache and renames: what is in the cache is whole, whenever the installer dies. */
async function fill(plan: CachedPlan, filling: Filling): Promise<Installed> {
  const { entry, means, need } = filling;
  await removeStale(dirname(entry), basename(entry));
  const staging = await mkdtemp(`${entry}.`);
  await chmod(staging, 0o755);
  try {
    if (plan.kind === 'copy') await cp(filling.folder, staging, { recursive: true, verbatimSymlinks: true });
    else await writeManifests(plan.manifests, staging);
    if (means.user !== undefined) await own(staging, means.user);
    const installed = await install(staging, need, means);
    if (installed.kind === 'failed') return installed;
    // nobody who runs programs may change what later runs use
    if (means.user !== undefined) await takeBack(staging);
    await rename(staging, entry);
    return installed;
  } finally {
    await removeFolder(staging, means.user);
  }
}

async function writeManifests(manifests: readonly ManifestFile[], staging: string): Promise<void> {
  for (const { path, text } of manifests) {
    await mkdir(join(staging, dirname(path)), { recursive: true });
    await writeFile(join(staging, path), text);
  }
}

/** Copies a tree, links as they are, blocks shared where the file system can; by the run user, into a folder of its own. */
async function copyAs(from: string, to: string, user: RunUser | undefined): Promise<void> {
  const child = spawn('cp', ['-R', '-P', '-p', '--reflink=auto', from, to], {
    stdio: 'ignore',
    env: {},
    ...user,
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`cp of installed dependencies to ${to} ended with ${code}`);
}

/** With a lockfile that has no links into the artifact one link is enough: Node resolves modules by their real path. */
async function layIn(plan: CachedPlan, { entry, folder, means }: Filling): Promise<void> {
  if (plan.kind === 'link') return symlink(join(entry, 'node_modules'), join(folder, 'node_modules'));
  for (const path of await nodeModulesOf(entry))
    await copyAs(path, join(folder, relative(entry, path)), means.user);
}

/** Every outermost node_modules: the root's, and those of workspaces. */
async function nodeModulesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules') found.push(path);
    else found.push(...(await nodeModulesOf(path)));
  }
  return found;
}

async function readManifests(work: string): Promise<ManifestFile[]> {
  const names = await readdir(work, { recursive: true, withFileTypes: true });
  const paths = names
    .filter((entry) => entry.isFile() && isManifest(entry.name))
    .map((entry) => relative(work, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split('/').includes('node_modules'));
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(work, path), 'utf8') })));
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** What a killed installer of the same set left beside the cache. */
async function removeStale(cache: string, key: string): Promise<void> {
  for (const name of await readdir(cache))
    if (name.startsWith(`${key}.`)) await removeFolder(join(cache, name));
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Runs link into the cache, so what was used within a day stays. */
async function trimCache(cache: string): Promise<void> {
  const names = (await readdir(cache)).filter((name) => !name.includes('.'));
  const sets = await Promise.all(
    names.map(async (name) => ({ name, used: (await stat(join(cache, name))).mtimeMs })),
  );
  const surplus = sets.sort((a, b) => b.used - a.used).slice(limits.keptDependencies);
  for (const { name, used } of surplus) if (Date.now() - used > DAY_MS) await removeFolder(join(cache, name));
}
