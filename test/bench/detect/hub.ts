/** A hub without a broker: passes over a local repository, orders kept in memory. */
import type { Book } from '../../../hub/book.ts';
import { makeGather } from '../../../hub/catalog/files.ts';
import { buildArtifact } from '../../../hub/artifact.ts';
import { makeSources } from '../../../hub/git/poller.ts';
import { makeMeasure } from '../../../hub/measure.ts';
import { placementKey } from '../../../hub/placement.ts';
import { freshMemory, pass, type PassEnd, type PollEdges } from '../../../hub/poll.ts';
import type { Order } from '../../../shared/wire.ts';

export interface BenchHub {
  /** One pass; seconds from its start to each step. */
  run(): Promise<{
    readonly end: PassEnd;
    readonly orders: readonly Order[];
    readonly steps: Readonly<Record<string, number>>;
  }>;
  close(): Promise<void>;
}

/** Reads the folder in place, polled at every pass. */
export async function makeBenchHub(repository: string, dataDir: string): Promise<BenchHub> {
  const sources = await makeSources({
    repositories: [
      {
        name: 'fleet',
        url: repository,
        ref: { branch: 'main' },
        trust: 'fleet',
        manifests: ['fleet/*.yaml', 'stack.yaml'],
        intervalMs: 1,
      },
    ],
    folder: dataDir,
    git: { program: 'git', environment: { PATH: process.env['PATH'] } },
    onHint: () => undefined,
  });
  const inForce = new Map<string, Order>();
  let published: readonly Order[] = [];
  let steps: Record<string, number> = {};
  let started = 0;
  const book: Book = {
    inForce,
    loaded: true,
    clusters: [],
    term: 1,
    load: async () => undefined,
    lead: async () => 'stored',
    publish: async ({ orders }) => {
      published = orders;
      for (const order of orders) inForce.set(placementKey(order), order);
      return 'stored';
    },
    invalidate: () => undefined,
  };
  const measure = makeMeasure();
  const edges: PollEdges = {
    refresh: (now) => sources.refresh(now),
    want: (asked) => sources.want(asked),
    nextDue: () => 0,
    observe: () => undefined,
    leads: () => true,
    follow: () => undefined,
    boardGap: () => undefined,
    gather: makeGather(),
    measure: (placements, catalog, trees) => measure.all(placements, catalog, trees),
    withEquals: async (wanted) => wanted,
    book,
    missingArtifacts: async () => [],
    build: (tree, wanted) => buildArtifact(measure.blobsOf(tree, wanted), wanted.files, Buffer.alloc(32)),
    upload: async () => undefined,
    asked: () => ({ seenGen: new Map(), republish: new Map() }),
    knownFiles: () => undefined,
    remember: () => undefined,
    show: () => undefined,
    at: (step) => void (steps[step] = (performance.now() - started) / 1000),
  };
  const memory = freshMemory();
  return {
    async run() {
      steps = {};
      published = [];
      started = performance.now();
      const end = await pass(edges, memory, { now: Date.now(), dirty: false });
      steps['end'] = (performance.now() - started) / 1000;
      return { end, orders: published, steps };
    },
    close: () => sources.close(),
  };
}
