/** Gathers items and hands them on in groups. */
export interface Gatherer<T> {
  add(item: T): void;
  /** Hands on what is there, now. */
  flush(): void;
  /** Hands on what is there; nothing is taken afterwards. */
  close(): void;
}

/** A group is handed on `ms` after its first item. Owns its timer until it is closed. */
export function makeGatherer<T>(ms: number, hand: (items: readonly T[]) => void): Gatherer<T> {
  let items: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const group = items;
    items = [];
    if (group.length > 0) hand(group);
  };
  return {
    add: (item) => {
      if (closed) return;
      items.push(item);
      timer ??= setTimeout(flush, ms);
    },
    flush,
    close: () => {
      closed = true;
      flush();
    },
  };
}
