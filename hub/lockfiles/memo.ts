/** Answers that are made when asked for, and once. */

/** Of one question. */
export function once<T extends NonNullable<unknown>>(make: () => T): () => T {
  let known: T | undefined;
  return () => (known ??= make());
}

/** Of a question about numbered things. */
export function memo<T extends NonNullable<unknown>>(make: (node: number) => T): (node: number) => T {
  const known: (T | undefined)[] = [];
  return (node) => (known[node] ??= make(node));
}
