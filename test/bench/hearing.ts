/** What the hub tells whoever listens to its events, with the time at which it was heard. */
import type { HubEvent } from '../../hub/api/events.ts';
import { atEnd, type Owner } from '../harness/owned.ts';
import { parseEvents } from './sse.ts';

export interface Heard {
  readonly event: HubEvent;
  /** ms since the epoch. */
  readonly at: number;
}

export interface Hearing {
  /** The first event that matches, of those that were heard and those that come. Rejects when none comes in time. */
  heard(what: string, match: (event: HubEvent) => boolean): Promise<Heard>;
}

/** A whole run on a machine under load. */
const PATIENCE_MS = 60_000;

/** Listens until its owner ends. */
export async function hear(owner: Owner, base: string): Promise<Hearing> {
  const stop = new AbortController();
  atEnd(owner, () => stop.abort());
  const response = await fetch(`${base}/v1/events`, { signal: stop.signal });
  if (response.body === null) throw new Error('the hub sends no events');
  const all: Heard[] = [];
  const waiting = new Set<() => void>();
  const listen = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const event of parseEvents(body)) {
      all.push({ event, at: Date.now() });
      for (const look of waiting) look();
    }
  };
  void listen(response.body).catch(() => undefined);
  const heard = (what: string, match: (event: HubEvent) => boolean): Promise<Heard> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look);
        reject(new Error(`waited ${PATIENCE_MS} ms to hear of ${what}`));
      }, PATIENCE_MS);
      const look = (): void => {
        const found = all.find(({ event }) => match(event));
        if (found === undefined) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { heard };
}
