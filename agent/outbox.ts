/** Sends until it was acknowledged: whatever fails is tried again, with growing pauses, until the process ends. */
import pLimit, { type LimitFunction } from 'p-limit';
import { pauseAfter, scattered, type Backoff } from '../shared/backoff.ts';

export interface Outbox {
  /** `send` resolves when the broker has it. It replaces what waits under the same key. */
  put(key: string, send: () => Promise<void>): void;
  /** Whether something under this key waits or is under way. */
  has(key: string): boolean;
  /** How much is not acknowledged. */
  readonly size: number;
  /** The way may be free again: tries everything at once. */
  wake(): void;
  /** Resolves when nothing is left to send, or when `signal` is aborted. */
  idle(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface Pauses extends Backoff {
  /** Hears why something was not sent. */
  readonly onError: (key: string, error: unknown) => void;
}

/** Requests that are under way at once (a broker answers a thousand a second; more would only queue up there). */
const AT_ONCE = 8;

interface Item {
  send: () => Promise<void>;
  busy: boolean;
}

interface Sending {
  readonly pauses: Pauses;
  readonly items: Map<string, Item>;
  readonly turns: LimitFunction;
  readonly idlers: Set<() => void>;
  /** Rounds in a row that failed. */
  failures: number;
  /** While it is set, nothing new is tried. */
  timer: NodeJS.Timeout | undefined;
  closed: boolean;
}

/** Own timers: close it. */
export function makeOutbox(pauses: Pauses): Outbox {
  const o: Sending = {
    pauses,
    items: new Map(),
    turns: pLimit({ concurrency: AT_ONCE, rejectOnClear: true }),
    idlers: new Set(),
    failures: 0,
    timer: undefined,
    closed: false,
  };
  return {
    put: (key, send) => put(o, key, send),
    has: (key) => o.items.has(key),
    get size() {
      return o.items.size;
    },
    wake: () => {
      o.failures = 0;
      tryAll(o);
    },
    idle: (signal) => idle(o, signal),
    close: () => {
      o.closed = true;
      clearTimeout(o.timer);
      o.turns.clearQueue();
    },
  };
}

function put(o: Sending, key: string, send: () => Promise<void>): void {
  if (o.closed) return;
  const item = o.items.get(key) ?? { send, busy: false };
  item.send = send;
  o.items.set(key, item);
  if (!item.busy && o.timer === undefined) start(o, key, item);
}

function tryAll(o: Sending): void {
  clearTimeout(o.timer);
  o.timer = undefined;
  for (const [key, item] of o.items) if (!item.busy) start(o, key, item);
}

function start(o: Sending, key: string, item: Item): void {
  item.busy = true;
  o.turns(() => attempt(o, key, item)).catch((error: unknown) => o.pauses.onError(key, error));
}

async function attempt(o: Sending, key: string, item: Item): Promise<void> {
  if (o.closed) return;
  const { send } = item;
  try {
    await send();
    o.failures = 0;
    item.busy = false;
    if (item.send === send) o.items.delete(key);
    else start(o, key, item);
  } catch (error) {
    item.busy = false;
    o.pauses.onError(key, error);
    pause(o);
  }
  if (o.items.size === 0) for (const tell of o.idlers) tell();
}

function pause(o: Sending): void {
  if (o.timer !== undefined || o.closed) return;
  const pauseMs = scattered(pauseAfter(o.pauses, o.failures), Math.random());
  o.timer = setTimeout(() => tryAll(o), pauseMs);
  o.failures += 1;
}

function idle(o: Sending, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (o.items.size === 0 || signal.aborted) return resolve();
    const done = (): void => {
      o.idlers.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    o.idlers.add(done);
    signal.addEventListener('abort', done);
  });
}
