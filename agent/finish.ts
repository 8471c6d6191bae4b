/** From `go` to the end: follows, stops, clears up, finds out what is known of the state. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../shared/limits.ts';
import type { FailureClass, Reason } from '../shared/outcome.ts';
import type { Order } from '../shared/wire.ts';
import type { Context } from './execute.ts';
import type { Attempt, LockHolder, OutputListener, RunEnd } from './executor.ts';
import { judgeRun, type Verdict } from './failures.ts';
import { writeWhole } from './folders.ts';
import {
  clearIfDead,
  dropHolders,
  keepHolders,
  markPending,
  settleFileLocks,
  settleLocks,
} from './holders.ts';
import { parseLockMessage, type LockState } from './locks.ts';
import { makeCli, type Cli } from './pulumi/cli.ts';
import { learnEncryption } from './pulumi/settle.ts';
import { clearPending, readState } from './pulumi/stack.ts';
import { loadRun, marksOfRun, type Run } from './run.ts';
import { endMarked } from './runner/processes.ts';
import { watch, type Watched } from './runner/watch.ts';

export interface Finishing {
  readonly attempt: Attempt;
  readonly order: Order;
  readonly output: OutputListener;
  readonly stop: AbortSignal;
}

/** Follows a run to its end, whoever started it, and leaves neither processes nor a lock of its own. */
export async function finish(context: Context, finishing: Finishing): Promise<RunEnd> {
  const { attempt, order } = finishing;
  const marks = { environment: marksOfRun(context.dataDir, attempt.runId), gate: attempt.process };
  const run = await loadRun(context.folders, attempt.runId, order);
  if (run === undefined) {
    await endMarked(marks);
    return withoutFolder();
  }
  const ended = context.gates.get(attempt.runId);
  const watched = await watch({
    launch: { marks: run.folders.marks, name: 'up' },
    gate: attempt.process,
    ...(ended === undefined ? {} : { ended }),
    deadline: attempt.startedAt + attempt.timeoutMs,
    stop: finishing.stop,
    patterns: run.patterns,
    output: finishing.output,
    graces: context.graces,
  });
  await context.at('exit');
  const survivors = await endMarked(marks);
  if (survivors > 0) context.log.warn({ run: attempt.runId, survivors }, 'processes outlived their run');
  await context.at('survivors');
  const end = await settleEnd(context, { run, watched, finishing });
  await context.at('ended');
  return end;
}

interface Ended {
  readonly run: Run;
  readonly watched: Watched;
  readonly finishing: Finishing;
}

async function settleEnd(context: Context, ended: Ended): Promise<RunEnd> {
  const { run, watched, finishing } = ended;
  const { stopped, outcome, tail } = watched;
  const judged = judgeRun({
    ...watched,
    timeoutMs: finishing.attempt.timeoutMs,
    ...(stopped === undefined ? {} : { stop: stopped.cause }),
  });
  // what looks for locks and pending creates must not be stopped by what stopped the run
  const { signal } = new AbortController();
  const cli = makeCli(run, { pulumi: context.pulumi, user: context.user, graces: context.graces, signal });
  const verdict = await afterwards(context, ended, { judged, cli });
  const encryption = await learnEncryption(run);
  if (verdict.result === 'succeeded') await keepSuccess(context, finishing.order);
  return {
    ...verdict,
    changes: outcome.changes,
    resources: outcome.resources,
    tail,
    ...(encryption === undefined ? {} : { encryptionSalt: encryption }),
    finishedAt: Date.now(),
  };
}

/** A verdict with what was found out after the run. */
type Final = Verdict & Pick<RunEnd, 'lock' | 'pendingCreates'>;

interface Judged {
  readonly judged: Verdict;
  readonly cli: Cli;
}

/** What else must be known or done, by how the run ended. */
async function afterwards(context: Context, ended: Ended, { judged, cli }: Judged): Promise<Final> {
  if (judged.result === 'succeeded') return judged;
  const { run, watched } = ended;
  if (!watched.began) return notBegun(judged);
  if (wasCutOff(watched, judged.failure)) return recover(context, ended, { judged, cli });
  if (judged.failure === 'Locked') return lockedOut(context, run, { judged, cli, watched });
  // a broken lock file gives an error about JSON before anything else happens
  const files =
    watched.outcome.summary === undefined ? await settleFileLocks(context.folders.holders, run) : undefined;
  return files?.kind === 'held' ? heldBy(files.by) : judged;
}

const BY_SIGNAL = 128;
const CANCELLED_EXIT = 8;

