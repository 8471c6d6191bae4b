/** Which agents are there, at one moment. */
import { limits } from '../../shared/limits.ts';
import { livenessOf, type Liveness } from '../liveness.ts';
import type { ReadModel } from './model.ts';

/** Each cluster is looked at once: a list has many rows of one. */
export function agentsAt(
  model: Pick<ReadModel, 'board' | 'clusters'>,
  now: number,
): (cluster: string) => Liveness {
  const board = model.board();
  const limitsOf = new Map(model.clusters().map(({ name, offlineAfterMs }) => [name, offlineAfterMs]));
  const known = new Map<string, Liveness>();
  return (cluster) => {
    const found = known.get(cluster);
    if (found !== undefined) return found;
    const offlineAfterMs = limitsOf.get(cluster) ?? limits.offlineAfterMs;
    const agent = livenessOf(board, cluster, { now, offlineAfterMs });
    known.set(cluster, agent);
    return agent;
  };
}
