/** Gathers items and hands them on in groups. */
export interface Gatherer<T> {
  add(item: T): void;
  /** Hands on what is there, now. */
  flush(): void;
  /** Hands on what is there; nothing is taken afterwards. */
  close(): void;
}

/**
 * Hands a group on at once, but not within `ms` after the one before: what comes alone does not wait, and a flood costs
 * one group in `ms`. Owns its timer until it is closed.
 */
export function makeGatherer<T>(ms: number, hand: (items: readonly T[]) => void): Gatherer<T> {
  let items: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let quietUntil = 0;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const group = items;
    items = [];
    if (group.length === 0) return;
    hand(group);
    quietUntil = performance.now() + ms;
  };
  return {
    add: (item) => {
      if (closed) return;
      items.push(item);
      timer ??= setTimeout(flush, Math.max(0, quietUntil - performance.now()));
    },
    flush,
    close: () => {
      closed = true;
      flush();
    },
  };
}
