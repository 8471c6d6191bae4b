/**
 * Hub, stream and agent without sockets or clocks: the real decisions, joined by a stream that can be wiped, restored
 * and replayed. One placement; what holds for one holds for each, since none looks at another's state.
 */
import { decide, accept } from '../../agent/decide.ts';
import type { RunEnd } from '../../agent/executor.ts';
import { accepted, begun, ended } from '../../agent/ledger/entry.ts';
import type { PlacementEntry } from '../../agent/ledger/ledger.ts';
import type { Tree } from '../../hub/git/source.ts';
import { makeOrder } from '../../hub/order.ts';
import { plan } from '../../hub/plan.ts';
import { answerHello } from '../../hub/resync.ts';
import { limits } from '../../shared/limits.ts';
import { hashesOf, saysOf } from '../../shared/resync.ts';
import { WIRE_VERSION, type ArtifactRef, type Order } from '../../shared/wire.ts';
import { inForce, makePlanInput, makeReport, makeWanted, NOW } from '../hub/make.ts';

interface Stream {
  sequence: number;
  term: number;
  order: Order | undefined;
}

/** What one hub process knows. `read` is the sequence of its last look; undefined: it has to look. */
interface HubMind {
  read: number | undefined;
  order: Order | undefined;
  term: number;
}

/** A run that the agent started, and what became of it. */
export interface Started {
  readonly gen: number;
  readonly digest: string;
  readonly result: 'succeeded' | 'failed' | 'lost';
}

export interface World {
  now: number;
  /** Content of the newest commit. */
  wanted: string;
  suspended: boolean;
  stream: Stream;
  readonly copies: Stream[];
  /** Every order that was ever on the wire. */
  readonly wire: Order[];
  readonly hubs: readonly [HubMind, HubMind];
  entry: PlacementEntry | undefined;
  readonly runs: Started[];
}

const hub = (): HubMind => ({ read: undefined, order: undefined, term: 0 });

export const makeWorld = (): World => ({
  now: NOW,
  wanted: 'one',
  suspended: false,
  stream: { sequence: 0, term: 0, order: undefined },
  copies: [],
  wire: [],
  hubs: [hub(), hub()],
  entry: undefined,
  runs: [],
});

const around = (world: World): Parameters<typeof decide>[1] => ({
  now: world.now,
  incarnation: 'i',
  policy: undefined,
});

const wantedOf = (world: World): ReturnType<typeof makeWanted> =>
  makeWanted(
    { content: world.wanted },
    world.suspended ? { suspended: { code: 'Suspended', text: 'freeze' } } : {},
  );

/** Compare-and-set on the whole stream. */
function publish(world: World, mind: HubMind, change: Partial<Stream>): boolean {
  if (mind.read !== world.stream.sequence) {
    mind.read = undefined;
    return false;
  }
  Object.assign(world.stream, change, { sequence: world.stream.sequence + 1 });
  mind.read = world.stream.sequence;
  return true;
}

/** One pass of a hub that believes that it leads. `fresh`: it took the lease, or its connection came back. */
export function hubPass(world: World, which: 0 | 1, { fresh = false, ...asked }: Looking = {}): void {
  const mind = world.hubs[which];
  if (fresh || mind.read === undefined) {
    mind.read = world.stream.sequence;
    mind.order = world.stream.order;
    mind.term = Math.max(world.now, world.stream.term) + 1;
    if (!publish(world, mind, { term: mind.term })) return;
  }
  const orders = mind.order === undefined ? [] : [mind.order];
  const input = makePlanInput({
    wanted: [wantedOf(world)],
    inForce: inForce(...orders),
    now: world.now,
    ...asked,
  });
  for (const step of plan(input).steps) {
    const order = makeOrder(step, { term: mind.term, now: world.now, tree, artifact });
    if (!publish(world, mind, { order })) return;
    mind.order = order;
    world.wire.push(order);
  }
}

