/** Counts slots: p-limit holds one place for each slot that a piece of work takes, until the work is over. */
import pLimit from 'p-limit';

export interface Slots {
  readonly count: number;
  readonly free: number;
  /** Applies at once; what has started goes on. */
  resize(count: number): void;
  /** The work is under way already, such as a run that an earlier agent started: it counts, and never waits. */
  occupy(count: number, work: Promise<unknown>): void;
}

/** All slots are free at first. */
export function makeSlots(count: number): Slots {
  const limit = pLimit({ concurrency: count, rejectOnClear: true });
  return {
    get count() {
      return limit.concurrency;
    },
    get free() {
      return Math.max(0, limit.concurrency - limit.activeCount - limit.pendingCount);
    },
    resize: (next) => {
      if (next !== limit.concurrency) limit.concurrency = next;
    },
    occupy: (slots, work) => {
      const over = work.then(
        () => undefined,
        () => undefined,
      );
      for (let n = 0; n < slots; n += 1) void limit(() => over);
    },
  };
}
