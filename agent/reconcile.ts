/**
 * The agent's conductor. A pass reads what is wanted and what is, for all placements, and does what decide and admit
 * say; whatever happens only wakes it. The same pass serves the usual case, a restart and a repair.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { admit, type Candidate } from './admit.ts';
import { carryOut, followRun, type AttemptParts, type RunDecision } from './attempt.ts';
import { decide, type Decision, type Surroundings } from './decide.ts';
import { forgotten } from './ledger/entry.ts';
import { KEEP_GEN_MS, type PlacementEntry, type Running } from './ledger/ledger.ts';
import { makePauses, type Pause, type Pauses } from './pauses.ts';
import { candidateOf, preparing, starting, stopping, waitingFor, waitingInQueue } from './queue.ts';
import { viewOf, withStale, type View } from './statement.ts';
import { makeWaker, type Waker } from './waker.ts';
import { makeWorks, type Works } from './works.ts';

export interface ConductorParts extends Omit<AttemptParts, 'view'> {
  readonly around: () => Surroundings;
  /** Upper bound of this machine, below the cluster's own; Infinity for none. */
  readonly maxSlots: number;
}

export interface Conductor {
  /** Something may have changed. */
  wake(): void;
  /** Follows what an earlier agent started, ends what nobody knows, and starts runs once `open` is resolved. */
  start(open: Promise<unknown>): void;
  /** `namespace/name` of what is being prepared or runs. */
  readonly running: readonly string[];
  readonly freeSlots: number;
  /** Starts nothing any more and gives up what is being prepared. */
  quiesce(): void;
  /** Stops the runs that go on, as a time-out would. */
  cancel(): void;
  /** Resolves when no run goes on. */
  idle(): Promise<void>;
  close(): void;
}

/** Runs of a cluster at a time until its policy arrives. */
const DEFAULT_SLOTS = 4;

/** A sweep that failed is repeated after so long: nothing starts beside a process that nobody knows. */
const SWEEP_AGAIN_MS = 5_000;

interface Conducting {
  readonly parts: ConductorParts & AttemptParts;
  readonly works: Works;
  readonly pauses: Pauses;
  readonly waker: Waker;
  mode: 'starting' | 'open' | 'stopping';
}

interface Run {
  readonly entry: PlacementEntry;
  readonly decision: RunDecision;
}

/** Own timers: close it. Nothing happens before `start`. */
export function makeConductor(given: ConductorParts): Conductor {
  const { log } = given;
  const view = (entry: PlacementEntry): View | undefined => viewOf(entry, decide(entry, given.around()));
  const pauses = makePauses();
  const closing = new AbortController();
  const waker = makeWaker({
    pass: () => pass(conducting),
    failed: (error) => log.error({ err: error }, 'a pass failed and is repeated'),
  });
  const works = makeWorks({
    slots: slotsWanted(given),
    failed: ({ key, gen }, error) => {
      log.error({ err: error, placement: key }, 'an attempt broke off and is taken up again');
      pauses.broken(key, gen, given.now());
    },
    over: waker.wake,
  });
  const conducting: Conducting = { parts: { ...given, view }, works, pauses, waker, mode: 'starting' };
  return {
    wake: waker.wake,
    start: (open) => void start(conducting, { open, closing: closing.signal }),
    get running() {
      return works.active.map((active) => active.key);
    },
    get freeSlots() {
      return works.slots.free;
    },
    quiesce: () => {
      conducting.mode = 'stopping';
      works.giveUpAll();
    },
    cancel: () => works.stopAll(),
    idle: () => works.idle(),
    close: () => {
      closing.abort();
      waker.close();
    },
  };
}

const slotsWanted = ({ around, maxSlots }: ConductorParts): number =>
  Math.max(1, Math.min(maxSlots, around().policy?.maxConcurrentRuns ?? DEFAULT_SLOTS));

async function start(
  c: Conducting,
  { open, closing }: { readonly open: Promise<unknown>; readonly closing: AbortSignal },
): Promise<void> {
  const entries = [...c.parts.ledger.entries.values()];
  const known = new Set(entries.flatMap((entry) => entry.running?.attempt.runId ?? []));
  c.waker.wake();
  while (!closing.aborted) {
    try {
      await c.parts.executor.sweep(known);
      break;
    } catch (error) {
      c.parts.log.error({ err: error }, 'what earlier runs left could not be cleared; nothing starts before');
      await delay(SWEEP_AGAIN_MS, undefined, { signal: closing }).catch(() => undefined);
    }
  }
  await open;
  if (c.mode === 'starting') c.mode = 'open';
  c.waker.wake();
}

async function pass(c: Conducting): Promise<void> {
  c.works.slots.resize(slotsWanted(c.parts));
  const runs = new Map<string, Run>();
  for (const key of [...c.parts.ledger.entries.keys()]) {
    const entry = c.parts.ledger.entries.get(key);
    if (entry === undefined) continue;
    const decision = decide(entry, c.parts.around());
    if (c.works.get(key) !== undefined) supervise(c, key, { entry, decision });
    else if (decision.kind === 'run') consider(c, key, { run: { entry, decision }, runs });
    else await settle(c, key, { entry, decision });
  }
  startSome(c, runs);
}

