/**
 * Version 2 of the input digest: the same shape as version 1, over files that inference found and lockfiles that were cut.
 * Frozen once it was released: a change of what it covers is a new version beside it, never an edit here.
 *
 * `v2:` + sha256 over the canonical JSON of the run inputs and the digest of the files: sha256 over one line of JSON per
 * file, `[path, mode, id]`, sorted by path. JSON keeps the parts apart whatever characters a path holds.
 */
import { createHash } from 'node:crypto';
import { canonical, sha256 } from '../../shared/canonical.ts';
import type { RunInputs } from '../../shared/wire.ts';
import type { TreeEntry } from '../git/source.ts';

/** Digest over files: equal digests, equal artifacts. Their order does not matter. */
export function filesDigest(files: readonly TreeEntry[]): string {
  const hash = createHash('sha256');
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const { path, mode, id } of sorted) hash.update(`${JSON.stringify([path, mode, id])}\n`);
  return hash.digest('hex');
}

/** Digest over everything that can change the outcome of a run. `files`: the digest of the files. */
export const digestV2 = (inputs: RunInputs, files: string): string =>
  `v2:${sha256(`${canonical(inputs)}\n${files}`)}`;

/** Whether a digest is of this version, the newest one. */
export const isCurrent = (digest: string): boolean => digest.startsWith('v2:');
