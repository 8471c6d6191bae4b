/**
 * A whole fleet on one machine: nats-server, then the hub, then an account and an agent for every cluster that the hub
 * finds in Git, also for those that later commits add. Everything runs in processes of its own.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { token } from '../../shared/subjects.ts';
import type { ClusterAccount } from '../nats/config.ts';
import type { Api } from './api.ts';
import { startBroker, type Broker } from './broker.ts';
import { supervise, type Child, type ChildEvent, type Program } from './child.ts';
import { makeOpen } from './input.ts';
import { hubKeys } from './keys.ts';
import type { Processes } from './processes.ts';
import { agentProgram, hubProgram, publicKeyArgs, repositoriesFile, type Setup } from './programs.ts';
import type { Pulse } from './pulse.ts';
import { endingText } from './restart.ts';
import { waitFor } from './wait.ts';

/** A hub reads its store and the streams before it answers. */
const HUB_LIMIT_MS = 60_000;
/** Events say when clusters may have come; this finds out what an event would not. */
const CLUSTERS_EVERY_MS = 5_000;
const HUB_GRACE_MS = 15_000;
const NATS_GRACE_MS = 15_000;
/** Enough for a message with the start of its stack. */
const SHOWN_LINES = 8;

const run = promisify(execFile);

export interface Edges {
  readonly api: Api;
  readonly pulse: Pulse;
  readonly processes: Processes;
  /** How long an agent may take to end its runs, ms. */
  readonly agentGraceMs: number;
  say(text: string): void;
  /** A part ended again and again, or cannot be told what it must know: the fleet is of no use any more. */
  fail(error: Error): void;
}

export interface Fleet {
  /** Resolves when the hub answers; clusters get their agents afterwards. Rejects when a part does not come up. */
  start(signal: AbortSignal): Promise<void>;
  /** Agents first, so that they end their runs and report; then the hub, then the broker. Safe to repeat. */
  stop(hurry?: AbortSignal): Promise<void>;
}

/** The processes of a fleet. Its owner stops it, also when it did not come up. */
export function makeFleet(setup: Setup, edges: Edges): Fleet {
  const started: { nats?: Child; hub?: Child } = {};
  const agents = new Map<string, Child>();
  const watching = new AbortController();
  let watch: Promise<void> = Promise.resolve();
  const launch = (program: Program): Child => supervise(program, (event) => hear(program, event, edges));

  const start = async (signal: AbortSignal): Promise<void> => {
    const hubKey = await hubKeys(setup.folders);
    const { natsServer, natsPort, environment, folders } = setup;
    const broker = await startBroker(
      { folders, port: natsPort, hubKey, program: natsServer, environment },
      (program) => (started.nats = launch(program)),
      signal,
    );
    await writeFile(folders.repositories, repositoriesFile(setup), { mode: 0o600 });
    await makeOpen(folders.clusters);
    started.hub = launch(hubProgram(setup));
    await waitFor('the hub does not answer', () => edges.api.ready(), { signal, limitMs: HUB_LIMIT_MS });
    watch = watchClusters(
      { setup, edges, broker, agents, launch },
      AbortSignal.any([signal, watching.signal]),
    );
  };
  const stop = async (hurry?: AbortSignal): Promise<void> => {
    watching.abort();
    await watch;
    await Promise.all([...agents.values()].map((agent) => end(agent, edges.agentGraceMs, { edges, hurry })));
    if (started.hub !== undefined) await end(started.hub, HUB_GRACE_MS, { edges, hurry });
    if (started.nats !== undefined) await end(started.nats, NATS_GRACE_MS, { edges, hurry });
  };
  return { start, stop };
}

async function end(
  child: Child,
  graceMs: number,
  { edges, hurry }: { edges: Edges; hurry: AbortSignal | undefined },
): Promise<void> {
  if ((await child.stop(graceMs, hurry)) === 'killed')
    edges.say(`${child.name} did not end in time and was killed`);
}

function hear({ name, logFile }: Program, event: ChildEvent, edges: Edges): void {
  switch (event.kind) {
    case 'started':
      edges.processes.add(name, event.pid).catch((error: unknown) => edges.fail(error as Error));
      return;
    case 'restarting':
      edges.say(
        `${name} ${endingText(event.ending)}; it starts again in ${event.delayMs / 1_000} s (log: ${logFile})`,
      );
      return;
    case 'givenUp':
      edges.fail(
        new Error(
          `${name} ${endingText(event.ending)} at every start; the end of ${logFile}:\n${lastLines(logFile)}`,
        ),
      );
  }
}

/** Of a log that exists: its process was started. */
const lastLines = (file: string): string =>
  readFileSync(file, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');

interface Watched {
  readonly setup: Setup;
  readonly edges: Edges;
  readonly broker: Broker;
  readonly agents: Map<string, Child>;
  launch(program: Program): Child;
}

/** Looks for new clusters until it is aborted. One that leaves Git keeps its agent: absence decides nothing. */
async function watchClusters(watched: Watched, signal: AbortSignal): Promise<void> {
  const accounts: ClusterAccount[] = [];
  const wait = watched.edges.pulse.waiter();
  while (!signal.aborted) {
    // No answer: the hub starts again, and is asked again.
    const found = await watched.edges.api.clusters().catch(() => []);
    try {
      await admit(watched, { accounts, found, signal });
    } catch (error) {
      if (!signal.aborted) watched.edges.fail(error as Error);
      return;
    }
    await wait(CLUSTERS_EVERY_MS, signal);
  }
}

interface Admission {
  /** Of the clusters admitted so far; the new ones are added. */
  readonly accounts: ClusterAccount[];
  readonly found: readonly string[];
  readonly signal: AbortSignal;
}

/** Gives every new cluster a key, an account and an agent. */
async function admit(
  { setup, edges, broker, agents, launch }: Watched,
  { accounts, found, signal }: Admission,
): Promise<void> {
  const added = found.filter((cluster) => !agents.has(cluster));
  if (added.length === 0) return;
  for (const cluster of added)
    accounts.push({ account: token(cluster), publicKey: await publicKey(setup, cluster) });
  await broker.admit(accounts, signal);
  for (const cluster of added) agents.set(cluster, launch(agentProgram(setup, cluster)));
  edges.say(`agents run for ${added.join(', ')}, each with a key of its own`);
}

/** The key is made where the agent runs; only its public half leaves the agent's folder. */
async function publicKey(setup: Setup, cluster: string): Promise<string> {
  const { stdout } = await run(setup.towline[0], [...publicKeyArgs(setup, cluster)], {
    env: { ...setup.environment },
  });
  return stdout.trim();
}
