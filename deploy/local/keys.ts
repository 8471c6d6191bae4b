/** Keys and secrets of the hub, made once and kept in files that only their owner reads. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeUserKey, publicKeyOf } from '../../shared/nats.ts';
import type { Folders } from './folders.ts';

/** Returns the public key of the hub. */
export async function hubKeys(folders: Folders): Promise<string> {
  const seed = await readOrMake(folders.hubSeed, () => makeUserKey().seed);
  await readOrMake(folders.hubSecret, () => randomBytes(32).toString('hex'));
  return publicKeyOf(seed.trim());
}

async function readOrMake(file: string, make: () => string): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, make(), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFile(file, 'utf8');
}
