/**
 * Contents that Git LFS keeps, on disk by their sha256: read from there, never believed without it. What is there may be
 * thrown away at any time.
 */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../shared/limits.ts';
import type { LargeFile } from './source.ts';

/** Where Git LFS puts a content below its folder of objects. */
export const placeOf = (objects: string, oid: string): string =>
  join(objects, oid.slice(0, 2), oid.slice(2, 4), oid);

/** Whether a content is what a pointer says. */
export const isContentOf = (content: Uint8Array, { oid, size }: LargeFile): boolean =>
  content.length === size && createHash('sha256').update(content).digest('hex') === oid;

/** A content that is here and proven. */
export async function readLarge(objects: string, file: LargeFile): Promise<Buffer | undefined> {
  const path = placeOf(objects, file.oid);
  const found = await stat(path).catch(() => undefined);
  // what has another size is not worth the memory
  if (found?.isFile() !== true || found.size !== file.size) return undefined;
  const content = await readFile(path).catch(() => undefined);
  return content !== undefined && isContentOf(content, file) ? content : undefined;
}

/** It is among the newest again. */
export async function touchLarge(objects: string, { oid }: LargeFile, now: Date): Promise<void> {
  await utimes(placeOf(objects, oid), now, now).catch(() => undefined);
}

/** Removes a content, whatever it is. */
export const removeLarge = (objects: string, { oid }: LargeFile): Promise<void> =>
  rm(placeOf(objects, oid), { force: true });

interface Kept {
  readonly path: string;
  readonly size: number;
  readonly at: number;
}

/** Removes the oldest contents until the others take no more than this, bytes. */
export async function trimLarge(objects: string, most: number = limits.lfsCacheBytes): Promise<void> {
  const newestFirst = (await filesIn(objects)).sort((a, b) => b.at - a.at);
  let bytes = 0;
  for (const { path, size } of newestFirst) {
    bytes += size;
    if (bytes > most) await rm(path, { force: true });
  }
}

/** Bytes of the files in a folder, at any depth. */
export const bytesIn = async (folder: string): Promise<number> =>
  (await filesIn(folder)).reduce((sum, { size }) => sum + size, 0);

async function filesIn(folder: string): Promise<Kept[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const found = await Promise.all(
    files.map(async (path): Promise<Kept[]> => {
      const its = await lstat(path).catch(() => undefined);
      return its === undefined ? [] : [{ path, size: its.size, at: its.mtimeMs }];
    }),
  );
  return found.flat();
}
