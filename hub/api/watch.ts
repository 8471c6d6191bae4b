/** An agent that falls silent sends nothing: somebody has to look. */
import type { Liveness } from '../liveness.ts';
import { agentsAt } from './agents.ts';
import type { ReadModel } from './model.ts';

/** How often it looks, ms. */
const LOOK_MS = 1_000;

/** Publishes an event whenever an agent comes or goes, until the returned function is called. */
export function watchAgents(model: ReadModel): () => void {
  let before = new Map<string, Liveness['state']>();
  const look = (): void => {
    const agentOf = agentsAt(model, model.now());
    const now = new Map(model.clusters().map(({ name }) => [name, agentOf(name).state]));
    for (const [cluster, state] of now) {
      const known = before.get(cluster);
      if (known !== undefined && known !== state)
        model.events.publish({ kind: 'cluster', cluster, state, at: model.now() });
    }
    before = now;
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
