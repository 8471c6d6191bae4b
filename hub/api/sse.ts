/** Server-sent events as text, and streams of them. */
import { setTimeout as wait } from 'node:timers/promises';
import type { LogChunk } from '../../shared/wire.ts';
import { whenAborted } from '../aborted.ts';
import type { EventLog, HubEvent } from './events.ts';

/** A comment line goes out when nothing else did for so long, ms: proxies close silent connections after 30 s or more. */
export const HEARTBEAT_MS = 15_000;
/** How soon a client comes back, ms. */
const RETRY_MS = 2_000;

/** One event; `data` has no line breaks, since it is JSON. */
export const sseEvent = (event: {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}): string =>
  `${event.id === undefined ? '' : `id: ${event.id}\n`}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;

export interface EventWish {
  readonly lastEventId: string | undefined;
  matches(event: HubEvent): boolean;
  readonly signal: AbortSignal;
}

/**
 * Events after the given one, or from now on. A reader that was away for too long, or is too slow, first gets `reset`:
 * it then reads the lists again. Holds nothing for slow readers; ends when aborted.
 */
export async function* eventStream(log: EventLog, wish: EventWish): AsyncGenerator<string, void, undefined> {
  const aborted = whenAborted(wish.signal);
  let position = wish.lastEventId ?? log.last;
  yield `retry: ${RETRY_MS}\n\n${sseEvent({ id: position, event: 'hello', data: {} })}`;
  while (!wish.signal.aborted) {
    const next = log.next();
    const events = log.after(position);
    position = log.last;
    if (events === undefined) yield sseEvent({ id: position, event: 'reset', data: {} });
    const text = (events ?? [])
      .filter(({ event }) => wish.matches(event))
      .map(({ id, event }) => sseEvent({ id, event: event.kind, data: event }))
      .join('');
    if (text !== '') yield text;
    if (events?.length === 0) await Promise.race([next, aborted]);
  }
}

/** The same with a comment after each silence of `everyMs`. Ends when aborted, even if the source hangs. */
export async function* withHeartbeats(
  source: AsyncIterable<string>,
  { signal, everyMs = HEARTBEAT_MS }: { readonly signal: AbortSignal; readonly everyMs?: number },
): AsyncGenerator<string, void, undefined> {
  const parts = source[Symbol.asyncIterator]();
  const aborted = whenAborted(signal);
  try {
    let pending = parts.next();
    for (;;) {
      const part = await partOrSilence(pending, aborted, everyMs);
      if (signal.aborted || part?.done === true) return;
      yield part?.value ?? ': still here\n\n';
      if (part !== undefined) pending = parts.next();
    }
  } finally {
    void parts.return?.(undefined)?.catch(() => undefined);
  }
}

/** Undefined: nothing came for so long, or it was aborted. */
async function partOrSilence(
  pending: Promise<IteratorResult<string>>,
  aborted: Promise<undefined>,
  everyMs: number,
): Promise<IteratorResult<string> | undefined> {
  const over = new AbortController();
  const quiet = wait(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
  const part = await Promise.race([pending, quiet, aborted]).finally(() => over.abort());
  return part;
}

/** A log as events: `lines` with its number as id, and `end` after the last. Skips what the reader has. */
export async function* logStream(
  chunks: AsyncIterable<LogChunk>,
  lastEventId: string | undefined,
): AsyncGenerator<string, void, undefined> {
  const have = /^\d+$/.test(lastEventId ?? '') ? Number(lastEventId) : -1;
  yield `retry: ${RETRY_MS}\n\n`;
  for await (const { n, lines, last } of chunks) {
    if (n > have) yield sseEvent({ id: String(n), event: 'lines', data: { n, lines } });
    if (last) yield sseEvent({ event: 'end', data: { n } });
  }
}
