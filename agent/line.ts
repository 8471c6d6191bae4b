/** The agent's connection to the broker: tried until it is there, kept for ever, and never waited for at start. */
import { setTimeout as delay } from 'node:timers/promises';
import { pauseAfter, scattered } from '../shared/backoff.ts';
import { limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import {
  connectBroker,
  jetsOf,
  type BrokerOptions,
  type JetStreamClient,
  type NatsConnection,
} from '../shared/nats.ts';
import { AGENT_API_PREFIX } from '../shared/subjects.ts';

export interface Line {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
}

export interface Dialled {
  /** Resolves with the first connect; never rejects, and stays pending when it was given up. */
  readonly line: Promise<Line>;
  readonly isUp: () => boolean;
  /** Resolves when the client has given the connection up for good, which only a new process mends. */
  readonly lost: Promise<void>;
  close(): Promise<void>;
}

const RETRY = { firstMs: limits.reconnectWaitMs, longestMs: 10_000 };

/** Connects in the background. `reconnected` is called after every drop, when the line is up again. */
export function dial(
  options: BrokerOptions,
  { log, reconnected }: { log: Log; reconnected: () => void },
): Dialled {
  const closing = new AbortController();
  let up = false;
  let connection: NatsConnection | undefined;

  const follow = async (connected: NatsConnection): Promise<void> => {
    for await (const { type } of connected.status()) {
      if (type === 'disconnect') up = false;
      if (type === 'reconnect') {
        up = true;
        reconnected();
      }
    }
    up = false;
  };
  const connect = async (resolve: (line: Line) => void): Promise<void> => {
    connection = await untilConnected(options, { log, signal: closing.signal });
    if (connection === undefined) return;
    if (closing.signal.aborted) return connection.close();
    up = true;
    void follow(connection);
    void connection.closed().then(() => {
      if (!closing.signal.aborted) lost.resolve();
    });
    resolve({ connection, js: (await jetsOf(connection, AGENT_API_PREFIX)).js });
  };
  const lost = Promise.withResolvers<void>();
  const connecting = Promise.withResolvers<Line>();
  const attempts = connect(connecting.resolve).catch((error: unknown) =>
    log.error({ err: error }, 'no connection'),
  );
  return {
    line: connecting.promise,
    isUp: () => up,
    lost: lost.promise,
    close: async () => {
      closing.abort();
      await attempts;
      await connection?.close();
    },
  };
}

async function untilConnected(
  options: BrokerOptions,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<NatsConnection | undefined> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await connectBroker({ ...options, waitOnFirstConnect: false });
    } catch (error) {
      log.warn({ err: error, failures }, 'the broker cannot be reached yet');
      const pause = scattered(pauseAfter(RETRY, failures), Math.random());
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}
