/**
 * Makes what a stack did not declare unreadable instead of absent, so that a program that looks for it fails. A folder
 * of which only a part is there cannot be listed; what is missing in it lies there as empty entries without any mode.
 *
 * Modes bind every process, but not root; the guard in shared/guard binds programs of Node.js and Python, as whomever
 * they run, and tells them what to include.
 */
import { chmod, copyFile, mkdir, readdir, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GUARD_FILES, guardFolder, guardPlan } from '../shared/guard.ts';
import type { Surroundings } from '../shared/surroundings.ts';
import { writeWhole, type RunFolders } from './folders.ts';
import { poisonPlan } from './undeclared.ts';

const READABLE = 0o644;
const NOBODY = 0o000;
const LIST = 0o444;

/** Lays the guard's files where every user of runs can read them. Safe to repeat. */
export async function layGuard(folder: string): Promise<void> {
  for (const name of GUARD_FILES) {
    const temporary = join(folder, `${name}.${process.pid}.new`);
    await copyFile(join(guardFolder(), name), temporary);
    await chmod(temporary, READABLE);
    await rename(temporary, join(folder, name));
  }
}

/** A run whose files are all there, dependencies included. */
export interface Poisoning {
  readonly folders: Pick<RunFolders, 'work' | 'guard'>;
  /** Folder of Pulumi.yaml from the root. */
  readonly project: string;
  readonly runtime: string;
  readonly surroundings: Surroundings;
}

/** Writes the guard's plan, and takes modes away. */
export async function poison({ folders, project, runtime, surroundings }: Poisoning): Promise<void> {
  const { work, guard } = folders;
  const closed = Object.keys(surroundings).filter((folder) => surroundings[folder]?.closed === true);
  const names = new Map<string, readonly string[]>();
  for (const folder of closed) names.set(folder, await readdir(join(work, folder)));
  const roots = [work, await realpath(work)];
  const plan = guardPlan(surroundings, roots, (folder) => names.get(folder) ?? []);
  await writeWhole(guard, JSON.stringify(plan));
  await chmod(guard, READABLE);
  const { entries, unlisted } = poisonPlan(surroundings, { project, runtime });
  for (const { path, isFolder } of entries) await layEmpty(join(work, path), isFolder);
  for (const folder of unlisted) {
    const path = join(work, folder);
    await chmod(path, (await stat(path)).mode & 0o777 & ~LIST);
  }
}

/** What an install has made stays as it is. */
async function layEmpty(path: string, isFolder: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    if (isFolder) await mkdir(path);
    else await writeFile(path, '', { flag: 'wx' });
    await chmod(path, NOBODY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
