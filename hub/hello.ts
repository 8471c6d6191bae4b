/** Answers hellos, and keeps what they showed until the next pass has dealt with it. Only the leader answers. */
import type { Log } from '../shared/log.ts';
import type { Msg, NatsConnection, Subscription } from '../shared/nats.ts';
import { accountOfCall, hubSubjects } from '../shared/subjects.ts';
import { decode, encode, helloSchema, type Hello } from '../shared/wire.ts';
import type { Asked } from './poll.ts';
import { answerHello, type HelloContext } from './resync.ts';

export interface HelloEdges {
  readonly connection: NatsConnection;
  readonly log: Log;
  leads(now: number): boolean;
  /** The state of a cluster's account; undefined while the book or the board is not read. */
  contextOf(account: string): Promise<Omit<HelloContext, 'suspects' | 'now'> | undefined>;
  /** Something has to be published again. */
  onAsked(): void;
  clock(): number;
}

export interface Hellos {
  /** What agents lack, until it is published. */
  asked(): Asked;
  /** These placements were published. */
  settle(keys: Iterable<string>): void;
  close(): Promise<void>;
}

/** No answer that an agent understands: it asks again soon instead of waiting for its time limit. */
const NOT_YET = new Uint8Array();

/** Listens for hellos of all clusters. */
export function answerHellos(edges: HelloEdges): Hellos {
  const suspects = new Map<string, ReadonlyMap<string, number>>();
  /** By account, of its last list: what a list no longer names is not kept. */
  const seen = new Map<string, ReadonlyMap<string, number>>();
  const republish = new Map<string, string>();

  const answer = async (account: string, hello: Hello): Promise<Uint8Array | undefined> => {
    const context = await edges.contextOf(account);
    if (context === undefined) return undefined;
    const now = edges.clock();
    const outcome = answerHello(hello, { ...context, now, suspects: suspects.get(account) ?? new Map() });
    suspects.set(account, outcome.suspects);
    if (hello.list !== undefined) seen.set(account, outcome.seenGen);
    for (const [key, why] of outcome.republish) republish.set(key, why);
    if (outcome.republish.size > 0) edges.onAsked();
    return encode(outcome.answer);
  };

  const onMessage = async (message: Msg): Promise<void> => {
    if (!edges.leads(edges.clock())) return;
    const read = decode(helloSchema, message.data);
    const account = accountOfCall(message.subject);
    if (read.kind !== 'message') {
      edges.log.warn({ account, problem: read.kind }, 'hello not understood');
      return;
    }
    message.respond((await answer(account, read.message)) ?? NOT_YET);
  };

  const subscription = edges.connection.subscribe(hubSubjects.hellos);
  const done = serve(subscription, (message) =>
    onMessage(message).catch((error: unknown) => edges.log.warn({ err: error }, 'hello not answered')),
  );
  return {
    asked: () => ({ seenGen: new Map([...seen.values()].flatMap((gens) => [...gens])), republish }),
    settle: (keys) => {
      for (const key of keys) republish.delete(key);
    },
    close: async () => {
      subscription.unsubscribe();
      await done;
    },
  };
}

/** One at a time: the state between two hellos of one cluster must not race. */
async function serve(subscription: Subscription, handle: (message: Msg) => Promise<void>): Promise<void> {
  for await (const message of subscription) await handle(message);
}
