/** Creates that were begun and whose end nobody wrote down: another update would make each of them a second time. */
import type { Reason } from '../shared/outcome.ts';
import type { Job, NotReady } from './executor.ts';
import { settleLocks } from './holders.ts';
import type { Cli } from './pulumi/cli.ts';
import { clearPending, readState } from './pulumi/stack.ts';
import { callFailed, waitForLock } from './ready.ts';
import { redactText } from './redact.ts';
import type { Run } from './run.ts';

/** Why nothing runs while the state has pending creates and nobody has decided about them. */
export const pendingReason = (pending: readonly string[]): Reason => ({
  code: 'PendingCreates',
  text: `cut off while creating ${pending.length} ${pending.length === 1 ? 'resource' : 'resources'}: another run would make a second one if the first one came to be`,
});

/**
 * Asks the state before an update, whatever order it is for: a newer commit decides nothing about them. They are
 * forgotten where the stack says so; otherwise it holds until somebody said so or has put the state right.
 */
export async function settlePending(
  holders: string,
  job: Job,
  { run, cli }: { readonly run: Run; readonly cli: Cli },
): Promise<NotReady | undefined> {
  const seen = await readState(cli, run.order);
  if (seen.kind === 'state' && seen.state.pendingCreates.length === 0) return undefined;
  // those of a living holder are pending as well, and it may have ended since
  const locks = await settleLocks(holders, run, cli);
  if (locks.kind === 'held') return waitForLock(locks.by);
  const looked = await readState(cli, run.order);
  if (looked.kind === 'failed') return callFailed(looked.call, job);
  const pending = looked.state.pendingCreates.map((urn) => redactText(urn, run.patterns));
  if (pending.length === 0) return undefined;
  if (run.order.policy.pendingCreates === 'hold')
    return { kind: 'hold', reason: pendingReason(pending), pendingCreates: pending };
  const call = await clearPending(cli, run.order);
  return call.exit === 0 ? undefined : callFailed(call, job);
}
