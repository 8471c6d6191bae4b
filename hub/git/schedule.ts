/** When a repository is polled next. Pure. */
import { createHash } from 'node:crypto';
import { limits } from '../../shared/limits.ts';

export interface PollOutcome {
  readonly name: string;
  readonly intervalMs: number;
  /** Failed polls in a row; 0: the last one worked. */
  readonly failures: number;
  readonly retryAfterMs?: number;
  /** From 0 to below 1, for the jitter of a back-off. */
  readonly random: number;
}

/**
 * After a success: the next slot of the repository, whose phase comes from its name, so that a thousand repositories
 * are spread evenly and stay so over restarts. After failures: the interval doubled each time, jittered by a half, never
 * less than the remote asked for.
 */
export function nextPoll(now: number, outcome: PollOutcome): number {
  const { name, intervalMs, failures } = outcome;
  if (failures === 0) {
    const phase = phaseOf(name, intervalMs);
    return now - mod(now - phase, intervalMs) + intervalMs;
  }
  const full = Math.min(limits.pollBackoffMaxMs, intervalMs * 2 ** Math.min(failures - 1, 30));
  const backoff = full * (0.5 + outcome.random / 2);
  const asked = Math.min(outcome.retryAfterMs ?? 0, limits.retryAfterMaxMs);
  return now + Math.ceil(Math.max(backoff, asked));
}

const phaseOf = (name: string, intervalMs: number): number =>
  createHash('sha256').update(name).digest().readUInt32BE(0) % intervalMs;

const mod = (value: number, by: number): number => ((value % by) + by) % by;
