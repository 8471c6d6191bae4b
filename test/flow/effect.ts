/** What one commit set in motion, counted where it cannot be missed: on the broker and at the CLI. */
import type { PlacementAnswer } from '../../hub/api/schemas.ts';
import type { Changes } from '../harness/git.ts';
import type { Fleet } from './fleet.ts';

export interface Effect {
  readonly commit: string;
  /** Messages written to each cluster's order stream. */
  readonly orders: Readonly<Record<string, number>>;
  /** Updates that were started. */
  readonly updates: number;
  /** Everything that was started of the CLI, updates among it. */
  readonly started: readonly string[];
  readonly rows: readonly PlacementAnswer[];
}

/** Commits, waits until all is at rest, and says what came of it. */
export function effectOf(fleet: Fleet, subject: string, changes: Changes = {}): Promise<Effect> {
  return effectOfAll(fleet, () => fleet.commit(subject, changes));
}

/** The same for whatever ends with a commit. */
export async function effectOfAll(fleet: Fleet, act: () => Promise<string>): Promise<Effect> {
  const before = await countsOf(fleet);
  const commit = await act();
  const rows = await fleet.reader.atRest(commit);
  const after = await countsOf(fleet);
  // what an agent asks once when it starts is no part of a run
  const started = after.started.slice(before.started.length).filter((line) => line !== 'version');
  return {
    commit,
    orders: Object.fromEntries(
      Object.entries(after.orders).map(([cluster, count]) => [
        cluster,
        count - (before.orders[cluster] ?? 0),
      ]),
    ),
    updates: started.filter((line) => line.startsWith('up ')).length,
    started,
    rows,
  };
}

interface Counts {
  readonly orders: Readonly<Record<string, number>>;
  readonly started: readonly string[];
}

async function countsOf(fleet: Fleet): Promise<Counts> {
  const clusters = [...fleet.agents.keys()];
  const published = await Promise.all(clusters.map((cluster) => fleet.broker.published(cluster)));
  return {
    orders: Object.fromEntries(clusters.map((cluster, n) => [cluster, published[n] ?? 0])),
    started: await fleet.started(),
  };
}
