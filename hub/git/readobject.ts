/** Reads objects by isomorphic-git, inside the thread. */
import fs from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import git from 'isomorphic-git';
import type { Read, ReadAnswer } from './calls.ts';

/** Holds packs and their indices as a whole. */
let cache = {};
/** Bytes outside of the heap above which it is dropped. */
const CACHE_BYTES = 256 * 1024 * 1024;

/** What was kept in memory is read again from disk. */
export const dropCache = (): void => {
  cache = {};
};

/** Never rejects: what cannot be read is an answer. */
export async function readObject({ gitDir, id, maxBytes }: Read): Promise<ReadAnswer> {
  try {
    const found = await find(gitDir, id);
    if (found === undefined) return { kind: 'missing' };
    if (found.content.length > maxBytes) return { kind: 'oversized', size: found.content.length };
    return { kind: 'object', ...found };
  } catch (error) {
    return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
  } finally {
    if (process.memoryUsage().external > CACHE_BYTES) dropCache();
  }
}

interface Found {
  readonly type: string;
  readonly content: Uint8Array;
}

/** Alternates that name alternates; Git follows as many. */
const ALTERNATE_HOPS = 5;

/** Looks where Git looks: in the repository, then where it borrows objects from. */
async function find(gitDir: string, id: string, hops = 0): Promise<Found | undefined> {
  const own = await readIn(gitDir, id);
  if (own !== undefined || hops === ALTERNATE_HOPS) return own;
  for (const other of await alternatesOf(gitDir)) {
    const found = await find(other, id, hops + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readIn(gitDir: string, oid: string): Promise<Found | undefined> {
  try {
    const read = await git.readObject({ fs, dir: gitDir, gitdir: gitDir, oid, format: 'content', cache });
    if (read.format !== 'content') throw new Error(`object ${oid} was read as ${read.format}`);
    return { type: read.type, content: read.object };
  } catch (error) {
    if (error instanceof git.Errors.NotFoundError) return undefined;
    throw error;
  }
}

async function alternatesOf(gitDir: string): Promise<readonly string[]> {
  const objects = join(gitDir, 'objects');
  const text = await readFile(join(objects, 'info', 'alternates'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => dirname(isAbsolute(line) ? line : join(objects, line)));
}
