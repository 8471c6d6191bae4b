/** What to do with an order, with a placement, and why. Pure: the effects are the conductor's. */
import { limits } from '../shared/limits.ts';
import type { Phase, Reason } from '../shared/outcome.ts';
import type { ClusterPolicy, Order } from '../shared/wire.ts';
import { holdOfCluster, holdOfOrder } from './holds.ts';
import type { Ending, PlacementEntry } from './ledger/ledger.ts';

export type Acceptance =
  | { readonly kind: 'accept' }
  /** Seen before, as after any loss of the consumer's state: costs nothing. */
  | { readonly kind: 'duplicate' }
  /** Older than what was accepted: refused, and said so, that the hub may publish above it. */
  | { readonly kind: 'stale'; readonly have: number; readonly got: number };

/** The one rule that orders everything: a greater generation, and nothing else, makes an order newer. */
export function accept(entry: { readonly gen: number } | undefined, gen: number): Acceptance {
  const have = entry?.gen ?? 0;
  if (gen > have) return { kind: 'accept' };
  return gen === have ? { kind: 'duplicate' } : { kind: 'stale', have, got: gen };
}

export type Decision =
  /** No order, and nothing to say. */
  | { readonly kind: 'none' }
  /** An attempt is recorded and has no end: it is followed, by whoever finds it. */
  | { readonly kind: 'follow' }
  | { readonly kind: 'wait'; readonly phase: Phase; readonly reason: Reason; readonly until?: number }
  | { readonly kind: 'skip'; readonly phase: Phase; readonly reason: Reason }
  | { readonly kind: 'forget'; readonly reason: Reason }
  | {
      readonly kind: 'run';
      readonly reason: Reason;
      /** 2 and more after a run that was cut off. */
      readonly number: number;
      /** Nothing was ever applied to this Pulumi stack, as far as the ledger knows. */
      readonly first: boolean;
      /** The cluster may no longer hold what the state says. */
      readonly refresh: boolean;
    };

export interface Surroundings {
  readonly now: number;
  /** Of the cluster as it is now. */
  readonly incarnation: string;
  readonly policy: ClusterPolicy | undefined;
}

/** A run that the ledger calls Lost may be started so often for one generation. */
const MAX_STARTS = 2;

/** The first that applies, from top to bottom. */
export function decide(entry: PlacementEntry, around: Surroundings): Decision {
  if (entry.running !== undefined) return { kind: 'follow' };
  const { order } = entry;
  if (order === undefined)
    return entry.refused === undefined
      ? { kind: 'none' }
      : { kind: 'wait', phase: 'Invalid', reason: entry.refused };
  const decision = decideOrder(entry, order, around);
  return decision.kind === 'skip' && entry.refused !== undefined
    ? { kind: 'wait', phase: 'Invalid', reason: entry.refused }
    : decision;
}

function decideOrder(entry: PlacementEntry, order: Order, around: Surroundings): Decision {
  const hold = holdOfOrder(order);
  if (hold !== undefined) return { kind: 'wait', ...hold };
  switch (order.action) {
    case 'forget':
      return { kind: 'forget', reason: order.reasons[0] ?? removed };
    case 'preview':
    case 'refresh':
    case 'destroy':
      return {
        kind: 'wait',
        phase: 'Invalid',
        reason: { code: 'NotYetSupported', text: `this agent cannot carry out “${order.action}”` },
      };
    case 'hold':
    case 'run':
      return unlessSuspended(decideRun(entry, order, around), around);
  }
}

const removed: Reason = { code: 'Removed', text: 'forgotten by a committed decision; its resources stay' };

function unlessSuspended(decision: Decision, around: Surroundings): Decision {
  const hold = decision.kind === 'run' ? holdOfCluster(around.policy, around.now) : undefined;
  return hold === undefined ? decision : { kind: 'wait', ...hold };
}

function decideRun(entry: PlacementEntry, order: Order, around: Surroundings): Decision {
  const { last } = entry;
  const spent = last?.gen === order.gen && !(last.result === 'succeeded' && isRebuilt(entry, around));
  if (spent) return afterAttempt(entry, order, { last, around });
  const trigger = triggerOf(entry, order, around);
  return trigger === undefined
    ? { kind: 'skip', phase: 'Succeeded', reason: unchanged(entry, order) }
    : runFor(entry, order, { trigger, number: 1, around });
}

