/**
 * Follows one stream from its start. An ordered consumer goes on at the sequence after the last one, which is wrong for
 * a stream that was made again or restored: there it would wait for ever. So a follower never resumes. It ends, says
 * why, and its owner starts a new one from the start.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Consumer, DeliverPolicy, Jets, StoredMessage } from '../shared/nats.ts';

export interface FollowWish {
  readonly stream: string;
  readonly filter: string;
  /** `last_per_subject` or `all`. */
  readonly policy: DeliverPolicy;
}

export interface Following {
  /** True when the end of the stream was reached once; false when the follower ended before. */
  readonly caughtUp: Promise<boolean>;
  /** Why it ended. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** Messages of one pull. */
const BATCH = 1_000;
/** One pull, ms; missed heartbeats of half of it show a lost consumer. */
const PULL_MS = 30_000;
/** How often the end of the stream is asked for while it was not seen, ms: the last message may have been replaced. */
const END_CHECK_MS = 1_000;

/** After these the library resumes at a sequence, or not at all. */
const LOST: ReadonlySet<string> = new Set([
  'reset',
  'consumer_not_found',
  'stream_not_found',
  'consumer_deleted',
  'ordered_consumer_recreated',
  'no_responders',
]);

/** Rejects when the stream is not there or the broker does not answer. `onMessage` must not throw. */
export async function followStream(
  jets: Jets,
  wish: FollowWish,
  onMessage: (message: StoredMessage) => void,
): Promise<Following> {
  const consumer = await jets.js.consumers.get(wish.stream, {
    filter_subjects: [wish.filter],
    deliver_policy: wish.policy,
  });
  const { caughtUp, ended, reachedEnd, end } = makeSignals();
  const messages = await consumer.consume({
    max_messages: BATCH,
    expires: PULL_MS,
    abort_on_missing_resource: true,
    callback: (message) => {
      onMessage({ subject: message.subject, sequence: message.seq, data: message.data });
      if (message.info.pending === 0) reachedEnd();
    },
  });
  if ((await consumer.info(true)).num_pending === 0) reachedEnd();
  void endWhenLost(messages.status(), end);
  void messages.closed().then((error) => end(error instanceof Error ? error.message : 'closed'));
  void askForEnd(consumer, caughtUp.promise).then((reached) => (reached ? reachedEnd() : undefined));
  const stop = async (): Promise<void> => {
    end('stopped');
    // What cannot be deleted now, the server forgets by itself.
    void consumer.delete().catch(() => undefined);
    await messages.close();
  };
  return { caughtUp: caughtUp.promise, ended: ended.promise, stop };
}

interface Signals {
  readonly caughtUp: PromiseWithResolvers<boolean>;
  readonly ended: PromiseWithResolvers<string>;
  reachedEnd(): void;
  end(cause: string): void;
}

function makeSignals(): Signals {
  const caughtUp = Promise.withResolvers<boolean>();
  const ended = Promise.withResolvers<string>();
  return {
    caughtUp,
    ended,
    reachedEnd: () => caughtUp.resolve(true),
    end: (cause) => {
      caughtUp.resolve(false);
      ended.resolve(cause);
    },
  };
}

async function endWhenLost(
  statuses: AsyncIterable<{ readonly type: string }>,
  end: (cause: string) => void,
): Promise<void> {
  for await (const { type } of statuses) if (LOST.has(type)) end(type.replaceAll('_', ' '));
}

/** The answer comes on the same connection after everything that was delivered before it. */
async function askForEnd(consumer: Consumer, caughtUp: Promise<boolean>): Promise<boolean> {
  const done = new AbortController();
  void caughtUp.then(() => done.abort());
  while (!done.signal.aborted) {
    await wait(END_CHECK_MS, undefined, { signal: done.signal }).catch(() => undefined);
    if (done.signal.aborted) return false;
    const info = await consumer.info().catch(() => undefined);
    if (info?.num_pending === 0) return true;
  }
  return false;
}