/** Whether creates may have been cut off in the middle: a first SIGINT waits for them, everything harder does not. */
const wasCutOff = ({ exit, stopped }: Watched, failure: FailureClass): boolean =>
  failure === 'Lost' ||
  exit === undefined ||
  exit === CANCELLED_EXIT ||
  exit >= BY_SIGNAL ||
  (stopped !== undefined && stopped.depth !== 'first');

/** A gate that was never told to go has run nothing and left nothing. */
const notBegun = (judged: Verdict): Final =>
  judged.result === 'failed' && judged.failure !== 'Lost'
    ? judged
    : failed('Lost', { code: 'RunFailed', text: 'ended before Pulumi began: nothing was run' });

/** Clears the own lock, then asks the state for creates whose end it does not know. */
async function recover(context: Context, ended: Ended, { judged, cli }: Judged): Promise<Final> {
  const { run, finishing } = ended;
  const locks = await settleLocks(context.folders.holders, run, cli);
  await context.at('locks cleared');
  if (locks.kind === 'free') await dropHolders(context.folders.holders, run.runId);
  else await keepHolders(context.folders.holders, run.folders);
  const pending = await pendingCreates(cli, ended);
  await context.at('pending read');
  if (pending === undefined) await markPending(context.folders.holders, run);
  if (pending === undefined) return unreadable();
  if (pending.length === 0) return judged;
  const mayClear = finishing.order.policy.pendingCreates === 'clear' && locks.kind === 'free';
  if (mayClear && (await clearPending(cli, run.order)).exit === 0) return judged;
  await markPending(context.folders.holders, run);
  return {
    ...failed(judged.result === 'failed' ? judged.failure : 'Lost', pendingReason(pending)),
    pendingCreates: pending,
  };
}

const pendingReason = (pending: readonly string[]): Reason => ({
  code: 'PendingCreates',
  text: `cut off while creating ${pending.length} ${pending.length === 1 ? 'resource' : 'resources'}: another run would make a second one if the first one came to be`,
});

/** Until the state can be read: starting again without knowing could make everything twice. */
async function pendingCreates(cli: Cli, { run, finishing }: Ended): Promise<readonly string[] | undefined> {
  const deadline = performance.now() + limits.stateReadMs;
  for (;;) {
    const looked = await readState(cli, run.order);
    if (looked.kind === 'state') return looked.state.pendingCreates;
    if (finishing.stop.aborted || performance.now() >= deadline) return undefined;
    await delay(limits.lockRetryMs, undefined, { signal: finishing.stop }).catch(() => undefined);
  }
}

const unreadable = (): Final => ({
  ...failed('Lost', {
    code: 'PendingCreates',
    text: 'cut off, and the state cannot be read: whether creates are pending is unknown',
  }),
  pendingCreates: [UNKNOWN],
});

/** Stands for the URNs of a state that could not be read. */
const UNKNOWN = 'unknown';

/** Locked by a dead run of ours: cleared, so that it may start once more. By anybody else: it waits. */
async function lockedOut(
  context: Context,
  run: Run,
  { judged, cli, watched }: Judged & { readonly watched: Watched },
): Promise<Final> {
  const message = [...watched.outcome.errors.map(({ text }) => text), ...watched.tail].join('\n');
  const locks = parseLockMessage(message);
  const state: LockState =
    (await settleFileLocks(context.folders.holders, run)) ??
    (await clearIfDead(context.folders.holders, run, { cli, locks }));
  if (state.kind === 'held') return heldBy(state.by);
  return state.kind === 'free'
    ? failed('Lost', { code: 'RunFailed', text: 'the stack was locked by a lock that is gone now' })
    : judged;
}

const heldBy = (lock: LockHolder): Final => ({
  ...failed('Locked', { code: 'Locked', text: `the stack is locked by ${lock.holder}` }),
  lock,
});

const failed = (failure: FailureClass, reason: Reason): Verdict => ({ result: 'failed', failure, reason });

const withoutFolder = (): RunEnd => ({
  result: 'failed',
  failure: 'Lost',
  reason: { code: 'RunFailed', text: 'the folder of the run is gone: how it ended is unknown' },
  changes: { create: 0, update: 0, delete: 0, replace: 0, same: 0 },
  resources: [],
  tail: [],
  finishedAt: Date.now(),
});

/** The order of the last success stays on disk, and with it its artifact. */
async function keepSuccess(context: Context, order: Order): Promise<void> {
  const { cluster, stack } = order;
  const name = `${cluster}_${stack.namespace}_${stack.name}.json`;
  await writeWhole(join(context.folders.successes, name), JSON.stringify(order));
}
