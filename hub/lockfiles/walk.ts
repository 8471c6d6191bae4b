/** Walks over the entries of a lockfile, which are named by their places in it. */

/** Places that a place leads to. */
export type Next = (place: number) => readonly number[];

/** All places that some places lead to, themselves included. */
export function reach(next: Next, from: Iterable<number>): ReadonlySet<number> {
  const seen = new Set(from);
  // a set that grows is walked to its new end
  for (const place of seen) for (const one of next(place)) seen.add(one);
  return seen;
}

/** What stands at some places of a list, in the list's order. */
export const inOrder = <T>(all: readonly T[], places: Iterable<number>): readonly T[] =>
  Array.from(Uint32Array.from(places).sort(), (place) => all[place] as T);
