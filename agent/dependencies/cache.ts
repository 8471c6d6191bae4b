/** Installed sets of dependencies, each entered once and whole. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdtemp, readdir, rename, stat, symlink, utimes } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { limits } from '../../shared/limits.ts';
import { isThere, own, type RunUser } from '../folders.ts';
import { removeFolder, takeBack } from '../reclaim.ts';
import { withLock } from './lock.ts';
import type { Install } from './plan.ts';
import type { Installed } from './start.ts';
import { PNP_PRODUCTS } from './yarn.ts';

/** How an entry is made. */
export interface Filling {
  /** Folder of this set in the cache. */
  readonly entry: string;
  readonly user: RunUser | undefined;
  readonly signal: AbortSignal;
  /** Lays into an empty folder what is to be installed. */
  lay(staging: string): Promise<void>;
  install(staging: string): Promise<Installed>;
}

/** How often something was installed for it, or what kept it from being installed. */
export type Filled =
  { readonly kind: 'filled'; readonly installs: 0 | 1 } | Extract<Installed, { kind: 'failed' }>;

/** Makes an entry that is not there yet. */
export async function fillOnce(filling: Filling): Promise<Filled> {
  const { entry, signal } = filling;
  let installs: 0 | 1 = 0;
  if (!(await isThere(entry))) {
    const filled = await withLock(entry, signal, async (): Promise<Installed> => {
      if (await isThere(entry)) return { kind: 'installed' };
      installs = 1;
      return fill(filling);
    });
    if (filled.kind === 'failed') return filled;
    await trimCache(dirname(entry));
  }
  const now = new Date();
  await utimes(entry, now, now);
  return { kind: 'filled', installs };
}

/** Installs beside the cache and renames: what is in the cache is whole, whenever the installer dies. */
async function fill(filling: Filling): Promise<Installed> {
  const { entry, user } = filling;
  await removeStale(dirname(entry), basename(entry));
  const staging = await mkdtemp(`${entry}.`);
  await chmod(staging, 0o755);
  try {
    await filling.lay(staging);
    if (user !== undefined) await own(staging, user);
    const installed = await filling.install(staging);
    if (installed.kind === 'failed') return installed;
    // nobody who runs programs may change what later runs use
    if (user !== undefined) await takeBack(staging);
    await rename(staging, entry);
    return installed;
  } finally {
    await removeFolder(staging, user);
  }
}

/** Where an entry is to be had. */
export interface Laying {
  readonly entry: string;
  /** Folder of the lockfile in the work folder. */
  readonly folder: string;
  readonly user: RunUser | undefined;
}

/** Without links into the artifact one link for each node_modules is enough: Node resolves modules by their real path. */
export async function layIn({ kind, linker }: Install, { entry, folder, user }: Laying): Promise<void> {
  const made = linker === 'pnp' ? await productsOf(entry) : await nodeModulesOf(entry);
  for (const path of made) {
    const to = join(folder, relative(entry, path));
    if (kind === 'link') await symlink(path, to);
    else await copyAs(path, to, user);
  }
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

async function productsOf(entry: string): Promise<string[]> {
  const paths = PNP_PRODUCTS.map((name) => join(entry, name));
  const there = await Promise.all(paths.map(isThere));
  return paths.filter((_path, index) => there[index]);
}

/** Copies a tree, links as they are, blocks shared where the file system can; by the run user, into a folder of its own. */
async function copyAs(from: string, to: string, user: RunUser | undefined): Promise<void> {
  const flags = ['-R', '-P', '-p', '--reflink=auto', '--no-target-directory'];
  const isFolder = (await lstat(from)).isDirectory();
  if (!(await isThere(dirname(to)))) await run('mkdir', ['-p', dirname(to)], user);
  await run('cp', [...flags, ...(isFolder ? [] : ['--remove-destination']), from, to], user);
}

async function run(program: string, args: readonly string[], user: RunUser | undefined): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore', env: {}, ...user });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0)
    throw new Error(`${program} of installed dependencies to ${args.at(-1)} ended with ${code}`);
}

/** What a killed installer of the same set left beside the cache. */
async function removeStale(cache: string, key: string): Promise<void> {
  for (const name of await readdir(cache))
    if (name.startsWith(`${key}.`)) await removeFolder(join(cache, name));
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Runs link into the cache, so what was used within a day stays, and what is being made with it. */
async function trimCache(cache: string): Promise<void> {
  const names = await readdir(cache);
  const all = await Promise.all(
    names.map(async (name) => ({ name, used: (await stat(join(cache, name))).mtimeMs })),
  );
  const sets = all.filter(({ name }) => !name.includes('.')).sort((a, b) => b.used - a.used);
  const remains = all.filter(({ name }) => name.includes('.'));
  for (const { name, used } of [...sets.slice(limits.keptDependencies), ...remains])
    if (Date.now() - used > DAY_MS) await removeFolder(join(cache, name));
}