/**
 * A newer order, or a hold, ends a preparation; a run that has begun goes on to its end. What counts is the order in
 * force: one that could not be read raises the placement's generation and replaces nothing.
 */
function supervise(
  c: Conducting,
  key: string,
  { entry, decision }: { entry: PlacementEntry; decision: Decision },
): void {
  const work = c.works.get(key);
  if (entry.running !== undefined || work === undefined) return;
  if (entry.order?.gen !== work.gen || decision.kind !== 'run') work.giveUp.abort();
}

function consider(c: Conducting, key: string, { run, runs }: { run: Run; runs: Map<string, Run> }): void {
  const pause = pauseOf(c, key, run.entry.order?.gen ?? 0);
  if (pause !== undefined) mention(c, run.entry, waitingFor(pause));
  else if (c.mode === 'open') runs.set(key, run);
  else mention(c, run.entry, c.mode === 'starting' ? starting : stopping);
}

/** The pass comes again when the pause is over. */
function pauseOf(c: Conducting, key: string, gen: number): Pause | undefined {
  const now = c.parts.now();
  const pause = c.pauses.get(key, gen, now);
  if (pause !== undefined) c.waker.at(pause.until, now);
  return pause;
}

const mention = (c: Conducting, entry: PlacementEntry, view: View): void =>
  c.parts.reports.mention(entry, withStale(view, entry.stale));

/** Everything but a start. */
async function settle(
  c: Conducting,
  key: string,
  { entry, decision }: { entry: PlacementEntry; decision: Decision },
): Promise<void> {
  const { ledger, reports, now } = c.parts;
  if (decision.kind === 'follow') return follow(c, key, entry.running);
  if (decision.kind === 'wait' && decision.until !== undefined) c.waker.at(decision.until, now());
  const change = decision.kind === 'forget' ? forget : isPast(entry, now()) ? drop : restate;
  const value = await ledger.update(entry.stack, (it) => it && change(c, it));
  reports.send(value);
}

const isPast = ({ forgottenAt }: PlacementEntry, now: number): boolean =>
  forgottenAt !== undefined && now - forgottenAt > KEEP_GEN_MS;

const drop = (_: Conducting, entry: PlacementEntry): PlacementEntry | undefined =>
  entry.forgottenAt === undefined ? entry : undefined;

const restate = ({ parts }: Conducting, entry: PlacementEntry): PlacementEntry =>
  parts.reports.stated(entry, parts.view(entry));

const forget = (c: Conducting, entry: PlacementEntry): PlacementEntry =>
  entry.order?.action === 'forget' && entry.running === undefined
    ? forgotten(restate(c, entry), c.parts.now())
    : entry;

/** Starts whom admit lets start; the others hear what they wait for. */
function startSome(c: Conducting, runs: ReadonlyMap<string, Run>): void {
  const { now, ledger } = c.parts;
  const queue: Candidate[] = [...runs].map(([key, { entry, decision }]) => candidateOf(key, entry, decision));
  const limits = { slots: c.works.slots.count };
  const admission = admit(queue, c.works.active, { limits, now: now() });
  for (const waiting of admission.waiting) {
    const run = runs.get(waiting.key);
    if (run !== undefined) mention(c, run.entry, waitingInQueue(waiting));
  }
  for (const key of admission.start) {
    const run = runs.get(key);
    if (run === undefined) continue;
    if (ledger.entries.get(key) === run.entry) begin(c, key, run);
    else c.waker.wake();
  }
}

function begin(c: Conducting, key: string, { entry, decision }: Run): void {
  const { order } = entry;
  if (order === undefined) return;
  mention(c, entry, preparing(decision));
  const work = async ({ giveUp, stop }: { giveUp: AbortSignal; stop: AbortSignal }): Promise<void> => {
    const outcome = await carryOut(c.parts, { entry, order, decision, giveUp, stop });
    if (outcome.kind === 'over') c.pauses.clear(key);
    if (outcome.kind === 'wait') c.pauses.wait(key, order.gen, { ...outcome.notReady, now: c.parts.now() });
  };
  c.works.start({ key, gen: order.gen, policy: order.policy, work });
}

/** A run that was told to go before, by this agent or an earlier one. */
function follow(c: Conducting, key: string, running: Running | undefined): void {
  if (running === undefined || pauseOf(c, key, running.attempt.gen) !== undefined) return;
  const { attempt, order } = running;
  c.parts.log.info({ placement: key, run: attempt.runId }, 'following a run that was started before');
  // Chunk numbers above any that were used: fewer than one a millisecond is sent.
  const firstChunk = Math.max(1, c.parts.now() - attempt.startedAt);
  const work = async ({ stop }: { stop: AbortSignal }): Promise<void> => {
    await followRun(c.parts, running, { stop, firstChunk });
    c.pauses.clear(key);
  };
  c.works.start({ key, gen: attempt.gen, policy: order.policy, work });
}
