/**
 * One attempt of one placement, in the order that lets whoever comes after a crash tell what happened: gate started,
 * attempt recorded, go; end recorded, report sent, folder removed.
 */
import type { Log } from '../shared/log.ts';
import type { Order } from '../shared/wire.ts';
import type { Decision } from './decide.ts';
import type { Executor, Gate, Job, NotReady, Ready, RunEnd } from './executor.ts';
import { begun, ended, neverBegan } from './ledger/entry.ts';
import { keyOf, type Ledger, type PlacementEntry, type Running } from './ledger/ledger.ts';
import type { Reports } from './report.ts';
import type { View } from './statement.ts';
import type { AtStep } from './steps.ts';
import type { Transcripts } from './transcript.ts';

export interface AttemptParts {
  readonly ledger: Ledger;
  readonly executor: Executor;
  readonly reports: Reports;
  readonly transcripts: Transcripts;
  readonly incarnation: string;
  readonly now: () => number;
  readonly newRunId: () => string;
  /** How the placement stands now, for the report that is written with a record. */
  readonly view: (entry: PlacementEntry) => View | undefined;
  /** Counts. */
  readonly ended: (end: RunEnd) => void;
  readonly at: AtStep;
  readonly log: Log;
}

export type RunDecision = Extract<Decision, { kind: 'run' }>;

/** An entry that is to run. */
export interface Start {
  readonly entry: PlacementEntry;
  readonly order: Order;
  readonly decision: RunDecision;
  /** Aborted when a newer order came or the agent ends, before the run has begun. */
  readonly giveUp: AbortSignal;
  /** Aborted when the run is to be stopped. */
  readonly stop: AbortSignal;
}

export type Outcome =
  | { readonly kind: 'over' }
  | { readonly kind: 'givenUp' }
  | { readonly kind: 'wait'; readonly notReady: Extract<NotReady, { kind: 'wait' }> };

/** Prepares, starts, follows and records. Rejects on what no result describes, such as a full disk. */
export async function carryOut(parts: AttemptParts, start: Start): Promise<Outcome> {
  const prepared = await prepare(parts, start);
  if (prepared.kind !== 'recorded') return prepared;
  await parts.at('attemptRecorded');
  prepared.gate.go();
  await parts.at('gone');
  await followRun(parts, prepared.running, { stop: start.stop, firstChunk: 0 });
  return { kind: 'over' };
}

type Recorded = { readonly kind: 'recorded'; readonly running: Running; readonly gate: Gate };

/** Until the attempt is recorded, everything can still be given up. */
async function prepare(parts: AttemptParts, start: Start): Promise<Outcome | Recorded> {
  const job = jobOf(parts.newRunId(), start);
  const at = parts.now();
  await parts.at('preparing');
  try {
    const ready = await parts.executor.prepare(job, start.giveUp);
    await parts.at('prepared');
    if (start.giveUp.aborted) return await givenUp(parts, job);
    if (ready.kind !== 'ready') return await notReady(parts, start, { job, at, verdict: ready });
    return (await begin(parts, start, { job, ready })) ?? (await givenUp(parts, job));
  } catch (error) {
    await parts.executor.cleanup(job.runId);
    if (start.giveUp.aborted) return { kind: 'givenUp' };
    throw error;
  }
}

/** In a rebuilt cluster the state is compared with the world first: without it everything would look unchanged. */
function jobOf(runId: string, { entry, order, decision }: Start): Job {
  return {
    runId,
    order: decision.refresh ? { ...order, inputs: { ...order.inputs, refresh: true } } : order,
    first: decision.first,
    unsure: decision.first || entry.last?.result !== 'succeeded',
    ...(entry.encryptionSalt === undefined || hasMoved(entry, order)
      ? {}
      : { encryptionSalt: entry.encryptionSalt }),
  };
}

/** The encryption of the Pulumi stack that it left says nothing about the one that it came to. */
const hasMoved = ({ lastSuccess }: PlacementEntry, { claim }: Order): boolean =>
  lastSuccess !== undefined && lastSuccess.claim !== claim;

