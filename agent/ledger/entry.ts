/** How an entry of the ledger changes. Pure: the ledger applies them, and may apply them again. */
import type { Reason } from '../../shared/outcome.ts';
import type { StackRef } from '../../shared/subjects.ts';
import {
  WIRE_VERSION,
  type HelloAnswer,
  type LastSuccess,
  type Order,
  type RunRecord,
} from '../../shared/wire.ts';
import { limits } from '../../shared/limits.ts';
import type { NotReady, RunEnd } from '../executor.ts';
import { MAX_SUPERSEDED, type Ending, type PlacementEntry, type Running } from './ledger.ts';

/** Changed resources that a run record names; the counts beside them stay whole (2,000 URNs are about 300 KiB). */
export const MAX_RECORD_RESOURCES = 2_000;

type Without<K extends keyof PlacementEntry> = Omit<PlacementEntry, K>;

const empty = (stack: StackRef): PlacementEntry => ({ stack, gen: 0, records: [] });

/**
 * The order that is in force from now on. Its generation must have been compared before. `replaces`: the one before was
 * to run and had not started.
 */
export function accepted(
  entry: PlacementEntry | undefined,
  order: Order,
  { now, replaces }: { readonly now: number; readonly replaces: boolean },
): PlacementEntry {
  const { refused: _, stale: __, forgottenAt: ___, ...kept } = entry ?? empty(order.stack);
  const skipped = replaces && kept.order !== undefined ? [skippedOf(kept.order)] : [];
  const superseded = [...(kept.superseded ?? []), ...skipped].slice(-MAX_SUPERSEDED);
  return {
    ...kept,
    ...relabelled(kept, order),
    stack: order.stack,
    gen: order.gen,
    order,
    acceptedAt: now,
    ...(superseded.length === 0 ? {} : { superseded }),
  };
}

/**
 * What was applied last under the digest that its order has now: the orders to come know nothing of older versions of the
 * digest.
 */
const relabelled = (
  { lastSuccess }: Pick<PlacementEntry, 'lastSuccess'>,
  { inputDigest, equals }: Order,
): Pick<PlacementEntry, 'lastSuccess'> =>
  lastSuccess !== undefined && equals.includes(lastSuccess.inputDigest)
    ? { lastSuccess: { ...lastSuccess, inputDigest } }
    : {};

const skippedOf = (order: Order): { gen: number; commit: string } => ({
  gen: order.gen,
  commit: order.source.commit,
});

/** An order that is older than what was accepted. */
export const staled = (entry: PlacementEntry, got: number): PlacementEntry => ({
  ...entry,
  stale: { have: entry.gen, got },
});

/** The order that is held came again: the stream says what the ledger says. */
export function matched(entry: PlacementEntry): PlacementEntry {
  const { stale, ...rest } = entry;
  return stale === undefined ? entry : rest;
}

/** An order that will never be applied; the one in force stays. `gen`: where it could be read. */
export function refused(
  entry: PlacementEntry | undefined,
  refusal: { readonly stack: StackRef; readonly reason: Reason; readonly gen: number | undefined },
): PlacementEntry {
  const kept = entry ?? empty(refusal.stack);
  return { ...kept, gen: Math.max(kept.gen, refusal.gen ?? 0), refused: refusal.reason };
}

/** Written before the run is told to go: from here on it may have changed something. */
export function begun(entry: PlacementEntry, running: Running): PlacementEntry {
  const { runRequest } = running.order;
  const { superseded: _, ...rest } = entry;
  return {
    ...rest,
    running,
    unclean: true,
    ...(runRequest === undefined ? {} : { consumedRunRequest: runRequest }),
  };
}

/** What is known beside the end itself. */
export interface Circumstances {
  readonly incarnation: string;
  readonly toolchain: Readonly<Record<string, string>>;
}

/** The recorded end of the run that was under way. */
export function ended(entry: PlacementEntry, end: RunEnd, known: Circumstances): PlacementEntry {
  const { running, ...rest } = entry;
  if (running === undefined) return entry;
  const salt = end.encryptionSalt ?? entry.encryptionSalt;
  const record = recordOf(running, end, known);
  const next = {
    ...rest,
    last: endingOf(running, end),
    ...(salt === undefined ? {} : { encryptionSalt: salt }),
    records: [...entry.records, record].slice(-limits.keptRuns),
  };
  return end.result === 'succeeded' ? succeeded(next, running.order, { end, known }) : next;
}

