/** “Did you mean”: the word of a list that a misspelt one is closest to. */

/** The closest candidate within a third of the word's length, or none. Case counts for nothing. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const bound = Math.max(1, Math.floor(word.length / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > bound) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= bound && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(swapped ? Math.min(cost, (beforeLast[column - 2] ?? 0) + 1) : cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}

/** More words than these are not searched: a hint for each of many mistakes must not hold up what is right. */
const SEARCHED = 200;

/** `; did you mean “dir”?`, or nothing; nothing as well where there are very many candidates. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const all = [...candidates];
  const found = all.length > SEARCHED ? undefined : nearest(word, all);
  return found === undefined ? '' : `; did you mean “${found}”?`;
}
