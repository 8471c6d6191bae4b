/** What is said of a placement that is to run and does not yet. Pure. */
import type { Candidate, Urgency, Waiting } from './admit.ts';
import type { Decision } from './decide.ts';
import type { PlacementEntry } from './ledger/ledger.ts';
import type { Pause } from './pauses.ts';
import type { View } from './statement.ts';

type RunDecision = Extract<Decision, { kind: 'run' }>;

/** A placement in the queue, as admit wants to know it. */
export function candidateOf(key: string, entry: PlacementEntry, decision: RunDecision): Candidate {
  const policy = entry.order?.policy;
  return {
    key,
    weight: policy?.weight ?? 1,
    priority: policy?.priority ?? 0,
    urgency: urgencyOf(decision),
    since: entry.acceptedAt ?? 0,
    group: policy?.concurrencyGroup,
  };
}

function urgencyOf({ reason, number }: RunDecision): Urgency {
  if (number > 1) return 'retry';
  return reason.code === 'DependencyOutputChanged' ? 'dependency' : 'commit';
}

/** The agent has just started and may not have all its orders yet. */
export const starting: View = {
  phase: 'Waiting',
  reason: { code: 'Starting', text: 'the agent has started and first reads its orders to the end' },
};

/** The agent ends, and starts nothing. */
export const stopping: View = {
  phase: 'Waiting',
  reason: { code: 'Starting', text: 'the agent is being stopped; its next start takes this up' },
};

/** Files and dependencies are laid out. */
export const preparing = (decision: RunDecision): View => ({ phase: 'Preparing', reason: decision.reason });

/** It tries again by itself. */
export const waitingFor = (pause: Pause): View => ({
  phase: 'Waiting',
  reason: pause.reason,
  next: { kind: 'retry', at: pause.until },
  ...(pause.lock === undefined ? {} : { lock: pause.lock }),
});

/** The text does not name the place: it would be another report with every run that ends. */
export const waitingInQueue = (waiting: Waiting): View => ({
  phase: 'Waiting',
  reason: waiting.reason,
  next: {
    kind: 'slot',
    queuePosition: positionShown(waiting.position),
    ...(waiting.blockedBy === undefined ? {} : { blockedBy: waiting.blockedBy }),
  },
});

/**
 * Exact up to 5, then the next of 10, 20, 50, 100, 200, …: a queue of 500 would otherwise send as many reports for each
 * run that ends.
 */
export function positionShown(position: number): number {
  if (position <= 5) return position;
  for (let unit = 10; ; unit *= 10)
    for (const step of [unit, 2 * unit, 5 * unit]) if (position <= step) return step;
}
