/** A real nats-server for a test: own port, own store, can be killed and started again on both. */
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startChild, type Child } from './child.ts';
import type { Owner } from './owned.ts';
import { tempFolder } from './temp.ts';
import { testTools } from './tools.ts';
import { GiveUp, until } from './until.ts';

export interface NatsOptions {
  /** Configuration text for a store folder. Port and address are set outside it. Default: one account, JetStream. */
  readonly config?: (storeFolder: string) => string;
  /** An existing store, such as a copy of another server's. Default: a new folder. */
  readonly storeFolder?: string;
}

export interface NatsServer {
  /** `nats://127.0.0.1:PORT`; the same after a restart. */
  readonly url: string;
  readonly port: number;
  readonly storeFolder: string;
  /** Process id of the server that runs, undefined when none does. */
  pid(): number | undefined;
  /** All that the server wrote so far, over all its starts. */
  log(): string;
  /** Sends a signal and waits for the end. SIGKILL for a crash, SIGINT (the default) for an orderly stop. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts again on the same port and store. */
  start(): Promise<void>;
  /** Gives the running server a new configuration and waits until it is in force. */
  reload(config: string): Promise<void>;
}

/** One account with JetStream that loses nothing which it acknowledged. */
export const plainConfig = (storeFolder: string): string =>
  `jetstream { store_dir: ${JSON.stringify(storeFolder)}, sync_interval: always }\n`;

/** Starts a server and resolves when it takes connections. It stops with its owner. */
export async function startNats(owner: Owner, options: NatsOptions = {}): Promise<NatsServer> {
  const { natsServer } = await testTools();
  const folder = await tempFolder(owner, 'nats');
  const storeFolder = options.storeFolder ?? join(folder, 'store');
  const configFile = join(folder, 'nats.conf');
  await writeFile(configFile, (options.config ?? plainConfig)(storeFolder));
  const launch = (...flags: string[]): Child =>
    startChild(owner, { program: natsServer, args: ['-c', configFile, '-a', '127.0.0.1', ...flags] });
  let child = launch('-p', '-1', '--ports_file_dir', folder);
  let earlier = '';
  const port = await until('the port of nats-server', () => alive(child, () => portIn(folder, child.pid())));
  const start = async (): Promise<void> => {
    if (child.pid() !== undefined) throw new Error('nats-server runs already');
    earlier += child.output();
    child = launch('-p', String(port));
    await until(`nats-server to listen on ${port} again`, () => alive(child, () => listens(port)));
  };
  const reload = async (config: string): Promise<void> => {
    await writeFile(configFile, config);
    const before = child.output().length;
    child.signal('SIGHUP');
    await until('nats-server to reload', () => alive(child, () => reloaded(child.output().slice(before))));
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storeFolder,
    pid: () => child.pid(),
    log: () => earlier + child.output(),
    stop: (signal = 'SIGINT') => child.stop(signal),
    start,
    reload,
  };
}

/** A server that ended (a bad configuration, a taken port) never gets ready: say why at once. */
function alive<T>(child: Child, read: () => T): T {
  if (child.pid() === undefined) throw new GiveUp(`nats-server ended:\n${child.output()}`);
  return read();
}

/** The server writes this file when it listens; port -1 lets the system choose, so that no two tests collide. */
async function portIn(folder: string, pid: number | undefined): Promise<number> {
  const file = JSON.parse(await readFile(join(folder, `nats-server_${pid}.ports`), 'utf8')) as {
    nats: string[];
  };
  return Number(new URL(file.nats[0] ?? '').port);
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}

function reloaded(log: string): boolean {
  if (log.includes('Failed to reload')) throw new GiveUp(`nats-server refuses the configuration:\n${log}`);
  return log.includes('Reloaded server configuration');
}
