/** Timed passes over one repository. */
import { makeSources } from '../../../hub/git/poller.ts';
import type { Sources } from '../../../hub/git/source.ts';
import type { HubStep } from '../../../hub/poll.ts';
import { makeMemoryHub } from '../../harness/hub.ts';

export interface Passed {
  readonly orders: number;
  /** From the start of the pass that saw the commit to its plan, seconds. */
  readonly plannedAfter: number;
  /** From the call to the plan, seconds: with the poll that found the commit and what was read for it. */
  readonly toldAfter: number;
  /** Names of the stacks that have a new order. */
  readonly stacks: readonly string[];
}

export interface BenchHub {
  /** Passes until one has planned what is new. Rejects when there is something else to say than a plan. */
  run(): Promise<Passed>;
  /** Forgets everything but the orders, as a hub that starts again. */
  forget(): void;
  close(): Promise<void>;
}

/** Polls the repository at every pass. `folder` is for mirrors. */
export const openSources = (url: string, folder: string): Promise<Sources> =>
  makeSources({
    repositories: [
      {
        name: 'fleet',
        url,
        ref: { branch: 'main' },
        trust: 'fleet',
        manifests: ['fleet/*.yaml', 'stack.yaml'],
        intervalMs: 1,
      },
    ],
    folder,
    git: { program: 'git', environment: { PATH: '/usr/local/bin:/usr/bin:/bin' } },
    onHint: () => undefined,
  });

/** Over a repository on this machine. */
export async function makeBenchHub(repository: string, folder: string): Promise<BenchHub> {
  const sources = await openSources(repository, folder);
  const steps = new Map<HubStep, number>();
  let started = 0;
  let hub = makeMemoryHub(sources, (step) => void steps.set(step, (performance.now() - started) / 1_000));
  return {
    async run() {
      const called = performance.now();
      for (;;) {
        started = performance.now();
        const end = await hub.pass(Date.now());
        if (end.kind === 'idle') continue;
        if (end.kind !== 'planned') throw new Error(`the pass ended as ${end.kind}`);
        const { orders } = end.done;
        const plannedAfter = steps.get('planned') ?? Number.NaN;
        return {
          orders: orders.length,
          plannedAfter,
          toldAfter: (started - called) / 1_000 + plannedAfter,
          stacks: [...new Set(orders.map(({ stack }) => stack.name))],
        };
      }
    },
    forget: () => void (hub = hub.anew()),
    close: () => sources.close(),
  };
}
