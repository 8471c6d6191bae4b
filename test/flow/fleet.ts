/**
 * A whole fleet of real parts for a test: Git repository, nats-server with an account per cluster, hub, agents, the
 * Pulumi CLI. Each process can be killed at any step, and is started again when it died.
 */
import { randomBytes } from 'node:crypto';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../deploy/local/input.ts';
import { natsConfig } from '../../deploy/nats/config.ts';
import { makeUserKey } from '../../shared/nats.ts';
import { startChild, type Child } from '../harness/child.ts';
import { makeRepository, type Changes, type Repository } from '../harness/git.ts';
import { startNats, type NatsServer } from '../harness/nats.ts';
import { atEnd, type Owner } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { until } from '../harness/until.ts';
import { openBroker, type Broker } from './broker.ts';
import { countedPulumi, type CountedPulumi } from './counted.ts';
import type { Kind } from './mortal.ts';
import { makeReader, type Reader } from './reader.ts';

export interface FleetOptions {
  readonly clusters: readonly string[];
  /** Variables of the agents' environment, and which of them orders may read. */
  readonly agentEnv?: Readonly<Record<string, string>>;
  readonly allowEnv?: readonly string[];
  readonly allowFiles?: readonly string[];
  /** Watch this instead of the fleet's own repository. */
  readonly url?: string;
  /** Credentials of that repository, as the repositories file has them. */
  readonly auth?: { readonly username: string; readonly password: { readonly file: string } };
  /** Watched beside the fleet's own repository. */
  readonly others?: readonly Watched[];
  readonly intervalMs?: number;
}

export interface Watched {
  readonly name: string;
  readonly url: string;
  readonly trust: 'fleet' | 'stacks' | 'sources';
}

/** A process that is started again whenever it ends, until it is told to stay down. */
export interface Part {
  child(): Child;
  /** Everything that it wrote, over all its starts. */
  log(): string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it and keeps it down. */
  stop(): Promise<void>;
  /** When it ends by itself, it stays down. */
  letEnd(): void;
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
  /** What the hub's account holds. */
  readonly broker: Broker;
  /** Command lines of the Pulumi CLI that any agent has started so far, oldest first. */
  started(): Promise<readonly string[]>;
  /** The next process of this kind that comes to the step dies there, or gets another signal. */
  doom(kind: Kind, step: string, signal?: 'SIGKILL' | 'SIGSTOP'): Promise<void>;
  /** Whether that has happened. */
  isDone(): Promise<boolean>;
  /** Starts another hub of the same fleet, with a data folder of its own. */
  secondHub(): Promise<SecondHub>;
  /** Commits and gives the commit's id; the hub is woken by the change of the ref. */
  commit(subject: string, changes?: Changes): Promise<string>;
}

export interface SecondHub {
  readonly hub: Part;
  readonly reader: Reader;
}

interface Keys {
  readonly hub: ReturnType<typeof makeUserKey>;
  readonly clusters: readonly {
    readonly account: string;
    readonly publicKey: string;
    readonly seed: string;
  }[];
}

function makeKeys(clusters: readonly string[]): Keys {
  const made = clusters.map((account) => ({ account, ...makeUserKey() }));
  return { hub: makeUserKey(), clusters: made };
}

