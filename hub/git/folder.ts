/** The folder of a mirror: what may be thrown away, how a new one takes its place, how large it is. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../shared/limits.ts';
import { lives, type ProcessIdentity } from '../../shared/process.ts';

/** Where a mirror is made anew beside the one in use. */
export const freshOf = (folder: string): string => `${folder}.new`;

/** A new mirror takes the place of the one before. */
export async function replaceFolder(folder: string): Promise<void> {
  const old = `${folder}.old`;
  await rm(old, { recursive: true, force: true });
  if (existsSync(folder)) await rename(folder, old);
  await rename(freshOf(folder), folder);
  await rm(old, { recursive: true, force: true });
}

/** File beside a mirror that names the process that works in it. */
export const recordOf = (folder: string): string => `${folder}.process`;

/** How long a killed process may take to be gone. */
const GONE_MS = 5_000;

/** Ends the command that a hub of before left behind: it would go on writing into the folder. */
export async function endLeftProcess(folder: string): Promise<void> {
  const text = await readFile(recordOf(folder), 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const left = identityIn(text);
  if (left !== undefined && lives(left)) {
    process.kill(-left.pid, 'SIGKILL');
    for (let waited = 0; lives(left) && waited < GONE_MS; waited += 20) await delay(20);
    if (lives(left)) throw new Error(`process ${left.pid}, which works in ${folder}, does not end`);
  }
  await rm(recordOf(folder), { force: true });
}

function identityIn(text: string): ProcessIdentity | undefined {
  try {
    const { pid, startTime, bootId } = JSON.parse(text) as Partial<ProcessIdentity>;
    if (pid === undefined || startTime === undefined || bootId === undefined || pid <= 1) return undefined;
    return { pid, startTime, bootId };
  } catch {
    return undefined;
  }
}

/** What a mirror may take. */
export interface Quota {
  /** Bytes of one mirror. */
  readonly mirrorBytes: number;
  /** Bytes that have to stay free on the disk. */
  readonly freeBytes: number;
}

/** As the limits say. */
export const QUOTA: Quota = { mirrorBytes: limits.mirrorBytes, freeBytes: limits.diskReserveBytes };

/** Why a mirror may not grow; undefined: it may. `nearby`: a folder of its disk that exists. */
export async function overQuota(folder: string, quota: Quota, nearby: string): Promise<string | undefined> {
  const { bytes } = await packsOf(folder);
  if (bytes > quota.mirrorBytes)
    return `its mirror takes more than the ${mib(quota.mirrorBytes)} MiB that it may (--mirror-quota)`;
  return diskTooFull(nearby, quota);
}

/** Why nothing may be written to the disk of a folder. */
export async function diskTooFull(nearby: string, { freeBytes }: Quota): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(nearby);
  const free = bavail * bsize;
  if (free >= freeBytes) return undefined;
  return `the disk has ${mib(free)} MiB left, of which ${mib(freeBytes)} MiB have to stay free (--disk-reserve)`;
}

const mib = (bytes: number): number => Math.floor(bytes / (1024 * 1024));

const LEFT_OVER = /\.lock$|^tmp_|^\.tmp-|^gc\.pid$/;

/** Removes what killed work left. Nothing may work in the folder meanwhile. */
export async function tidyFolder(folder: string): Promise<void> {
  for (const beside of ['.new', '.old', '.past']) await rm(folder + beside, { recursive: true, force: true });
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (LEFT_OVER.test(entry.name))
      await rm(join(entry.parentPath, entry.name), { recursive: true, force: true });
}

/** Packs of a mirror, with those that are on their way. */
export interface Packs {
  readonly count: number;
  readonly bytes: number;
}

/** Looks at one folder: a mirror keeps nearly all of its bytes in packs. */
export async function packsOf(folder: string): Promise<Packs> {
  const packs = join(folder, 'objects', 'pack');
  const names = await readdir(packs).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(packs, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return {
    count: names.filter((name) => name.endsWith('.pack')).length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}
