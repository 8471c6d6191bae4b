/** Orders from the broker. A message is acknowledged when it is recorded, and that means: recorded, not done. */
import { setTimeout as delay } from 'node:timers/promises';
import { pauseAfter, scattered } from '../shared/backoff.ts';
import { limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import type { Consumer, JetStreamClient, JsMsg } from '../shared/nats.ts';
import { ORDER_CONSUMER, streams } from '../shared/subjects.ts';
import type { AtStep } from './steps.ts';

export interface ReceiveParts {
  readonly js: JetStreamClient;
  readonly account: string;
  /** Resolves when the message is recorded, whatever it is; rejects when it cannot be. */
  readonly take: (subject: string, data: Uint8Array) => Promise<void>;
  /** Nothing of the stream is pending or unacknowledged; called once. */
  readonly drained: () => void;
  readonly at: AtStep;
  readonly log: Log;
}

/** Pauses after a failed pull; the hub may not have made the consumer yet, or the broker may be away. */
const RETRY = { firstMs: 250, longestMs: 10_000 };

/** While the ledger is slow, the broker hears so often that the message is being worked on. */
const WORKING_MS = limits.ackWaitMs / 3;

/** Resolves after `signal` is aborted and what was being recorded is recorded. */
export async function receive(parts: ReceiveParts, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const consumer = await parts.js.consumers.get(streams.orders(parts.account), ORDER_CONSUMER);
      await drain(consumer, parts, { signal, healthy: () => (failures = 0) });
    } catch (error) {
      if (signal.aborted) return;
      parts.log.debug({ err: error, failures }, 'orders could not be pulled');
      const pause = scattered(pauseAfter(RETRY, failures), Math.random());
      failures += 1;
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function drain(
  consumer: Consumer,
  parts: ReceiveParts,
  { signal, healthy }: { readonly signal: AbortSignal; readonly healthy: () => void },
): Promise<void> {
  let info: { num_pending: number; num_ack_pending: number } = await consumer.info(true);
  let drained = false;
  while (!signal.aborted) {
    if (!drained && info.num_pending + info.num_ack_pending === 0) {
      drained = true;
      parts.drained();
    }
    const message = await nextOf(consumer, signal);
    healthy();
    if (message !== undefined) await record(message, parts);
    if (!drained && (message === undefined || message.info.pending === 0)) info = await consumer.info();
  }
}

/** One pull; undefined when it expired or was given up. An unanswered one ends with the connection at the latest. */
async function nextOf(consumer: Consumer, signal: AbortSignal): Promise<JsMsg | undefined> {
  const given = new AbortController();
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { signal: given.signal });
  });
  const pulled = consumer.next({ expires: limits.pullExpiryMs }).then((message) => message ?? undefined);
  pulled.catch(() => undefined);
  try {
    return await Promise.race([pulled, stopped]);
  } finally {
    given.abort();
  }
}

async function record(message: JsMsg, parts: ReceiveParts): Promise<void> {
  const working = setInterval(() => message.working(), WORKING_MS);
  try {
    await parts.take(message.subject, message.data);
  } finally {
    clearInterval(working);
  }
  await parts.at('orderRecorded');
  message.ack();
  await parts.at('orderAcked');
}
