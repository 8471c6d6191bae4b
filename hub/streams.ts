/**
 * The hub's streams: made when they are missing, read to their end, written by compare-and-set.
 *
 * Every order is published against the last sequence of its whole stream. So a leader that has not seen the newest
 * state, an old one that wakes up for example, is refused on every subject.
 */
import { limits } from '../shared/limits.ts';
import {
  AckPolicy,
  DiscardPolicy,
  publishExpecting,
  readLastMessages,
  RetentionPolicy,
  StorageType,
  type Jets,
  type StreamConfig,
} from '../shared/nats.ts';
import { ARTIFACT_STREAM, hubSubjects, ORDER_CONSUMER, stackOfOrder, streams } from '../shared/subjects.ts';
import {
  clusterOrderSchema,
  decode,
  encode,
  orderSchema,
  type ClusterOrder,
  type Order,
} from '../shared/wire.ts';
import { placementKey } from './placement.ts';

/** Bytes of reports, runs and logs of one cluster: no cluster can fill the disk for the others. */
const STATE_BYTES = 256 * 1024 * 1024;
const LOG_BYTES = 1024 * 1024 * 1024;
/** Publishes in flight at once against one stream. */
const WINDOW = 128;
const NANOSECONDS = 1_000_000;

/** An order stream as it was read. */
export interface OrderStream {
  readonly account: string;
  readonly lastSequence: number;
  /** By placement key. */
  readonly orders: ReadonlyMap<string, Order>;
  readonly cluster?: ClusterOrder;
}

export interface OrderMessage {
  readonly subject: string;
  readonly data: Uint8Array;
}

const common = { retention: RetentionPolicy.Limits, storage: StorageType.File, num_replicas: 1 };

function wantedStreams(account: string): (Partial<StreamConfig> & { name: string })[] {
  return [
    {
      ...common,
      name: streams.orders(account),
      subjects: [hubSubjects.orders(account)],
      max_msgs_per_subject: 1,
    },
    {
      ...common,
      name: streams.state(account),
      subjects: [hubSubjects.reports(account)],
      max_msgs_per_subject: 1,
      max_bytes: STATE_BYTES,
      discard: DiscardPolicy.New,
    },
    {
      ...common,
      name: streams.runs(account),
      subjects: [hubSubjects.runs(account)],
      max_msgs_per_subject: limits.keptRuns,
      max_bytes: STATE_BYTES,
      discard: DiscardPolicy.Old,
    },
    {
      ...common,
      name: streams.logs(account),
      subjects: [hubSubjects.logs(account)],
      max_age: limits.logKeepMs * NANOSECONDS,
      max_bytes: LOG_BYTES,
      discard: DiscardPolicy.Old,
    },
  ];
}

const artifactStream: Partial<StreamConfig> & { name: string } = {
  ...common,
  name: ARTIFACT_STREAM,
  subjects: [hubSubjects.artifacts],
  max_msgs_per_subject: 1,
  allow_direct: true,
  discard: DiscardPolicy.New,
};

/** Makes the stream of artifacts, if it is missing. */
export const ensureArtifactStream = async ({ jsm }: Jets): Promise<void> => {
  await jsm.streams.add(artifactStream);
};

/** Makes what one cluster needs, where it is missing; what is there stays. */
export async function ensureAccount({ jsm }: Jets, account: string): Promise<void> {
  for (const config of wantedStreams(account)) await jsm.streams.add(config);
  await jsm.consumers.add(streams.orders(account), {
    durable_name: ORDER_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: limits.ackWaitMs * NANOSECONDS,
    max_ack_pending: 100,
    filter_subject: hubSubjects.orders(account),
  });
}

/** Accounts that have an order stream, also those of clusters that no manifest names any more. */
export async function listAccounts({ jsm }: Jets): Promise<readonly string[]> {
  const accounts: string[] = [];
  for await (const name of jsm.streams.names('orders.>')) accounts.push(name);
  return accounts;
}

/** Reads an order stream to its end. Messages that are not orders of ours are left out. */
export async function readOrderStream(jets: Jets, account: string): Promise<OrderStream> {
  const info = await jets.jsm.streams.info(streams.orders(account));
  const messages = await readLastMessages(jets, streams.orders(account), hubSubjects.orders(account));
  const orders = new Map<string, Order>();
  let cluster: ClusterOrder | undefined;
  for (const message of messages) {
    if (stackOfOrder(message.subject) === undefined) {
      const read = decode(clusterOrderSchema, message.data);
      if (read.kind === 'message') cluster = read.message;
    } else {
      const read = decode(orderSchema, message.data);
      if (read.kind === 'message') orders.set(placementKey(read.message), read.message);
    }
  }
  const lastSequence = Math.max(info.state.last_seq, messages.at(-1)?.sequence ?? 0);
  return { account, lastSequence, orders, ...(cluster === undefined ? {} : { cluster }) };
}

export type Publishing =
  { readonly kind: 'stored'; readonly lastSequence: number } | { readonly kind: 'conflict' };

/** Publishes in order against `lastSequence`; the first refusal ends it, and what follows is refused by the server. */
export async function publishOrders(
  { js }: Jets,
  lastSequence: number,
  messages: readonly OrderMessage[],
): Promise<Publishing> {
  let sequence = lastSequence;
  for (let start = 0; start < messages.length; start += WINDOW) {
    const batch = messages.slice(start, start + WINDOW);
    const base = sequence;
    const results = await Promise.all(
      batch.map((message, n) =>
        publishExpecting(js, message.subject, { data: message.data, expect: { lastSequence: base + n } }),
      ),
    );
    if (results.some((result) => result.kind === 'conflict')) return { kind: 'conflict' };
    sequence += batch.length;
  }
  return { kind: 'stored', lastSequence: sequence };
}

/** An order on its subject. */
export const orderMessage = (account: string, order: Order): OrderMessage => ({
  subject: hubSubjects.order(account, order.stack),
  data: encode(order),
});

/** A cluster's own message on its subject. */
export const clusterMessage = (account: string, order: ClusterOrder): OrderMessage => ({
  subject: hubSubjects.clusterOrder(account),
  data: encode(order),
});

/** Whether the agent has taken everything that its stream holds. */
export async function isDrained({ jsm }: Jets, account: string): Promise<boolean> {
  const info = await jsm.consumers.info(streams.orders(account), ORDER_CONSUMER);
  return info.num_pending === 0 && info.num_ack_pending === 0;
}
