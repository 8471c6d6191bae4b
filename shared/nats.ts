/**
 * The one place that imports the NATS client. What the rest of the code needs of it is a handful of functions with
 * Towline's settings: reconnect for ever, find dead links soon, never abort on a rejected login.
 */
import { connect, nkeyAuthenticator, type NatsConnection } from 'nats';
import {
  jetstream,
  jetstreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { limits } from './limits.ts';

export type { NatsConnection, Msg, Subscription } from 'nats';
export type {
  Consumer,
  ConsumerConfig,
  JetStreamClient,
  JetStreamManager,
  JsMsg,
  StoredMsg,
  StreamConfig,
} from '@nats-io/jetstream';
export { AckPolicy, DeliverPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
export { Kvm, type KV } from '@nats-io/kv';

export interface BrokerOptions {
  readonly servers: readonly string[];
  /** Seed of the user's nkey; read again at every connect, so that it may be replaced. */
  readonly seed: () => Uint8Array;
  readonly name: string;
}

/** Connects and stays connected. Rejects only when the first connect fails with something that will not pass. */
export function connectBroker(options: BrokerOptions): Promise<NatsConnection> {
  return connect({
    servers: [...options.servers],
    name: options.name,
    authenticator: (nonce) => nkeyAuthenticator(options.seed())(nonce),
    inboxPrefix: '_INBOX',
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: limits.reconnectWaitMs,
    reconnectJitter: limits.reconnectWaitMs,
    pingInterval: limits.pingIntervalMs,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    timeout: limits.requestTimeoutMs,
  });
}

export interface Jets {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

/** JetStream of a connection; `apiPrefix` for agents, whose account imports the hub's API under another name. */
export async function jetsOf(connection: NatsConnection, apiPrefix?: string): Promise<Jets> {
  const options = { timeout: limits.requestTimeoutMs, ...(apiPrefix === undefined ? {} : { apiPrefix }) };
  return {
    js: jetstream(connection, options),
    jsm: await jetstreamManager(connection, { ...options, checkAPI: false }),
  };
}

export type Expectation = { readonly lastSequence: number } | { readonly lastSubjectSequence: number };

export type Published =
  | { readonly kind: 'stored'; readonly sequence: number }
  /** Somebody else wrote in between; `last` is the sequence to build on, when the server says it. */
  | { readonly kind: 'conflict'; readonly last: number | undefined };

/** Compare-and-set publish. Rejects on a time-out: the message may or may not be stored, so read back. */
export async function publishExpecting(
  js: JetStreamClient,
  subject: string,
  publication: { readonly data: Uint8Array; readonly expect: Expectation; readonly messageId?: string },
): Promise<Published> {
  try {
    const ack = await js.publish(subject, publication.data, {
      expect: publication.expect,
      ...(publication.messageId === undefined ? {} : { msgID: publication.messageId }),
    });
    return { kind: 'stored', sequence: ack.seq };
  } catch (error) {
    if (!isWrongSequence(error)) throw error;
    return { kind: 'conflict', last: lastSequenceIn(error) };
  }
}

const WRONG_SEQUENCE: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
];

/** Somebody else wrote first. */
export const isWrongSequence = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError && WRONG_SEQUENCE.includes(error.code);

/** The server says "wrong last sequence: N". */
function lastSequenceIn(error: JetStreamApiError): number | undefined {
  const digits = /wrong last sequence: (\d+)/.exec(error.message)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
}

/** The newest message of every subject under `filter`, oldest first, read to its end. */
export async function readLastMessages(
  jets: Jets,
  stream: string,
  filter: string,
): Promise<readonly StoredMessage[]> {
  const consumer = await jets.js.consumers.get(stream, {
    filter_subjects: [filter],
    deliver_policy: 'last_per_subject' as never,
  });
  const found: StoredMessage[] = [];
  let pending = (await consumer.info()).num_pending;
  while (pending > 0) {
    const batch = await consumer.fetch({
      max_messages: Math.min(pending, 500),
      expires: limits.requestTimeoutMs,
    });
    for await (const message of batch) {
      found.push({ subject: message.subject, sequence: message.seq, data: message.data });
      pending = message.info.pending;
    }
  }
  await consumer.delete();
  return found;
}

/** A new user key pair. The seed stays where it was made. */
export function makeUserKey(): { readonly seed: string; readonly publicKey: string } {
  const pair = createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() };
}

/** The public key of a seed. */
export const publicKeyOf = (seed: string): string => fromSeed(new TextEncoder().encode(seed)).getPublicKey();
