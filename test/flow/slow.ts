/** Stacks with one object, a file, that is made or changed so slowly that it can be killed; and what became of it. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlacementDetailAnswer } from '../../hub/api/schemas.ts';
import { readCli } from '../../agent/runner/gate.ts';
import type { Changes } from '../harness/git.ts';
import type { Owner } from '../harness/owned.ts';
import { until } from '../harness/until.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { applied, cluster, defaults } from './programs.ts';

const CLUSTER = 'harbour';
const APPS = new URL('../../deploy/local/demo/port/apps/', import.meta.url);

/** Each operation is written down when it begins. A slow one takes longer than any test, unless it was set free before. */
const PROGRAM = `import * as pulumi from '@pulumi/pulumi';
class Thing extends pulumi.dynamic.Resource {
  constructor(name: string, inputs: object) {
    const work = async (operation: string, { path, content, slow }: any) => {
      const fs = require('node:fs');
      const waits = slow === operation && !fs.existsSync(path + '.free');
      fs.appendFileSync(path + '.log', operation + ' ');
      await new Promise((resolve) => setTimeout(resolve, waits ? 600_000 : 0));
      fs.writeFileSync(path, content);
    };
    super({
      async create(inputs: any) {
        await work('create', inputs);
        return { id: inputs.path, outs: inputs };
      },
      async diff(_id: string, old: any, inputs: any) { return { changes: old.content !== inputs.content }; },
      async update(_id: string, _old: any, inputs: any) {
        await work('update', inputs);
        return { outs: inputs };
      },
      async delete(id: string) { require('node:fs').appendFileSync(id + '.log', 'delete '); },
    }, name, inputs);
  }
}
`;

/** A fleet of one cluster, and where its programs make their objects. */
export interface Sight {
  readonly fleet: Fleet;
  readonly objects: string;
}

export interface Slowness {
  readonly slow?: 'create' | 'update';
  readonly content?: string;
  readonly pendingCreates?: 'hold' | 'clear';
}

/** Files of a stack with one object. */
export async function slowStack({ objects }: Sight, name: string, change: Slowness = {}): Promise<Changes> {
  const { slow = '', content = 'one', pendingCreates = 'hold' } = change;
  const inputs = JSON.stringify({ path: join(objects, name), content, slow });
  return {
    [`stacks/${name}/stack.yaml`]: `apiVersion: towline.dev/v1
kind: Stack
metadata: {name: ${name}}
spec:
  clusters: {all: true}
  run: {pendingCreates: ${pendingCreates}}
`,
    [`stacks/${name}/Pulumi.yaml`]: `name: ${name}\nruntime: nodejs\nmain: index.ts\n`,
    [`stacks/${name}/index.ts`]: `${PROGRAM}new Thing('slow', ${inputs});\nexport const value = ${JSON.stringify(content)};\n`,
    [`stacks/${name}/package.json`]: await readFile(new URL('package.json', APPS), 'utf8'),
    [`stacks/${name}/package-lock.json`]: await readFile(new URL('package-lock.json', APPS), 'utf8'),
  };
}

/** A fleet without stacks. */
export async function begin(t: Owner): Promise<Sight> {
  const fleet = await startFleet(t, {
    clusters: [CLUSTER],
    agentEnv: { PASSPHRASE: 'correct horse' },
    allowEnv: ['PASSPHRASE'],
  });
  const objects = join(fleet.folder, 'objects');
  await mkdir(objects);
  await fleet.commit('fleet', {
    'fleet.yaml': cluster(CLUSTER),
    'stacks/defaults.yaml': defaults(fleet.state),
  });
  return { fleet, objects };
}

/** Commits and waits until the placements rest. */
export async function settle({ fleet }: Sight, subject: string, changes: Changes): Promise<string> {
  const commit = await fleet.commit(subject, changes);
  await fleet.reader.atRest(commit);
  return commit;
}

