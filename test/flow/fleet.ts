/**
 * A whole fleet of real parts for a test: Git repository, nats-server with an account per cluster, hub, agents, the
 * Pulumi CLI. Each process can be killed at any step, and is started again when it died.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { natsConfig } from '../../deploy/nats/config.ts';
import { makeUserKey } from '../../shared/nats.ts';
import { startChild, type Child } from '../harness/child.ts';
import { makeRepository, type Changes, type Repository } from '../harness/git.ts';
import { startNats, type NatsServer } from '../harness/nats.ts';
import { atEnd, type Owner } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { testTools } from '../harness/tools.ts';
import { until } from '../harness/until.ts';
import { makeReader, type Reader } from './reader.ts';

export interface FleetOptions {
  readonly clusters: readonly string[];
  /** Variables of the agents' environment, and which of them orders may read. */
  readonly agentEnv?: Readonly<Record<string, string>>;
  readonly allowEnv?: readonly string[];
  readonly allowFiles?: readonly string[];
  /** Watch this instead of the fleet's own repository. */
  readonly url?: string;
  readonly intervalMs?: number;
}

/** A process that is started again whenever it ends, until it is told to stay down. */
export interface Part {
  child(): Child;
  /** Everything that it wrote, over all its starts. */
  log(): string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it and keeps it down. */
  stop(): Promise<void>;
  start(): void;
}

export interface Fleet {
  readonly folder: string;
  readonly repository: Repository;
  readonly nats: NatsServer;
  readonly hub: Part;
  readonly agents: ReadonlyMap<string, Part>;
  readonly reader: Reader;
  /** Folder of the file backend. */
  readonly state: string;
  readonly hubData: string;
  agentData(cluster: string): string;
  /** The next process of this kind that comes to the step dies there. */
  doom(kind: 'hub' | 'agent', step: string): Promise<void>;
  /** Commits and gives the commit's id; the hub is woken by the change of the ref. */
  commit(subject: string, changes?: Changes): Promise<string>;
}

/** A port that was free a moment ago. The hub must come back on the same one. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts everything but the first commit. Ends with its owner. */
export async function startFleet(owner: Owner, options: FleetOptions): Promise<Fleet> {
  const folder = await tempFolder(owner, 'fleet');
  const repository = await makeRepository(owner);
  const [hubKey, ...agentKeys] = [undefined, ...options.clusters].map(() => makeUserKey());
  const clusters = options.clusters.map((account, n) => ({
    account,
    publicKey: agentKeys[n]?.publicKey ?? '',
  }));
  const nats = await startNats(owner, {
    config: (storeDir) => natsConfig({ storeDir, hubKey: hubKey?.publicKey ?? '', clusters }),
  });
  const { pulumi } = await testTools();
  const fate = join(folder, 'fate');
  const state = join(folder, 'state');
  const hubData = join(folder, 'hub');
  await mkdir(state);
  const write = async (name: string, content: string | Buffer): Promise<string> => {
    await writeFile(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const list = [
    {
      name: 'fleet',
      url: options.url ?? repository.folder,
      trust: 'fleet',
      interval: `${options.intervalMs ?? 500}ms`,
    },
  ];
  const port = await freePort();
  const hub = startPart(owner, [
    'hub',
    fate,
    ...['--data-dir', hubData, '--nats', nats.url, '--listen', `127.0.0.1:${port}`],
    ...['--repositories', await write('repositories.yaml', JSON.stringify({ repositories: list }))],
    ...['--nats-seed-file', await write('hub.seed', hubKey?.seed ?? '')],
    ...['--secret-file', await write('hub.secret', randomBytes(32))],
  ]);
  const agents = new Map<string, Part>();
  const agentData = (cluster: string): string => join(folder, `agent-${cluster}`);
  for (const [n, cluster] of options.clusters.entries()) {
    const seed = await write(`${cluster}.seed`, agentKeys[n]?.seed ?? '');
    const flags = [
      ...['--cluster', cluster, '--nats', nats.url, '--key-file', seed, '--data-dir', agentData(cluster)],
      ...['--pulumi', pulumi, '--run-user', 'self', '--http-port', '0'],
      ...(options.allowEnv ?? []).flatMap((name) => ['--allow-env', name]),
      ...(options.allowFiles ?? []).flatMap((path) => ['--allow-files', path]),
    ];
    agents.set(cluster, startPart(owner, ['agent', fate, ...flags], options.agentEnv));
  }
  const reader = makeReader(`http://127.0.0.1:${port}`);
  await until('the hub to answer', () => reader.isUp());
  return {
    folder,
    repository,
    nats,
    hub,
    agents,
    reader,
    state,
    hubData,
    agentData,
    doom: (kind, step) => writeFile(fate, `${kind}:${step}`),
    commit: (subject, changes) => repository.commit(subject, changes),
  };
}

const MORTAL = new URL('mortal.ts', import.meta.url).pathname;
/** Runs on a machine under load take their time to start; a part that cannot start at all must end the test. */
const MAX_STARTS = 60;

function startPart(owner: Owner, args: readonly string[], env: Readonly<Record<string, string>> = {}): Part {
  let wanted = true;
  let starts = 0;
  let earlier = '';
  const releases: (() => Promise<void>)[] = [];
  let child: Child;
  // A process that is started late must not outlive the watch that would start the next one.
  const children: Owner = { after: (release) => void releases.push(release) };
  const start = (): void => {
    starts += 1;
    if (starts > MAX_STARTS) throw new Error(`${args[0]} started ${starts} times:\n${earlier.slice(-4_000)}`);
    child = startChild(children, {
      program: process.execPath,
      args: [MORTAL, ...args],
      env: { ...process.env, ...env },
    });
  };
  start();
  const watch = setInterval(() => {
    if (!wanted || child.pid() !== undefined) return;
    earlier += child.output();
    start();
  }, 50);
  atEnd(owner, async () => {
    wanted = false;
    clearInterval(watch);
    for (const release of releases) await release();
  });
  return {
    child: () => child,
    log: () => earlier + child.output(),
    kill: (signal = 'SIGKILL') => child.stop(signal),
    stop: async () => {
      wanted = false;
      await child.stop('SIGTERM');
      earlier += child.output();
    },
    start: () => {
      wanted = true;
      if (child.pid() === undefined) start();
    },
  };
}

/** Removes a folder that a part keeps its state in. */
export const wipe = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
