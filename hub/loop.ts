/** Passes, one after the other: at their time, or at once when something woke the loop while one was running. */
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../shared/limits.ts';
import type { PassEnd } from './poll.ts';

/** Pause after a pass that failed, doubled up to the greatest. */
const RETRY_MS = 250;
const MAX_RETRY_MS = 15_000;
/** A pass that could not decide yet is tried again so soon. */
const WAITING_MS = 1_000;

export interface LoopEdges {
  pass(run: { readonly now: number; readonly dirty: boolean }): Promise<PassEnd>;
  /** When the next pass is due without any cause, ms. */
  nextDue(): number;
  /** A pass threw: nothing that was read before may be trusted. */
  onError(error: unknown): void;
  clock(): number;
}

export interface Loop {
  /** Starts a pass at once, or right after the one that runs. `dirty`: something besides Git may have changed. */
  wake(dirty: boolean): void;
  readonly done: Promise<void>;
}

/** Runs until `signal` is aborted; a pass that runs is waited for. */
export function runLoop(edges: LoopEdges, signal: AbortSignal): Loop {
  let dirty = true;
  let woken = true;
  let failures = 0;
  let sleep = new AbortController();
  const wake = (more: boolean): void => {
    dirty ||= more;
    woken = true;
    sleep.abort();
  };
  signal.addEventListener('abort', () => sleep.abort(), { once: true });

  const once = async (): Promise<number> => {
    const run = { now: edges.clock(), dirty };
    dirty = false;
    woken = false;
    try {
      const end = await edges.pass(run);
      failures = 0;
      dirty ||= run.dirty && (end.kind === 'waiting' || end.kind === 'conflict' || end.kind === 'following');
      return pauseAfter(end, edges);
    } catch (error) {
      dirty = true;
      edges.onError(error);
      return Math.min(RETRY_MS * 2 ** failures++, MAX_RETRY_MS);
    }
  };

  const done = (async () => {
    while (!signal.aborted) {
      const pause = await once();
      if (woken || signal.aborted) continue;
      sleep = new AbortController();
      await wait(Math.min(Math.max(0, pause), limits.pollBackoffMaxMs), undefined, {
        signal: sleep.signal,
      }).catch(() => undefined);
    }
  })();
  return { wake, done };
}

function pauseAfter(end: PassEnd, edges: LoopEdges): number {
  const due = Math.max(0, edges.nextDue() - edges.clock());
  switch (end.kind) {
    case 'conflict':
      return RETRY_MS;
    case 'waiting':
      return Math.min(WAITING_MS, due);
    case 'planned':
    case 'idle':
    case 'following':
      return due;
  }
}