async function givenUp(parts: AttemptParts, job: Job): Promise<Outcome> {
  await parts.executor.cleanup(job.runId);
  return { kind: 'givenUp' };
}

async function notReady(
  parts: AttemptParts,
  { order, decision }: Start,
  { job, at, verdict }: { job: Job; at: number; verdict: NotReady },
): Promise<Outcome> {
  const { runId } = job;
  await parts.executor.cleanup(runId);
  if (verdict.kind === 'wait') return { kind: 'wait', notReady: verdict };
  const value = await parts.ledger.update(order.stack, (entry) => {
    if (entry === undefined || entry.order?.gen !== order.gen) return entry;
    const start = { runId, order, number: decision.number, at };
    return withView(parts, neverBegan(entry, start, { notReady: verdict, now: parts.now() }));
  });
  parts.reports.send(value);
  return { kind: 'over' };
}

const withView = ({ reports, view }: AttemptParts, entry: PlacementEntry): PlacementEntry =>
  reports.stated(entry, view(entry));

/** Undefined: a newer order came in the last moment, and nothing has run. */
async function begin(
  parts: AttemptParts,
  start: Start,
  { job, ready }: { job: Job; ready: Ready },
): Promise<Recorded | undefined> {
  const gate = await ready.gate();
  await parts.at('gated');
  const running = runningOf(parts, start, { job, gate });
  try {
    const recorded = await record(parts, running, { ready, giveUp: start.giveUp });
    if (recorded?.running?.attempt.runId === job.runId) {
      parts.reports.send(recorded);
      return { kind: 'recorded', running, gate };
    }
  } catch (error) {
    await gate.abandon();
    throw error;
  }
  await gate.abandon();
  return undefined;
}

function runningOf(
  parts: AttemptParts,
  { decision }: Start,
  { job, gate }: { job: Job; gate: Gate },
): Running {
  const { order } = job;
  return {
    attempt: {
      runId: job.runId,
      gen: order.gen,
      inputDigest: order.inputDigest,
      commit: order.source.commit,
      number: decision.number,
      process: gate.process,
      startedAt: parts.now(),
      timeoutMs: order.policy.timeoutMs,
    },
    order,
    trigger: decision.reason,
  };
}

function record(
  parts: AttemptParts,
  running: Running,
  { ready, giveUp }: { ready: Ready; giveUp: AbortSignal },
): Promise<PlacementEntry | undefined> {
  const salt = ready.encryptionSalt === undefined ? {} : { encryptionSalt: ready.encryptionSalt };
  return parts.ledger.update(running.order.stack, (entry) => {
    const isCurrent = entry?.running === undefined && entry?.order?.gen === running.attempt.gen;
    if (entry === undefined || !isCurrent || giveUp.aborted) return entry;
    return withView(parts, begun({ ...entry, ...salt }, running));
  });
}

/** Follows a run that was told to go to its recorded end, whoever started it. */
export async function followRun(
  parts: AttemptParts,
  running: Running,
  { stop, firstChunk }: { readonly stop: AbortSignal; readonly firstChunk: number },
): Promise<void> {
  const { attempt, order } = running;
  const log = parts.log.child({ placement: keyOf(order.stack), run: attempt.runId });
  const transcript = parts.transcripts.open(attempt.runId, firstChunk);
  const output = (lines: readonly string[]): void => {
    for (const line of lines) log.info(line);
    transcript.write(lines);
  };
  const end = await parts.executor.finish(attempt, order, { output, stop }).finally(() => transcript.end());
  await parts.at('finished');
  const known = { incarnation: parts.incarnation, toolchain: parts.executor.toolchain };
  const value = await parts.ledger.update(order.stack, (entry) =>
    entry?.running?.attempt.runId === attempt.runId ? withView(parts, ended(entry, end, known)) : entry,
  );
  parts.ended(end);
  await parts.at('resultRecorded');
  parts.reports.send(value);
  log.info({ result: end.result, class: end.failure, reason: end.reason.text }, 'run ended');
  await parts.at('reportSent');
  await parts.executor.cleanup(attempt.runId);
  await parts.at('cleaned');
}
