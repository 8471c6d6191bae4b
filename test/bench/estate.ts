/** A fleet as it is shipped: the bundled hub and agents, a real nats-server and the real Pulumi CLI behind a counter. */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bundle } from '../../deploy/build.ts';
import { freePort } from '../../deploy/local/input.ts';
import { natsConfig } from '../../deploy/nats/config.ts';
import { makeUserKey } from '../../shared/nats.ts';
import { makeReader, type Reader } from '../flow/reader.ts';
import { startChild, type Child } from '../harness/child.ts';
import { makeRepository, type Repository } from '../harness/git.ts';
import { startNats, type NatsServer } from '../harness/nats.ts';
import { atEnd, type Owner } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { testTools } from '../harness/tools.ts';
import { GiveUp, until } from '../harness/until.ts';
import { countStarts, type Counter } from './counter.ts';
import { hear, type Hearing } from './hearing.ts';
import { CLUSTERS, PASSPHRASE } from './landscape.ts';

export interface Estate {
  readonly folder: string;
  /** Folder of the file backend. */
  readonly state: string;
  readonly repository: Repository;
  readonly nats: NatsServer;
  readonly hub: Child;
  readonly agents: readonly Child[];
  readonly reader: Reader;
  readonly hearing: Hearing;
  readonly counter: Counter;
  /** Aborted when the owner ends. */
  readonly ending: AbortSignal;
}

/** How long an agent may take to cancel what it runs when the bench is cut off. */
const CANCEL_MS = 15_000;

/** What every part is started with. */
interface Plan {
  readonly folder: string;
  readonly repository: Repository;
  readonly nats: NatsServer;
  readonly pulumi: string;
  /** The bundled command. */
  readonly towline: string;
  readonly listen: string;
}

/** Builds and starts everything, with the settings that a user gets who sets none. Ends with its owner. */
export async function startEstate(owner: Owner): Promise<Estate> {
  const folder = await tempFolder(owner, 'bench');
  const ending = new AbortController();
  atEnd(owner, () => ending.abort());
  const bundles = join(folder, 'dist');
  await bundle(['towline', 'hub', 'agent'], bundles);
  const counter = await countStarts(join(folder, 'counter'), (await testTools()).pulumi);
  const repository = await makeRepository(owner);
  const hubKey = makeUserKey();
  const keys = CLUSTERS.map((account) => ({ account, ...makeUserKey() }));
  const nats = await startNats(owner, {
    config: (storeDir) => natsConfig({ storeDir, hubKey: hubKey.publicKey, clusters: keys }),
  });
  const state = join(folder, 'state');
  await mkdir(state);
  const listen = `127.0.0.1:${await freePort()}`;
  const towline = join(bundles, 'towline.js');
  const plan: Plan = { folder, repository, nats, pulumi: counter.program, towline, listen };
  const hub = await startHub(owner, plan, hubKey.seed);
  const agents = await Promise.all(
    keys.map(({ account, seed }) => startAgent(owner, plan, { account, seed })),
  );
  const reader = makeReader(`http://${listen}`);
  await until('the hub to answer', () => (alive(hub), reader.isUp()));
  const hearing = await hear(owner, `http://${listen}`);
  return { folder, state, repository, nats, hub, agents, reader, hearing, counter, ending: ending.signal };
}

async function startHub(owner: Owner, plan: Plan, seed: string): Promise<Child> {
  const list = [{ name: 'fleet', url: plan.repository.folder, trust: 'fleet' }];
  const flags = {
    'data-dir': join(plan.folder, 'hub'),
    nats: plan.nats.url,
    listen: plan.listen,
    repositories: await keep(plan, 'repositories.yaml', JSON.stringify({ repositories: list })),
    'nats-seed-file': await keep(plan, 'hub.seed', seed),
    'secret-file': await keep(plan, 'hub.secret', randomBytes(32)),
  };
  return startPart(owner, plan, ['hub', ...words(flags)]);
}

async function startAgent(
  owner: Owner,
  plan: Plan,
  { account, seed }: { readonly account: string; readonly seed: string },
): Promise<Child> {
  const flags = {
    cluster: account,
    nats: plan.nats.url,
    pulumi: plan.pulumi,
    'key-file': await keep(plan, `${account}.seed`, seed),
    'data-dir': join(plan.folder, `agent-${account}`),
    'run-user': 'self',
    'on-stop': 'cancel',
    'allow-env': PASSPHRASE.name,
  };
  const agent = startPart(owner, plan, ['agent', ...words(flags)]);
  // a run has a session of its own: only its agent can end it
  atEnd(owner, () => Promise.race([agent.stop('SIGTERM'), delay(CANCEL_MS, undefined, { ref: false })]));
  return agent;
}

const startPart = (owner: Owner, { towline }: Plan, args: readonly string[]): Child =>
  startChild(owner, {
    program: process.execPath,
    args: [towline, ...args],
    env: { ...process.env, [PASSPHRASE.name]: PASSPHRASE.value },
  });

async function keep({ folder }: Plan, name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), content, { mode: 0o600 });
  return join(folder, name);
}

const words = (flags: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);

/** The process id; a part that ended will do nothing any more, and what it said is why. */
export function alive(part: Child): number {
  const pid = part.pid();
  if (pid === undefined) throw new GiveUp(`a part of the fleet ended:\n${part.output().slice(-4_000)}`);
  return pid;
}
