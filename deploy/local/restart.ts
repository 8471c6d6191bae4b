/** What to do about a process of the fleet that ended although nobody asked it to. Pure. */

/** A process that lived so long was well: what happened before does not count any more. */
const WELL_AFTER_MS = 30_000;
const FIRST_DELAY_MS = 250;
const LAST_DELAY_MS = 10_000;
/** Exits in a row, together about ten seconds of waiting: then its own log says more than another start. */
const TRIES = 6;

/** How a process ended: by an exit of its own, by a signal from outside, or it never started. */
export type Ending =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'notStarted'; readonly error: string };

export type Restart =
  | { readonly kind: 'restart'; readonly delayMs: number; readonly inARow: number }
  | { readonly kind: 'giveUp' };

/**
 * `inARow`: endings before this one without a healthy life between. Who was killed comes back whatever the number; who
 * exits at every start is given up.
 */
export function afterEnd(ending: Ending, { aliveMs, inARow }: { aliveMs: number; inARow: number }): Restart {
  const count = aliveMs >= WELL_AFTER_MS ? 1 : inARow + 1;
  if (ending.kind !== 'signal' && count >= TRIES) return { kind: 'giveUp' };
  return {
    kind: 'restart',
    delayMs: Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** (count - 1)),
    inARow: count,
  };
}

/** For people. */
export function endingText(ending: Ending): string {
  switch (ending.kind) {
    case 'exit':
      return `ended with exit code ${ending.code}`;
    case 'signal':
      return `was ended by ${ending.signal}`;
    case 'notStarted':
      return `could not be started: ${ending.error}`;
  }
}
