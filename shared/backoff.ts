/** Pauses between tries that fail: doubled each time, up to a longest one. Pure. */

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause before the next try, ms, after so many failures in a row; `failures` counts from 0. */
export const pauseAfter = ({ firstMs, longestMs }: Backoff, failures: number): number =>
  Math.min(longestMs, firstMs * 2 ** failures);

/** Between half of a pause and the whole, so that a thousand do not come back at once. `random`: from 0 to below 1. */
export const scattered = (ms: number, random: number): number => ms * (0.5 + random / 2);
