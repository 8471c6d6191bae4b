/**
 * The one place that imports the NATS client. What the rest of the code needs of it is a handful of functions with
 * Towline's settings: reconnect for ever, find dead links soon, never abort on a rejected login.
 */
import { connect, nkeyAuthenticator, type Authenticator, type NatsConnection } from 'nats';
import {
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
  type Consumer,
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
  /** False: rejects when the first connect fails, for a caller that must be able to stop trying. */
  readonly waitOnFirstConnect?: boolean;
}

/**
 * Connects and stays connected: neither a server that is away nor one that knows another key ends the attempts. Rejects
 * when the first seed cannot be read or is none; of later ones the last good one goes on being used.
 */
export async function connectBroker(options: BrokerOptions): Promise<NatsConnection> {
  return connect({
    servers: [...options.servers],
    name: options.name,
    authenticator: authenticatorOf(options.seed),
    inboxPrefix: '_INBOX',
    maxReconnectAttempts: -1,
    waitOnFirstConnect: options.waitOnFirstConnect ?? true,
    reconnectTimeWait: limits.reconnectWaitMs,
    reconnectJitter: limits.reconnectWaitMs,
    pingInterval: limits.pingIntervalMs,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    timeout: limits.requestTimeoutMs,
  });
}

/** An authenticator that throws closes the connection for good, and a file that is just being replaced may not be whole. */
function authenticatorOf(read: () => Uint8Array): Authenticator {
  let pair = fromSeed(read());
  return (nonce) => {
    try {
      pair = fromSeed(read());
    } catch {
      // the last good one
    }
    return nkeyAuthenticator(pair.getSeed())(nonce);
  };
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
  publication: { readonly data: Uint8Array; readonly expect: Expectation },
): Promise<Published> {
  try {
    const ack = await js.publish(subject, publication.data, { expect: publication.expect });
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

/** Messages of one pull while a stream is read. */
const READ_BATCH = 500;

/**
 * The newest message of every subject under `filter`, oldest first, read to its end. Rejects when the broker does not
 * answer in time: half a stream is never taken for the whole.
 */
export async function readLastMessages(
  jets: Jets,
  stream: string,
  filter: string,
): Promise<readonly StoredMessage[]> {
  const consumer = await jets.js.consumers.get(stream, {
    filter_subjects: [filter],
    deliver_policy: DeliverPolicy.LastPerSubject,
  });
  try {
    return await readToEnd(consumer);
  } finally {
    // What cannot be deleted now, the server forgets by itself.
    await consumer.delete().catch(() => undefined);
  }
}

/** A subject that is written while the stream is read comes twice: the later one counts. */
async function readToEnd(consumer: Consumer): Promise<readonly StoredMessage[]> {
  const newest = new Map<string, StoredMessage>();
  let pending = (await consumer.info()).num_pending;
  while (pending > 0) {
    const max_messages = Math.min(pending, READ_BATCH);
    let came = 0;
    for await (const message of await consumer.fetch({ max_messages, expires: limits.requestTimeoutMs })) {
      newest.set(message.subject, { subject: message.subject, sequence: message.seq, data: message.data });
      pending = message.info.pending;
      came += 1;
    }
    if (came === 0) pending = (await consumer.info()).num_pending;
  }
  return [...newest.values()].sort((a, b) => a.sequence - b.sequence);
}

/** A new user key pair. The seed stays where it was made. */
export function makeUserKey(): { readonly seed: string; readonly publicKey: string } {
  const pair = createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() };
}

/** The public key of a seed. */
export const publicKeyOf = (seed: string): string => fromSeed(new TextEncoder().encode(seed)).getPublicKey();
