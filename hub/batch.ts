/** Gathers changes and writes them by one write at a time. */
import { setTimeout as wait } from 'node:timers/promises';

export interface Batch {
  /** Something about these keys is to be written; without keys, what belongs to none. */
  touch(keys: Iterable<string>): void;
  /** Resolves when everything touched so far is written; rejects when that failed, and it stays to be written. */
  flush(): Promise<void>;
  /** Flushes; nothing is written afterwards. */
  close(): Promise<void>;
}

export interface BatchOptions {
  readonly write: (keys: ReadonlySet<string>) => Promise<void>;
  /** Least time between the end of a write and the next one that nobody waits for, ms. */
  readonly intervalMs: number;
  /** A write that nobody waited for failed; it is tried again after the interval. */
  readonly onError: (error: unknown) => void;
}

/** A batch owns its timer until it is closed. */
export function makeBatch({ write, intervalMs, onError }: BatchOptions): Batch {
  let dirty: Set<string> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let scheduled = false;
  const closing = new AbortController();

  const touch = (keys: Iterable<string>): void => {
    dirty ??= new Set();
    for (const key of keys) dirty.add(key);
    schedule();
  };
  const schedule = (): void => {
    if (scheduled || closing.signal.aborted) return;
    scheduled = true;
    wait(intervalMs, undefined, { signal: closing.signal, ref: false })
      .then(flush)
      .catch((error: unknown) => {
        if (!closing.signal.aborted) onError(error);
      })
      .finally(() => {
        scheduled = false;
        if (dirty !== undefined) schedule();
      });
  };
  const flush = (): Promise<void> => {
    const next = writing.then(async () => {
      const taken = dirty;
      if (taken === undefined) return;
      dirty = undefined;
      try {
        await write(taken);
      } catch (error) {
        dirty = new Set([...taken, ...(dirty ?? [])]);
        throw error;
      }
    });
    writing = next.catch(() => undefined);
    return next;
  };
  const close = (): Promise<void> => {
    closing.abort();
    return flush();
  };
  return { touch, flush, close };
}