/** The operations that have begun, oldest first. */
export const begunOf = ({ objects }: Sight, name: string): Promise<string> =>
  readFile(join(objects, `${name}.log`), 'utf8').then(
    (text) => text.trim(),
    () => '',
  );

/** Dependencies are installed at the first run, by npm and over the network. */
const FIRST_RUN_MS = 90_000;

/**
 * Waits for operations to begin, lets the next ones be quick, and kills the CLI in the last one, with the agent if that
 * is said.
 */
export async function kill(sight: Sight, name: string, when: { begun: string; agent?: true }): Promise<void> {
  const begun = async (): Promise<boolean> => (await begunOf(sight, name)) === when.begun;
  await until(`${name} to ${when.begun}`, begun, { deadlineMs: FIRST_RUN_MS });
  assert.notDeepEqual(await locksOf(sight, name), [], 'it holds the lock');
  await writeFile(join(sight.objects, `${name}.free`), '');
  process.kill(await cliOf(sight), 'SIGKILL');
  if (when.agent === true) await agentOf(sight).kill();
}

/** Process id of the update that goes on. */
async function cliOf({ fleet }: Sight): Promise<number> {
  const runs = join(fleet.agentData(CLUSTER), 'runs');
  const marks = (await readdir(runs)).map((run) => ({ cli: join(runs, run, 'marks/up.cli') }));
  const [cli] = (await Promise.all(marks.map(readCli))).filter((one) => one !== undefined);
  assert.ok(cli);
  return cli.pid;
}

/** The only agent. */
export function agentOf({ fleet }: Sight): NonNullable<ReturnType<Fleet['agents']['get']>> {
  const agent = fleet.agents.get(CLUSTER);
  assert.ok(agent);
  return agent;
}

/** What the API says of a stack. */
export const placementOf = ({ fleet }: Sight, name: string): Promise<PlacementDetailAnswer> =>
  fleet.reader.placement({ cluster: CLUSTER, name });

/** Folder of the stack's locks. */
export const lockFolder = ({ fleet }: Sight, name: string): string =>
  join(fleet.state, '.pulumi/locks/organization', name, CLUSTER);

/** Its locks. */
export const locksOf = (sight: Sight, name: string): Promise<string[]> =>
  readdir(lockFolder(sight, name)).catch(() => []);

/** It was cut off in its first create, and nobody has decided: told with its URN, and nothing is begun. */
export async function assertHeld(sight: Sight, name: string): Promise<void> {
  const { phase, report } = await placementOf(sight, name);
  assert.equal(phase, 'Stalled');
  assert.equal(report?.reason.code, 'PendingCreates');
  assert.deepEqual(report.pendingCreates, [
    `urn:pulumi:${CLUSTER}::${name}::pulumi-nodejs:dynamic:Resource::slow`,
  ]);
  assert.equal(await begunOf(sight, name), 'create', 'no second object is begun');
  assert.deepEqual(await locksOf(sight, name), []);
}

/** It is applied, with these operations altogether, and has left no lock. */
export async function assertDone(
  sight: Sight,
  name: string,
  expected: { readonly begun: string; readonly content: string },
): Promise<void> {
  const { phase, report } = await placementOf(sight, name);
  assert.equal(phase, 'Succeeded', report?.reason.text);
  assert.equal(await begunOf(sight, name), expected.begun);
  assert.equal(await readFile(join(sight.objects, name), 'utf8'), expected.content);
  assert.equal((await applied(sight.fleet.state, name, CLUSTER)).value, expected.content);
  assert.deepEqual(await locksOf(sight, name), []);
}

/** What a person does with `pulumi stack export` and `import`: the state has no pending operation any more. */
export async function putRight({ fleet }: Sight, name: string): Promise<void> {
  const file = join(fleet.state, '.pulumi/stacks', name, `${CLUSTER}.json`);
  const state = JSON.parse(await readFile(file, 'utf8')) as {
    checkpoint: { latest: { pending_operations?: unknown } };
  };
  delete state.checkpoint.latest.pending_operations;
  await writeFile(file, JSON.stringify(state));
}