/** Starts everything but the first commit. Ends with its owner. */
export async function startFleet(owner: Owner, options: FleetOptions): Promise<Fleet> {
  const folder = await tempFolder(owner, 'fleet');
  const repository = await makeRepository(owner);
  const keys = makeKeys(options.clusters);
  const nats = await startNats(owner, {
    config: (storeDir) => natsConfig({ storeDir, hubKey: keys.hub.publicKey, clusters: keys.clusters }),
  });
  const state = join(folder, 'state');
  await mkdir(state);
  const pulumi = await countedPulumi(folder);
  const site: Site = { folder, nats, keys, pulumi, options: { url: repository.folder, ...options } };
  await writeHubFiles(site);
  const port = await freePort();
  const hub = startPart(owner, hubCall(site, 'hub', port));
  const agents = new Map<string, Part>();
  for (const { account, seed } of keys.clusters) {
    agents.set(account, startPart(owner, await agentCall(site, account, seed), options.agentEnv));
  }
  const reader = makeReader(`http://127.0.0.1:${port}`);
  await until('the hub to answer', () => reader.isUp());
  const broker = await openBroker(owner, { url: nats.url, seed: keys.hub.seed });
  return {
    folder,
    repository,
    nats,
    hub,
    agents,
    reader,
    state,
    hubData: join(folder, 'hub'),
    agentData: (cluster) => join(folder, `agent-${cluster}`),
    broker,
    started: () => pulumi.started(),
    doom: (kind, step, signal = 'SIGKILL') => writeFile(join(folder, 'fate'), `${kind}:${step}:${signal}`),
    isDone: () => access(join(folder, 'fate')).then(no, yes),
    secondHub: () => startSecond(owner, site),
    commit: (subject, changes) => repository.commit(subject, changes),
  };
}

interface Site {
  readonly folder: string;
  readonly nats: NatsServer;
  readonly keys: Keys;
  readonly pulumi: CountedPulumi;
  readonly options: FleetOptions & { readonly url: string };
}

async function write(folder: string, name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), content, { mode: 0o600 });
  return join(folder, name);
}

const [yes, no] = [() => true, () => false];

async function startSecond(owner: Owner, site: Site): Promise<SecondHub> {
  const port = await freePort();
  const hub = startPart(owner, hubCall(site, 'second', port));
  const reader = makeReader(`http://127.0.0.1:${port}`);
  await until('the second hub to answer', () => reader.isUp());
  return { hub, reader };
}

/** Hubs of one fleet share repositories, key and secret. */
async function writeHubFiles({ folder, keys, options }: Site): Promise<void> {
  const { url, auth, others = [], intervalMs = 500 } = options;
  const own = { name: 'fleet', url, trust: 'fleet', ...(auth === undefined ? {} : { auth }) };
  const repositories = [own, ...others].map((one) => ({
    ...one,
    interval: `${intervalMs}ms`,
  }));
  await write(folder, 'repositories.yaml', JSON.stringify({ repositories }));
  await write(folder, 'hub.seed', keys.hub.seed);
  await write(folder, 'hub.secret', randomBytes(32));
}

/** The second one has no fate: what is written down is for the first. */
const hubCall = ({ folder, nats }: Site, name: 'hub' | 'second', port: number): string[] => [
  ...['hub', join(folder, name === 'hub' ? 'fate' : 'no-fate'), '--data-dir', join(folder, name)],
  ...['--nats', nats.url, '--listen', `127.0.0.1:${port}`],
  ...['--repositories', join(folder, 'repositories.yaml')],
  ...['--nats-seed-file', join(folder, 'hub.seed'), '--secret-file', join(folder, 'hub.secret')],
];

async function agentCall(
  { folder, nats, pulumi, options }: Site,
  cluster: string,
  seed: string,
): Promise<string[]> {
  return [
    ...['agent', join(folder, 'fate'), '--cluster', cluster, '--nats', nats.url],
    ...['--key-file', await write(folder, `${cluster}.seed`, seed)],
    ...['--data-dir', join(folder, `agent-${cluster}`), '--pulumi', pulumi.path],
    ...['--run-user', 'self', '--http-port', '0'],
    ...(options.allowEnv ?? []).flatMap((name) => ['--allow-env', name]),
    ...(options.allowFiles ?? []).flatMap((path) => ['--allow-files', path]),
  ];
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
    letEnd: () => {
      wanted = false;
    },
    start: () => {
      wanted = true;
      if (child.pid() === undefined) start();
    },
  };
}

/** Removes a folder that a part keeps its state in. */
export const wipe = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
