/** Placements that wait before they try again. In memory: after a restart they try at once. */
import { pauseAfter } from '../shared/backoff.ts';
import type { Reason } from '../shared/outcome.ts';
import type { LockHolder } from './executor.ts';

export interface Pause {
  readonly gen: number;
  readonly since: number;
  readonly until: number;
  readonly reason: Reason;
  readonly lock?: LockHolder;
}

export interface Pauses {
  /** Undefined when it may go on: the pause is over, or was for another generation. */
  get(key: string, gen: number, now: number): Pause | undefined;
  /** Something outside is not ready. */
  wait(
    key: string,
    gen: number,
    wait: {
      readonly reason: Reason;
      readonly retryMs: number;
      readonly lock?: LockHolder;
      readonly now: number;
    },
  ): void;
  /** The agent itself failed, as on a full disk: tried again with growing pauses. */
  broken(key: string, gen: number, now: number): void;
  clear(key: string): void;
}

const BROKEN = { firstMs: 1_000, longestMs: 60_000 };

/** Nothing waits at first. */
export function makePauses(): Pauses {
  const pauses = new Map<string, Pause>();
  const failures = new Map<string, number>();
  return {
    get: (key, gen, now) => {
      const pause = pauses.get(key);
      // a clock that was put back must not make a pause of seconds one of hours
      const lasts = pause !== undefined && pause.since <= now && pause.until > now;
      return lasts && pause.gen === gen ? pause : undefined;
    },
    wait: (key, gen, { reason, retryMs, lock, now }) => {
      pauses.set(key, {
        gen,
        since: now,
        until: now + retryMs,
        reason,
        ...(lock === undefined ? {} : { lock }),
      });
    },
    broken: (key, gen, now) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const until = now + pauseAfter(BROKEN, count);
      const text = 'the agent could not carry it out and tries again; its log says why';
      pauses.set(key, { gen, since: now, until, reason: { code: 'BackingOff', text } });
    },
    clear: (key) => {
      pauses.delete(key);
      failures.delete(key);
    },
  };
}
