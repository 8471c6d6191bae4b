/** Says when to look again: soon after something happened at the hub, and from time to time. */
import { setTimeout as delay } from 'node:timers/promises';

/** How soon a stream that ended is opened again. */
const AGAIN_MS = 500;
/** Events that come within so long are looked at together. */
const GATHER_MS = 100;

/**
 * Resolves shortly after the next event, after `longestMs` without one, or when the signal is aborted. What happened
 * since the last time counts, so that nothing is missed while its owner looks.
 */
export type Wait = (longestMs: number, signal: AbortSignal) => Promise<void>;

export interface Pulse {
  /** One for each that waits. */
  waiter(): Wait;
}

/**
 * Listens to the events of the hub at `address` until the signal is aborted. A hub that starts again is listened to
 * again, and counts as an event.
 */
export function makePulse(address: string, signal: AbortSignal): Pulse {
  let count = 0;
  let next = Promise.withResolvers<void>();
  const beat = (): void => {
    count += 1;
    const waiting = next;
    next = Promise.withResolvers();
    waiting.resolve();
  };
  void listen(`${address}/v1/events`, beat, signal);
  return {
    waiter: () => {
      let seen = 0;
      return async (longestMs, during) => {
        if (count === seen) await first(next.promise, longestMs, during);
        await pause(GATHER_MS, during);
        seen = count;
      };
    },
  };
}

async function first(happened: Promise<void>, longestMs: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  await Promise.race([happened, pause(longestMs, AbortSignal.any([signal, over.signal]))]);
  over.abort();
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

/** Lines that keep the connection open are comments, no events. */
async function listen(url: string, beat: () => void, signal: AbortSignal): Promise<void> {
  const hear = (text: string): void => (/^event:/m.test(text) ? beat() : undefined);
  while (!signal.aborted) {
    try {
      const { body } = await fetch(url, { signal, headers: { accept: 'text/event-stream' } });
      for await (const chunk of body ?? []) hear(Buffer.from(chunk).toString());
    } catch {
      // It starts again, or is not there yet; the looks at its lists say so.
    }
    await pause(AGAIN_MS, signal);
  }
}
