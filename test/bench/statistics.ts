/** Figures of lists of measurements. Pure. */

export interface Summary {
  readonly count: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Throws when there is nothing to sum up: a bench that measured nothing must not look as if it did. */
export function summaryOf(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) throw new Error('nothing was measured');
  return { count: sorted.length, median: middleOf(sorted), min, max };
}

/** Of an even number of values: halfway between the two in the middle. */
function middleOf(sorted: readonly number[]): number {
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? 0)) / 2;
}

export interface Pair {
  readonly measured: number;
  readonly base: number;
}

/** Measured to base, pair by pair: what the machine did to both of a pair cancels out. */
export const ratiosOf = (pairs: readonly Pair[]): Summary =>
  summaryOf(pairs.map(({ measured, base }) => measured / base));

/** With so many digits behind the point. */
export const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
