/** Sends until it was acknowledged: whatever fails is tried again, with growing pauses, until the process ends. */
import pLimit from 'p-limit';

export interface Outbox {
  /** `send` resolves when the broker has it. It replaces what waits under the same key. */
  put(key: string, send: () => Promise<void>): void;
  /** How much is not acknowledged. */
  readonly size: number;
  /** The way may be free again: tries everything at once. */
  wake(): void;
  /** Resolves when nothing is left to send, or when `signal` is aborted. */
  idle(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Hears why something was not sent. */
  readonly onError: (key: string, error: unknown) => void;
}

/** Requests that are under way at once (a broker answers a thousand a second; more would only queue up there). */
const AT_ONCE = 8;

interface Item {
  send: () => Promise<void>;
  busy: boolean;
}

/** Own timers: close it. */
export function makeOutbox(pauses: Pauses): Outbox {
  const items = new Map<string, Item>();
  const turns = pLimit({ concurrency: AT_ONCE, rejectOnClear: true });
  const listeners = new Set<() => void>();
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const kick = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [key, item] of items) if (!item.busy) start(key, item);
  };
  const later = (): void => {
    if (timer !== undefined || closed) return;
    const pause = Math.min(pauses.longestMs, pauses.firstMs * 2 ** Math.min(failures, 16));
    failures += 1;
    timer = setTimeout(kick, pause * (0.5 + Math.random() / 2));
  };
  const start = (key: string, item: Item): void => {
    item.busy = true;
    turns(() => attempt(key, item)).catch((error: unknown) => pauses.onError(key, error));
  };
  const attempt = async (key: string, item: Item): Promise<void> => {
    if (closed) return;
    const { send } = item;
    try {
      await send();
      failures = 0;
      item.busy = false;
      if (item.send === send) items.delete(key);
      else start(key, item);
    } catch (error) {
      item.busy = false;
      pauses.onError(key, error);
      later();
    }
    if (items.size === 0) for (const tell of listeners) tell();
  };
  return {
    put: (key, send) => {
      if (closed) return;
      const item = items.get(key) ?? { send, busy: false };
      item.send = send;
      items.set(key, item);
      if (!item.busy && timer === undefined) start(key, item);
    },
    get size() {
      return items.size;
    },
    wake: () => {
      failures = 0;
      kick();
    },
    idle: (signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          listeners.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        if (items.size === 0 || signal.aborted) return resolve();
        listeners.add(done);
        signal.addEventListener('abort', done);
      }),
    close: () => {
      closed = true;
      clearTimeout(timer);
      turns.clearQueue();
    },
  };
}
