/**
 * Version 1 of the input digest. Frozen: a change of what it covers is a new version beside it, never an edit here.
 *
 * `v1:` + sha256 over the canonical JSON of the run inputs, then one line of JSON per file, `[path, mode, id]`, sorted
 * by path. JSON keeps the parts apart whatever characters a path holds.
 */
import { createHash } from 'node:crypto';
import { canonical, sha256 } from '../../shared/canonical.ts';
import type { RunInputs, RunPolicy } from '../../shared/wire.ts';
import type { TreeEntry } from '../git/source.ts';

/** Digest over everything that can change the outcome of a run. The order of the files does not matter. */
export function digestV1(inputs: RunInputs, files: readonly TreeEntry[]): string {
  const hash = createHash('sha256').update(canonical(inputs));
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  for (const { path, mode, id } of sorted) hash.update(`\n${JSON.stringify([path, mode, id])}`);
  return `v1:${hash.digest('hex')}`;
}

/**
 * Digest over how a run is carried out. `extra` is what else must reach the agent as a new order without a run, such as
 * a suspension.
 */
export const policyDigest = (policy: RunPolicy, extra: Readonly<Record<string, unknown>> = {}): string =>
  `v1:${sha256(canonical({ policy, extra }))}`;
