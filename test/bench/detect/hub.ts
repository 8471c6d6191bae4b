/** A hub without a broker: passes over one repository, orders kept in memory. */
import { buildArtifact } from '../../../hub/artifact.ts';
import type { Book } from '../../../hub/book.ts';
import { makeGather } from '../../../hub/catalog/files.ts';
import { makeSources } from '../../../hub/git/poller.ts';
import type { Sources } from '../../../hub/git/source.ts';
import { makeMeasure } from '../../../hub/measure.ts';
import { placementKey } from '../../../hub/placement.ts';
import { freshMemory, pass, type HubStep, type PollEdges } from '../../../hub/poll.ts';
import type { Order } from '../../../shared/wire.ts';

export interface Passed {
  readonly orders: number;
  /** From the start of the pass that saw the commit to its plan, seconds. */
  readonly plannedAfter: number;
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
  const orders = new Map<string, Order>();
  const steps = new Map<HubStep, number>();
  let state = freshState();
  return {
    async run() {
      const published = { count: 0 };
      for (;;) {
        const started = performance.now();
        const at = (step: HubStep): void => void steps.set(step, (performance.now() - started) / 1_000);
        const edges = edgesOf({ sources, orders, state, published, at });
        const { kind } = await pass(edges, state.memory, { now: Date.now(), dirty: false });
        if (kind === 'idle') continue;
        if (kind !== 'planned') throw new Error(`the pass ended as ${kind}`);
        return { orders: published.count, plannedAfter: steps.get('planned') ?? Number.NaN };
      }
    },
    forget: () => void (state = freshState()),
    close: () => sources.close(),
  };
}

/** What a hub keeps between passes. */
const freshState = () => ({ gather: makeGather(), measure: makeMeasure(), memory: freshMemory() });

interface World {
  readonly sources: Sources;
  readonly orders: Map<string, Order>;
  readonly state: ReturnType<typeof freshState>;
  readonly published: { count: number };
  readonly at: (step: HubStep) => void;
}

function edgesOf({ sources, orders, state, published, at }: World): PollEdges {
  const { gather, measure } = state;
  return {
    refresh: (now) => sources.refresh(now),
    want: (asked) => sources.want(asked),
    nextDue: () => 0,
    observe: () => undefined,
    leads: () => true,
    follow: () => undefined,
    boardGap: () => undefined,
    gather,
    measure: (placements, catalog, trees) => measure.all(placements, catalog, trees),
    withEquals: async (wanted) => wanted,
    book: bookOf(orders, published),
    missingArtifacts: async () => [],
    build: (tree, wanted) => buildArtifact(measure.blobsOf(tree, wanted), wanted.files, Buffer.alloc(32)),
    upload: async () => undefined,
    asked: () => ({ seenGen: new Map(), republish: new Map() }),
    knownFiles: () => undefined,
    remember: () => undefined,
    show: () => undefined,
    at,
  };
}

const bookOf = (inForce: Map<string, Order>, published: { count: number }): Book => ({
  inForce,
  loaded: true,
  clusters: [],
  term: 1,
  load: async () => undefined,
  lead: async () => 'stored',
  publish: async ({ orders }) => {
    published.count = orders.length;
    for (const order of orders) inForce.set(placementKey(order), order);
    return 'stored';
  },
  invalidate: () => undefined,
});
