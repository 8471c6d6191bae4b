/** A hub without a broker: passes over real sources, orders kept in memory. */
import { buildArtifact } from '../../hub/artifact.ts';
import type { Book } from '../../hub/book.ts';
import { makeGather } from '../../hub/catalog/files.ts';
import type { KnownFiles } from '../../hub/detect.ts';
import { fileValue, type Sources } from '../../hub/git/source.ts';
import { EMPTY_HISTORY } from '../../hub/history.ts';
import { makeMeasure } from '../../hub/measure.ts';
import { placementKey } from '../../hub/placement.ts';
import { freshMemory, pass, type Done, type HubStep, type PassEnd, type PollEdges } from '../../hub/poll.ts';
import type { Order } from '../../shared/wire.ts';

export interface MemoryHub {
  /** One pass. */
  pass(now: number): Promise<PassEnd>;
  /** The newest order of every placement, by its key. */
  readonly inForce: ReadonlyMap<string, Order>;
  /** Another hub that knows nothing but the orders, as one that starts again without its disk. */
  anew(): MemoryHub;
}

/** `at` is called between the steps of a pass. `edges` stand in place of those that keep nothing. */
export const makeMemoryHub = (
  sources: Sources,
  at: (step: HubStep) => void = () => undefined,
  edges: Outer['edges'] = {},
): MemoryHub => hubOf({ sources, inForce: new Map(), at, edges });

function hubOf(outer: Outer): MemoryHub {
  const { inForce } = outer;
  const state = freshState();
  return {
    inForce,
    pass: (now) => pass(edgesOf({ ...outer, state }), state.memory, { now, dirty: false }),
    anew: () => hubOf(outer),
  };
}

interface Outer {
  readonly sources: Sources;
  readonly inForce: Map<string, Order>;
  readonly at: (step: HubStep) => void;
  readonly edges: Partial<Pick<PollEdges, 'history' | 'knownFiles' | 'remember'>>;
}

/** What a hub keeps between passes. */
const freshState = () => ({
  gather: makeGather(),
  measure: makeMeasure(),
  memory: freshMemory(),
  files: new Map<string, KnownFiles>(),
});

interface World extends Outer {
  readonly state: ReturnType<typeof freshState>;
}

function edgesOf({ sources, inForce, state, at, edges }: World): PollEdges {
  const { gather, measure, files } = state;
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
    book: bookOf(inForce),
    missingArtifacts: async () => [],
    build: (tree, wanted) => buildArtifact(measure.blobsOf(tree, wanted), wanted.files, Buffer.alloc(32)),
    upload: async () => undefined,
    asked: () => ({ seenGen: new Map(), republish: new Map() }),
    knownFiles: (key, digest) => files.get(`${key} ${digest}`),
    history: () => EMPTY_HISTORY,
    remember: (done) => keepFiles(files, done),
    show: () => undefined,
    at,
    ...edges,
  };
}

function keepFiles(kept: Map<string, KnownFiles>, { measured, orders }: Done): void {
  const ordered = new Set(orders.map(placementKey));
  for (const { placement, inputDigest, files } of measured.wanted) {
    const key = placementKey(placement);
    if (ordered.has(key))
      kept.set(`${key} ${inputDigest}`, new Map(files.map((file) => [file.path, fileValue(file)])));
  }
}

/** The orders in force, kept in memory. */
export const bookOf = (inForce: Map<string, Order>): Book => ({
  inForce,
  loaded: true,
  clusters: [],
  term: 1,
  load: async () => undefined,
  lead: async () => 'stored',
  publish: async ({ orders }) => {
    for (const order of orders) inForce.set(placementKey(order), order);
    return 'stored';
  },
  invalidate: () => undefined,
});