function succeeded(
  entry: Without<'running'>,
  order: Order,
  { end, known }: { end: RunEnd; known: Circumstances },
): PlacementEntry {
  const { unclean: _, ...rest } = entry;
  const backendUrl = order.inputs.backend?.url;
  const lastSuccess: LastSuccess = {
    incarnation: known.incarnation,
    inputDigest: order.inputDigest,
    commit: order.source.commit,
    artifact: order.artifact,
    claim: order.claim,
    pulumiStack: order.inputs.pulumiStack,
    ...(backendUrl === undefined ? {} : { backendUrl }),
    ...(entry.consumedRunRequest === undefined ? {} : { runRequest: entry.consumedRunRequest }),
    at: end.finishedAt,
  };
  return { ...rest, lastSuccess };
}

function endingOf({ attempt }: Running, end: RunEnd): Ending {
  return {
    runId: attempt.runId,
    gen: attempt.gen,
    inputDigest: attempt.inputDigest,
    number: attempt.number,
    result: end.result,
    ...(end.failure === undefined ? {} : { failure: end.failure }),
    reason: end.reason,
    changes: end.changes,
    startedAt: attempt.startedAt,
    finishedAt: end.finishedAt,
    tail: cut(end.tail),
    ...(end.lock === undefined ? {} : { lock: end.lock }),
    ...(end.pendingCreates === undefined ? {} : { pendingCreates: [...end.pendingCreates] }),
  };
}

const cut = (tail: readonly string[]): string[] =>
  tail.slice(-limits.tailLines).map((line) => line.slice(0, limits.tailLineCharacters));

function recordOf({ attempt, order, trigger }: Running, end: RunEnd, known: Circumstances): RunRecord {
  return {
    v: WIRE_VERSION,
    runId: attempt.runId,
    gen: attempt.gen,
    cluster: order.cluster,
    stack: order.stack,
    inputDigest: attempt.inputDigest,
    commit: attempt.commit,
    kind: 'update',
    attempt: attempt.number,
    trigger,
    result: end.result,
    ...(end.failure === undefined ? {} : { class: end.failure }),
    message: end.reason.text,
    startedAt: attempt.startedAt,
    finishedAt: end.finishedAt,
    changes: end.changes,
    resources: end.resources.slice(0, MAX_RECORD_RESOURCES),
    toolchain: { ...known.toolchain },
  };
}

/** An attempt that ended before it began: nothing was changed, so it leaves no doubt behind. */
export function neverBegan(
  entry: PlacementEntry,
  start: { readonly runId: string; readonly order: Order; readonly number: number; readonly at: number },
  verdict: { readonly notReady: Exclude<NotReady, { kind: 'wait' }>; readonly now: number },
): PlacementEntry {
  const { notReady, now } = verdict;
  const last: Ending = {
    runId: start.runId,
    gen: start.order.gen,
    inputDigest: start.order.inputDigest,
    number: start.number,
    result: notReady.kind === 'hold' ? 'held' : 'failed',
    reason: notReady.reason,
    startedAt: start.at,
    finishedAt: now,
    ...(notReady.kind === 'failed' ? { failure: notReady.failure } : {}),
    ...(notReady.kind === 'failed' && notReady.tail !== undefined ? { tail: cut(notReady.tail) } : {}),
    ...(notReady.kind === 'hold' && notReady.pendingCreates !== undefined
      ? { pendingCreates: [...notReady.pendingCreates] }
      : {}),
  };
  return { ...entry, last };
}

/** Its resources stay and nothing of it is known any more, but the generation, so that older messages stay refused. */
export const forgotten = (entry: PlacementEntry, now: number): PlacementEntry => ({
  stack: entry.stack,
  gen: entry.gen,
  records: entry.records,
  ...(entry.report === undefined ? {} : { report: entry.report }),
  ...(entry.acked === undefined ? {} : { acked: entry.acked }),
  forgottenAt: now,
});

/** What the board knows of a placement whose ledger was lost. An order that it has seen a newer one of is dropped. */
export function seeded(entry: PlacementEntry | undefined, seed: Seed): PlacementEntry {
  const kept = entry ?? empty(seed.stack);
  if (kept.order === undefined || kept.order.gen >= seed.gen)
    return { ...kept, gen: Math.max(kept.gen, seed.gen), ...successOf(seed) };
  const { order: _, acceptedAt: __, ...rest } = kept;
  return { ...rest, gen: seed.gen, ...successOf(seed) };
}

type Seed = NonNullable<HelloAnswer['seed']>[number];

const successOf = ({
  lastSuccess,
  unclean,
}: Seed): Pick<PlacementEntry, 'lastSuccess' | 'unclean' | 'consumedRunRequest'> => ({
  lastSuccess,
  ...(unclean === undefined ? {} : { unclean }),
  ...(lastSuccess.runRequest === undefined ? {} : { consumedRunRequest: lastSuccess.runRequest }),
});

/** The broker has this finished run. */
export const recordAcked = (entry: PlacementEntry, runId: string): PlacementEntry => ({
  ...entry,
  records: entry.records.filter((record) => record.runId !== runId),
});
