/**
 * Who may start now, and why not. Pure.
 *
 * A run takes as many slots as its weight says (all of them when it weighs more). Runs that share a concurrency group,
 * such as a cloud account, go one at a time. New commits come before retries, retries before dependents, those before
 * drift; then the stack's own priority; then age. Whoever waited longer than {@link AGED_MS} is served before all
 * others, oldest first, and nothing may start in the room that it waits for: so a heavy or unimportant one starts too.
 */
import type { Reason } from '../shared/outcome.ts';

/** What brings a run into the queue, the most urgent first. */
export const URGENCIES = ['commit', 'retry', 'dependency', 'drift'] as const;
export type Urgency = (typeof URGENCIES)[number];

export interface Candidate {
  /** `namespace/name`; a placement is in the queue once. */
  readonly key: string;
  readonly weight: number;
  readonly priority: number;
  readonly urgency: Urgency;
  /** When its order was recorded. */
  readonly since: number;
  readonly group: string | undefined;
}

export interface Active {
  readonly key: string;
  readonly weight: number;
  readonly group: string | undefined;
}

export interface Limits {
  /** `maxConcurrentRuns` of the cluster, or the agent's own lower setting. */
  readonly slots: number;
}

/** A candidate that does not start now. `position` counts from 1. */
export interface Waiting {
  readonly key: string;
  readonly position: number;
  readonly reason: Reason;
  /** The running placement in the same group. */
  readonly blockedBy: string | undefined;
}

export interface Admission {
  /** In the order in which they start. */
  readonly start: readonly string[];
  readonly waiting: readonly Waiting[];
}

/** A candidate that waited so long is served first (ours: far above a usual run, far below what anybody endures). */
export const AGED_MS = 15 * 60 * 1_000;

/** Slots that a run takes: at least one, at most all. */
export const slotsOf = (weight: number, slots: number): number => Math.max(1, Math.min(weight, slots));

/** `running` and `queue` hold different placements. */
export function admit(
  queue: readonly Candidate[],
  running: readonly Active[],
  { limits, now }: { readonly limits: Limits; readonly now: number },
): Admission {
  let used = running.reduce((sum, active) => sum + slotsOf(active.weight, limits.slots), 0);
  const groups = new Map(
    running.flatMap((active) => (active.group === undefined ? [] : [[active.group, active.key]])),
  );
  const start: string[] = [];
  const waiting: Waiting[] = [];
  let reserved = false;
  for (const candidate of [...queue].sort(byTurn(now))) {
    const blockedBy = candidate.group === undefined ? undefined : groups.get(candidate.group);
    const needed = slotsOf(candidate.weight, limits.slots);
    const fits = !reserved && used + needed <= limits.slots;
    if (fits && blockedBy === undefined) {
      start.push(candidate.key);
      used += needed;
      if (candidate.group !== undefined) groups.set(candidate.group, candidate.key);
      continue;
    }
    if (blockedBy === undefined && isAged(candidate, now)) reserved = true;
    waiting.push(waitingOf(candidate, { position: waiting.length + 1, blockedBy, slots: limits.slots }));
  }
  return { start, waiting };
}

const isAged = (candidate: Candidate, now: number): boolean => now - candidate.since >= AGED_MS;

const byTurn =
  (now: number) =>
  (a: Candidate, b: Candidate): number => {
    const aged = Number(isAged(b, now)) - Number(isAged(a, now));
    if (aged !== 0) return aged;
    const rank = isAged(a, now)
      ? 0
      : URGENCIES.indexOf(a.urgency) - URGENCIES.indexOf(b.urgency) || b.priority - a.priority;
    return rank || a.since - b.since || (a.key < b.key ? -1 : 1);
  };

function waitingOf(
  candidate: Candidate,
  at: { position: number; blockedBy: string | undefined; slots: number },
): Waiting {
  const text =
    at.blockedBy === undefined
      ? `waits for ${slotsOf(candidate.weight, at.slots)} of ${at.slots} slots`
      : `waits for ${at.blockedBy}, which runs in the same concurrency group “${candidate.group ?? ''}”`;
  return {
    key: candidate.key,
    position: at.position,
    reason: { code: 'NoSlot', text },
    blockedBy: at.blockedBy,
  };
}
