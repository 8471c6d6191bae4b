/** After a run that did not end well: locks, and creates whose end the state does not know. */
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../shared/limits.ts';
import type { FailureClass, Reason } from '../shared/outcome.ts';
import type { Context } from './context.ts';
import type { LockHolder, RunEnd } from './executor.ts';
import { BY_SIGNAL, CANCELLED_EXIT, type Verdict } from './failures.ts';
import { clearIfDead, dropHolders, keepHolders, settleFileLocks, settleLocks } from './holders.ts';
import { parseLockMessage, type LockState } from './locks.ts';
import { pendingReason } from './pending.ts';
import type { Cli } from './pulumi/cli.ts';
import { clearPending, readState } from './pulumi/stack.ts';
import { redactText } from './redact.ts';
import type { Run } from './run.ts';
import type { Watched } from './runner/watch.ts';

/** A verdict with what was found out after the run. */
export type Final = Verdict & Pick<RunEnd, 'lock' | 'pendingCreates'>;

/** A run whose processes are gone. */
export interface Over {
  readonly run: Run;
  readonly watched: Watched;
  readonly judged: Verdict;
  /** For the same stack; it is not stopped by what stopped the run. */
  readonly cli: Cli;
  /** Aborted when the caller must end. */
  readonly stop: AbortSignal;
}

/** What else must be known or done, by how the run ended. */
export async function afterwards({ folders, at }: Context, over: Over): Promise<Final> {
  const { run, watched, judged } = over;
  const { holders } = folders;
  if (judged.result === 'succeeded') return judged;
  if (!watched.began) return notBegun(judged);
  if (wasCutOff(watched, judged.failure)) return recover(holders, over, at);
  if (judged.failure === 'Locked') return lockedOut(holders, over);
  // a broken lock file gives an error about JSON before anything else happens
  const files = watched.outcome.summary === undefined ? await settleFileLocks(holders, run) : undefined;
  return files?.kind === 'held' ? heldBy(files.by) : judged;
}

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
async function recover(holders: string, over: Over, at: Context['at']): Promise<Final> {
  const { run, judged, cli } = over;
  const locks = await settleLocks(holders, run, cli);
  await at('locks cleared');
  if (locks.kind === 'free') await dropHolders(holders, run.runId);
  else await keepHolders(holders, run.folders);
  const pending = await pendingCreates(over);
  await at('pending read');
  if (pending === undefined) return unreadable();
  if (pending.length === 0) return judged;
  const mayClear = run.order.policy.pendingCreates === 'clear' && locks.kind === 'free';
  if (mayClear && (await clearPending(cli, run.order)).exit === 0) return judged;
  return {
    ...failed(judged.result === 'failed' ? judged.failure : 'Lost', pendingReason(pending)),
    pendingCreates: pending,
  };
}

/** Until the state can be read: starting again without knowing could make everything twice. */
async function pendingCreates({ run, cli, stop }: Over): Promise<readonly string[] | undefined> {
  const deadline = performance.now() + limits.stateReadMs;
  for (;;) {
    const looked = await readState(cli, run.order);
    if (looked.kind === 'state')
      return looked.state.pendingCreates.map((urn) => redactText(urn, run.patterns));
    if (stop.aborted || performance.now() >= deadline) return undefined;
    await delay(limits.lockRetryMs, undefined, { signal: stop }).catch(() => undefined);
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
async function lockedOut(holders: string, { run, judged, cli, watched }: Over): Promise<Final> {
  const message = [...watched.outcome.errors.map(({ text }) => text), ...watched.tail].join('\n');
  const locks = parseLockMessage(message);
  const state: LockState =
    (await settleFileLocks(holders, run)) ?? (await clearIfDead(holders, run, { cli, locks }));
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
