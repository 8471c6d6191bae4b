/** The nats-server of a fleet: its configuration file, and the accounts that come while it runs. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { natsConfig, type ClusterAccount } from '../nats/config.ts';
import type { Child, Program } from './child.ts';
import type { Folders } from './folders.ts';
import { waitFor } from './wait.ts';

/** A server with a large store reads it before it listens. */
const START_LIMIT_MS = 60_000;
const RELOAD_LIMIT_MS = 10_000;
/** With one reload the imports of a new account do not answer yet (seen with 2.15.2). */
const RELOADS = 2;

export interface BrokerSettings {
  readonly folders: Folders;
  readonly port: number;
  readonly hubKey: string;
  /** Path of nats-server. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Broker {
  /** Brings the accounts of `clusters` into force, and no others. */
  admit(clusters: readonly ClusterAccount[], signal: AbortSignal): Promise<void>;
}

/** Starts the server with the hub's account alone. */
export async function startBroker(
  settings: BrokerSettings,
  start: (program: Program) => Child,
  signal: AbortSignal,
): Promise<Broker> {
  const { folders, port, hubKey, program, environment } = settings;
  const write = (clusters: readonly ClusterAccount[]): Promise<void> =>
    replace(folders.natsConfig, natsConfig({ port, storeDir: folders.natsStore, hubKey, clusters }));
  await write([]);
  const logFile = folders.log('nats');
  const server = start({
    name: 'nats',
    command: program,
    args: ['-c', folders.natsConfig],
    environment,
    logFile,
  });
  await waitFor('nats-server does not listen', () => listens(port), { signal, limitMs: START_LIMIT_MS });
  return {
    admit: async (clusters, during) => {
      await write(clusters);
      for (let n = 0; n < RELOADS; n += 1) await reload(server, logFile, during);
    },
  };
}

/** A server that starts anew while it is asked reads the new file by itself. */
async function reload(server: Child, logFile: string, signal: AbortSignal): Promise<void> {
  const seen = await signs(logFile);
  server.signal('SIGHUP');
  await waitFor(
    'nats-server does not take its new configuration',
    async () => (await signs(logFile)) > seen || undefined,
    {
      signal,
      limitMs: RELOAD_LIMIT_MS,
    },
  );
}

/** Lines of the log that say that a configuration came into force. */
async function signs(logFile: string): Promise<number> {
  const log = await readFile(logFile, 'utf8');
  return log.match(/Reloaded server configuration|Server is ready/g)?.length ?? 0;
}

const listens = (port: number): Promise<true | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(undefined));
  });

/** The server never sees half a file. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.tmp`, text, { mode: 0o600 });
  await rename(`${file}.tmp`, file);
}
