/** A fleet of two clusters with stacks that change, stay and fail, through whatever is lost on the way. */
import assert from 'node:assert/strict';
import type { Changes } from '../harness/git.ts';
import type { Owner } from '../harness/owned.ts';
import { until } from '../harness/until.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { applied, cluster, defaults, program, stackFiles } from './programs.ts';
import type { Reader } from './reader.ts';
import { isWhole, standingOf, type Standing } from './standing.ts';

/** All that have an agent. */
export const CLUSTERS = ['harbour', 'quay'] as const;
const BOTH = `{names: [${CLUSTERS.join()}]}`;
/** The first changes with each commit, the second never does, the third never succeeds. */
const STACKS = ['web', 'idle', 'broken'] as const;

/** What has been committed so far. */
export interface Story {
  readonly fleet: Fleet;
  /** Of the hub that leads. */
  reader: Reader;
  commits: number;
  newest: string;
  /** Runs of the broken stack in each cluster, at most: a run that did not end well may be started once more for a new order. */
  failures: number;
}

/** A program that fails after its update has begun. */
export const broken = (name: string): string =>
  `name: ${name}\nruntime: yaml\nvariables:\n  lost: {fn::readFile: ./lost.txt}\noutputs:\n  value: \${lost}\n`;

/** A fleet at rest after its first commit. */
export async function begin(t: Owner): Promise<Story> {
  const fleet = await startFleet(t, {
    clusters: CLUSTERS,
    agentEnv: { PASSPHRASE: 'correct horse' },
    allowEnv: ['PASSPHRASE'],
  });
  const newest = await fleet.commit('first', {
    'fleet.yaml': CLUSTERS.map((name) => cluster(name)).join('---\n'),
    'stacks/defaults.yaml': defaults(fleet.state),
    ...stackFiles({ name: 'web', clusters: BOTH }, 'value 1'),
    ...stackFiles({ name: 'idle', clusters: BOTH }, 'never changed'),
    ...stackFiles({ name: 'broken', clusters: BOTH }, ''),
    'stacks/broken/Pulumi.yaml': broken('broken'),
  });
  const story = { fleet, reader: fleet.reader, commits: 1, newest, failures: 1 };
  await rest(story);
  return story;
}

/** One change of the first stack, and whatever else. */
export async function commit(story: Story, more: Changes = {}): Promise<void> {
  story.commits += 1;
  story.newest = await story.fleet.commit(`change ${story.commits}`, {
    ...more,
    'stacks/web/Pulumi.yaml': program('web', `value ${story.commits}`),
  });
}

/** Until all of it is on the broker and in the API, for the newest commit; then nothing has run that need not have. */
export async function rest(story: Story): Promise<void> {
  try {
    await settle(story);
  } catch (error) {
    const said = story.fleet.hub.log().split('\n').slice(-LAST_LINES).join('\n');
    throw new Error(`${(error as Error).message}\nThe hub said last:\n${said}`, { cause: error });
  }
  await check(story);
}

/** Of the hub's log, for whoever looks for the reason. */
const LAST_LINES = 40;

async function settle({ fleet, newest, reader }: Story): Promise<void> {
  await reader.atRest(newest);
  for (const name of CLUSTERS)
    for (const stack of STACKS) {
      const isNewest = ({ order }: Standing): boolean => stack !== 'web' || order?.source.commit === newest;
      const accept = (standing: Standing): boolean => isWhole(standing) && isNewest(standing);
      await until(`${name}/${stack} to be whole`, () => standingOf(fleet.broker, name, stack), { accept });
    }
  const rows = await reader.atRest(newest);
  assert.equal(rows.length, CLUSTERS.length * STACKS.length);
  for (const row of rows)
    assert.equal(row.phase, row.name === 'broken' ? 'Failed' : 'Succeeded', `${row.cluster}/${row.name}`);
}

/** Without waiting for anything. */
export async function check({ fleet, commits, failures }: Story): Promise<void> {
  for (const name of CLUSTERS) {
    const [web, idle, broken] = await Promise.all(STACKS.map((stack) => applied(fleet.state, stack, name)));
    assert.deepEqual(web, { value: `value ${commits}`, updates: commits }, `${name}/web`);
    assert.deepEqual(idle, { value: 'never changed', updates: 1 }, `${name}/idle`);
    assert.ok((broken?.updates ?? 0) <= failures, `${name}/broken ran ${broken?.updates} times`);
  }
  const harmful = (await fleet.started()).filter((line) => /^(destroy|stack rm|cancel)/.test(line));
  assert.deepEqual(harmful, []);
}