/** One attempt a generation; only a run that was cut off may start again. */
function afterAttempt(
  entry: PlacementEntry,
  order: Order,
  { last, around }: { last: Ending; around: Surroundings },
): Decision {
  if (last.result === 'succeeded') return { kind: 'skip', phase: 'Succeeded', reason: last.reason };
  if (last.result === 'held') return { kind: 'skip', phase: 'Stalled', reason: last.reason };
  const creates = last.pendingCreates ?? [];
  if (creates.length > 0 && order.policy.pendingCreates === 'hold')
    return { kind: 'skip', phase: 'Stalled', reason: pendingCreates(creates) };
  if (last.failure === 'Locked') return afterLock(entry, order, { last, around });
  if (!wasCutOff(last)) return { kind: 'skip', phase: 'Failed', reason: last.reason };
  if (last.failure === 'Lost' && last.number >= MAX_STARTS)
    return { kind: 'skip', phase: 'Failed', reason: cutOffTwice(last) };
  const trigger: Reason = { code: 'Interrupted', text: `run ${last.runId} was cut off: ${last.reason.text}` };
  return runFor(entry, order, { trigger, number: last.number + 1, around });
}

/** Locked out before it changed anything: it tries again, for as long as somebody else holds the stack. */
function afterLock(
  entry: PlacementEntry,
  order: Order,
  { last, around }: { last: Ending; around: Surroundings },
): Decision {
  const until = last.finishedAt + limits.lockRetryMs;
  const clockWentBack = around.now < last.finishedAt;
  if (around.now < until && !clockWentBack)
    return { kind: 'wait', phase: 'Waiting', reason: last.reason, until };
  return runFor(entry, order, { trigger: last.reason, number: last.number + 1, around });
}

/** Killed from outside, or stopped by this agent because it had to end: neither says anything about the inputs. */
const wasCutOff = (last: Ending): boolean => last.failure === 'Lost' || last.failure === 'Cancelled';

const pendingCreates = (urns: readonly string[]): Reason => ({
  code: 'PendingCreates',
  text: `cut off while creating; another run could make a second object of: ${urns.join(', ')}`,
});

const cutOffTwice = (last: Ending): Reason => ({
  code: 'AlreadyAttempted',
  text: `cut off ${last.number} times, the last time: ${last.reason.text}`,
});

/** Why it must run, or undefined when the wanted inputs are what was applied last. */
function triggerOf(entry: PlacementEntry, order: Order, around: Surroundings): Reason | undefined {
  const { lastSuccess } = entry;
  const given = order.reasons[0];
  if (lastSuccess !== undefined && isRebuilt(entry, around))
    return { code: 'ClusterRebuilt', text: `last applied in another cluster (${lastSuccess.incarnation})` };
  if (entry.unclean === true)
    return given?.code === 'LastAttemptFailed'
      ? given
      : { code: 'LastAttemptFailed', text: 'an update began and none has succeeded since' };
  if (order.runRequest !== undefined && order.runRequest !== entry.consumedRunRequest)
    return { code: 'RunRequested', text: `run request “${order.runRequest}”` };
  if (lastSuccess === undefined) return given ?? { code: 'NewPlacement', text: 'nothing was applied yet' };
  if (isApplied(lastSuccess.inputDigest, order)) return undefined;
  return given ?? { code: 'InputChanged', text: `inputs differ from commit ${lastSuccess.commit}` };
}

/** What was applied last was applied in another cluster: here it proves nothing. */
const isRebuilt = ({ lastSuccess }: PlacementEntry, around: Surroundings): boolean =>
  lastSuccess !== undefined && lastSuccess.incarnation !== around.incarnation;

const isApplied = (digest: string, order: Order): boolean =>
  digest === order.inputDigest || order.equals.includes(digest);

function unchanged(entry: PlacementEntry, order: Order): Reason {
  const policy = order.reasons.find((reason) => reason.code === 'OnlyPolicyChanged');
  return (
    policy ?? {
      code: 'AlreadyApplied',
      text: `these inputs were applied at commit ${entry.lastSuccess?.commit ?? 'unknown'}`,
    }
  );
}

function runFor(
  entry: PlacementEntry,
  order: Order,
  { trigger, number, around }: { trigger: Reason; number: number; around: Surroundings },
): Decision {
  const refresh =
    isRebuilt(entry, around) || order.reasons.some((reason) => reason.code === 'ClusterRebuilt');
  const reason = withSkipped(trigger, entry.superseded ?? []);
  return { kind: 'run', reason, number, first: isFirst(entry, order, around), refresh };
}

/** A placement that moved to another Pulumi stack or backend begins there; a backend of the cluster goes with it. */
const isFirst = (entry: PlacementEntry, order: Order, around: Surroundings): boolean =>
  entry.lastSuccess?.claim !== order.claim ||
  (order.inputs.backend?.scope === 'cluster' && isRebuilt(entry, around));

/** Orders that were replaced before they started are named where their successor's reason is read. */
function withSkipped(reason: Reason, skipped: NonNullable<PlacementEntry['superseded']>): Reason {
  if (skipped.length === 0) return reason;
  const commits = skipped.map(({ commit }) => commit.slice(0, 12)).join(', ');
  return { ...reason, text: `${reason.text}; skipped, since replaced before they started: ${commits}` };
}
