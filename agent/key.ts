/** The agent's NATS key. */
import { mkdir } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeUserKey, publicKeyOf } from '../shared/nats.ts';
import { readIfThere, writeWhole } from './folders.ts';

/** Makes the seed where there is none, readable by this user alone. Resolves with the public key. */
export async function ensureKey(keyFile: string): Promise<string> {
  const found = await readIfThere(keyFile);
  if (found !== undefined) return publicKeyOf(found.trim());
  const key = makeUserKey();
  await mkdir(dirname(keyFile), { recursive: true, mode: 0o700 });
  await writeWhole(keyFile, `${key.seed}\n`);
  return key.publicKey;
}

/** Read at every connect, so that a replaced key takes effect. */
export const readSeed = (keyFile: string): Uint8Array =>
  new TextEncoder().encode(readFileSync(keyFile, 'utf8').trim());
