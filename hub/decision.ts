/** What a pass decided for each placement at a commit, and why. Kept, so that "nothing happened" can be explained. */
import type { Reason } from '../shared/outcome.ts';
import type { StackRef } from '../shared/subjects.ts';
import type { Commit } from './git/source.ts';

/**
 * `run`: an order that starts work. `policy`: an order that changes how, and starts nothing. `hold`: waits for what its
 * reasons say. `unchanged`: the order in force already says it. `refused`: the manifest cannot be planned, the order in
 * force stays. `forget`: a committed removal that keeps the resources. `waiting`: not decided, something is not read yet.
 */
export const VERDICTS = ['run', 'policy', 'hold', 'unchanged', 'refused', 'forget', 'waiting'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The decision about one placement in one pass. */
export interface Decision {
  readonly cluster: string;
  readonly stack: StackRef;
  readonly verdict: Verdict;
  readonly reasons: readonly Reason[];
  /** Generation of the order that was published for it, or of the one that stays in force. */
  readonly gen?: number;
}

/** A commit that a pass planned, with what it started, held or left alone. */
export interface PlannedCommit {
  readonly repository: string;
  /** The watched ref, as in `refs/heads/main`. */
  readonly ref: string;
  readonly commit: Commit;
  /** Time of the pass, ms. */
  readonly plannedAt: number;
  readonly decisions: readonly Decision[];
  /** Orders published by the pass. */
  readonly orders: number;
  /** How many placements met which verdict; kept when decisions that repeat the standing one are left out. */
  readonly counts?: Readonly<Partial<Record<Verdict, number>>>;
}

/** A decision with the commit at which it was made. */
export interface DecidedAt {
  readonly decision: Decision;
  readonly commit: string;
  /** ms. */
  readonly at: number;
}
