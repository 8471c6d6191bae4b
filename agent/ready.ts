/** Why a run does not begin, as the contract says it. */
import { limits } from '../shared/limits.ts';
import type { FailureClass, Reason } from '../shared/outcome.ts';
import type { Context } from './context.ts';
import type { Job, LockHolder, NotReady } from './executor.ts';
import { judgeRun } from './failures.ts';
import { OLDEST_PULUMI } from './pulumi/version.ts';
import type { Watched } from './runner/watch.ts';

/** Ends the attempt. */
export const failed = (failure: FailureClass, reason: Reason, tail?: readonly string[]): NotReady => ({
  kind: 'failed',
  failure,
  reason,
  ...(tail === undefined ? {} : { tail }),
});

/** The order or its files are wrong: nothing helps but another order. */
export const refused = (why: string): NotReady => failed('Config', { code: 'Invalid', text: why });

/** The CLI is older than what this agent understands. */
export const cliTooOld = ({ toolchain }: Context): NotReady =>
  failed('Config', {
    code: 'CliTooOld',
    text: `Pulumi ${toolchain['pulumi']} is older than ${OLDEST_PULUMI}, the oldest that is supported`,
  });

/** Somebody holds the stack who may be at work. */
export const waitForLock = (lock: LockHolder): NotReady => ({
  kind: 'wait',
  reason: { code: 'Locked', text: `the stack is locked by ${lock.holder}` },
  retryMs: limits.lockRetryMs,
  lock,
});

/** A short call of the CLI did not succeed. */
export function callFailed(call: Watched, job: Job): NotReady {
  const verdict = judgeRun({ ...call, timeoutMs: job.order.policy.timeoutMs });
  if (call.exit === 0 || verdict.result === 'succeeded')
    return failed('Program', { code: 'RunFailed', text: 'the answer of the Pulumi CLI could not be read' });
  return failed(verdict.failure, verdict.reason);
}
