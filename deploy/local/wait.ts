/** Waiting for the parts of a fleet. */
import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks: short beside what a person notices, long beside what a look costs. */
const LOOK_EVERY_MS = 100;

/**
 * Looks until there is an answer. Rejects with the signal's reason when it is aborted, and with `what` after
 * `limitMs`. A look that throws counts as no answer yet.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { signal, limitMs }: { signal: AbortSignal; limitMs: number },
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (let last: unknown; ;) {
    signal.throwIfAborted();
    try {
      const answer = await look();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline)
      throw new Error(`${what} after ${limitMs / 1_000} s`, last === undefined ? {} : { cause: last });
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
