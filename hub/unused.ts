/**
 * Artifacts that nothing refers to any more. One is only let go when it was unused at every look for a whole day: an
 * agent that was away may still want what its order named. Pure.
 */
import { limits } from '../shared/limits.ts';
import type { Order, Report } from '../shared/wire.ts';

/** Since when each unused artifact is so, by name. A hub that starts again begins to count again. */
export type UnusedSince = ReadonlyMap<string, number>;

export interface Unused {
  readonly since: UnusedSince;
  /** Names that may be purged now. */
  readonly expired: readonly string[];
}

/** Names in use: of orders in force, and of the last successes, which rollbacks and destroys go back to. */
export const usedArtifacts = (orders: Iterable<Order>, reports: Iterable<Report>): ReadonlySet<string> =>
  new Set([
    ...[...orders].map((order) => order.artifact.name),
    ...[...reports].flatMap((report) => report.lastSuccess?.artifact.name ?? []),
  ]);

/** One look at the names that the broker holds. */
export function lookAtArtifacts(
  names: Iterable<string>,
  used: ReadonlySet<string>,
  { before, now }: { readonly before: UnusedSince; readonly now: number },
): Unused {
  const unused = [...new Set(names)].filter((name) => !used.has(name));
  const since = new Map(unused.map((name) => [name, before.get(name) ?? now]));
  const expired = unused.filter((name) => now - since.get(name)! >= limits.artifactKeepMs);
  for (const name of expired) since.delete(name);
  return { since, expired };
}