interface Looking extends Partial<Pick<Parameters<typeof plan>[0], 'seenGen' | 'republish'>> {
  readonly fresh?: boolean;
}
const hex = '0'.repeat(64);
const artifact: ArtifactRef = {
  name: hex,
  key: 'a2V5',
  size: 1,
  chunks: 1,
  sha256: hex,
  compression: 'zstd',
};
const tree: Tree = {
  repository: 'fleet',
  ref: 'refs/heads/main',
  commit: { id: 'c'.repeat(40), subject: 's', author: 'a', time: NOW },
  entries: () => Promise.resolve([]),
  blob: () => Promise.reject(new Error('the model has no blobs')),
};

/** An order reaches the agent: in turn, late, or once more. */
export function deliver(world: World, order: Order | undefined): void {
  if (order === undefined || accept(world.entry, order.gen).kind !== 'accept') return;
  world.entry = accepted(world.entry, order, { now: world.now, replaces: false });
}

/** The agent does what it decides, and the run ends as `result` says. */
export function agentPass(world: World, result: Started['result']): void {
  const { entry } = world;
  if (entry?.order === undefined) return;
  const decision = decide(entry, around(world));
  if (decision.kind !== 'run') return;
  const { order } = entry;
  const runId = `r${world.runs.length}`;
  const attempt = {
    ...{ runId, gen: order.gen, inputDigest: order.inputDigest, commit: order.source.commit },
    ...{ number: decision.number, startedAt: world.now, timeoutMs: 1 },
    process: { pid: 1, startTime: '1', bootId: 'b' },
  };
  world.runs.push({ gen: order.gen, digest: order.inputDigest, result });
  const running = begun(entry, { attempt, order, trigger: decision.reason });
  world.entry = ended(running, endOf(world, result), { incarnation: 'i', toolchain: {} });
}

const endOf = ({ now }: World, result: Started['result']): RunEnd => ({
  result: result === 'succeeded' ? 'succeeded' : 'failed',
  ...(result === 'lost' ? { failure: 'Lost' } : result === 'failed' ? { failure: 'Program' } : {}),
  reason: { code: result === 'succeeded' ? 'RunSucceeded' : 'RunFailed', text: result },
  changes: { create: 0, update: 0, delete: 0, replace: 0, same: 0 },
  resources: [],
  tail: [],
  finishedAt: now,
});

/** Both sides compare, twice with the time between that confirms a difference; what is lacking is published again. */
export function resync(world: World, which: 0 | 1): void {
  const { entry } = world;
  if (entry === undefined) return;
  const mind = world.hubs[which];
  const says = saysOf(entry.order);
  const row = { ...entry.stack, gen: entry.gen, says, seq: 1 };
  const hashes = hashesOf([{ stack: entry.stack, gen: entry.gen, says, seq: 1, phase: 'Succeeded' }]);
  const hello = {
    v: WIRE_VERSION,
    incarnation: 'i',
    ledger: 1,
    ordersHash: hashes.orders,
    reportsHash: '',
  } as const;
  let suspects: ReadonlyMap<string, number> = new Map();
  for (let round = 0; round < 2; round += 1) {
    const orders = mind.order === undefined ? [] : [mind.order];
    const reports = entry.order === undefined ? [] : [makeReport({ ...entry.order, gen: entry.gen })];
    const outcome = answerHello(
      { ...hello, list: [row] },
      { cluster: 'harbour', orders, reports, term: mind.term, now: world.now, drained: true, suspects },
    );
    suspects = outcome.suspects;
    if (outcome.republish.size > 0)
      hubPass(world, which, { seenGen: outcome.seenGen, republish: outcome.republish });
    world.now += limits.helloConfirmMs;
  }
}

/** The newest content was applied, or its one attempt failed. */
export function isAtRest(world: World): boolean {
  const { entry } = world;
  const digest = wantedOf(world).inputDigest;
  if (entry?.order?.inputDigest !== digest) return false;
  const failed = entry.last?.gen === entry.gen && entry.last.result === 'failed';
  return failed || (entry.lastSuccess?.inputDigest === digest && entry.unclean === undefined);
}
