/** Counts by one label. */

export interface Tally {
  /** What is counted, for people. */
  readonly doc: string;
  readonly counts: ReadonlyMap<string, number>;
  add(value: string): void;
}

/** Nothing is counted yet. The values come from a union of ours, so they are few. */
export function makeTally(doc: string): Tally {
  const counts = new Map<string, number>();
  return { doc, counts, add: (value) => void counts.set(value, (counts.get(value) ?? 0) + 1) };
}
