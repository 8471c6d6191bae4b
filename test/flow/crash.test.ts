import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { AGENT_STEPS } from '../../agent/steps.ts';
import { HUB_STEPS } from '../../hub/poll.ts';
import { until } from '../harness/until.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { applied, cluster, defaults, program, stackFiles } from './programs.ts';

/** Steps inside of prepare and finish, beside those of the conductor. */
const EXECUTOR_STEPS = ['artifact', 'workspace', 'values', 'locks', 'exit', 'survivors', 'ended'] as const;

/** One change a commit; after each, the newest value is applied exactly once in both clusters. */
interface Story {
  readonly fleet: Fleet;
  commits: number;
}

async function begin(t: Parameters<typeof startFleet>[0]): Promise<Story> {
  const fleet = await startFleet(t, {
    clusters: ['harbour', 'quay'],
    agentEnv: { PASSPHRASE: 'correct horse' },
    allowEnv: ['PASSPHRASE'],
  });
  const story: Story = { fleet, commits: 1 };
  const first = await fleet.commit('first', {
    'fleet.yaml': `${cluster('harbour')}---\n${cluster('quay')}`,
    'stacks/defaults.yaml': defaults(fleet.state),
    ...stackFiles({ name: 'web' }, 'value 1'),
    ...stackFiles({ name: 'idle' }, 'never changed'),
  });
  await fleet.reader.atRest(first);
  await check(story);
  return story;
}

/** Lost 0: the newest value is there. Repeated 0: Pulumi has written down one update a commit, and one of the idle stack. */
async function check({ fleet, commits }: Story): Promise<void> {
  for (const name of ['harbour', 'quay']) {
    assert.deepEqual(
      await applied(fleet.state, 'web', name),
      { value: `value ${commits}`, updates: commits },
      name,
    );
    assert.deepEqual(await applied(fleet.state, 'idle', name), { value: 'never changed', updates: 1 }, name);
  }
}

async function change(story: Story): Promise<string> {
  story.commits += 1;
  return story.fleet.commit(`change ${story.commits}`, {
    'stacks/web/Pulumi.yaml': program('web', `value ${story.commits}`),
  });
}

const isDoomed = (fleet: Fleet): Promise<boolean> =>
  readFile(`${fleet.folder}/fate`, 'utf8').then(
    () => true,
    () => false,
  );

test('hub and agents die at every step between a commit and its report: nothing is lost, nothing is repeated', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  const points = [
    ...HUB_STEPS.map((step) => ['hub', step] as const),
    ...[...AGENT_STEPS, ...EXECUTOR_STEPS].map((step) => ['agent', step] as const),
  ];
  for (const [kind, step] of points) {
    await t.test(`${kind} dies at ${step}`, async () => {
      await fleet.doom(kind, step);
      const commit = await change(story);
      await until(`the ${kind} to die at ${step}`, async () => !(await isDoomed(fleet)));
      await fleet.reader.atRest(commit);
      await check(story);
    });
  }
});

test('the broker dies at every step of hub and agents: nothing is lost, nothing is repeated', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  for (const step of ['planned', 'uploaded', 'published', 'remembered'] as const) {
    await t.test(`the broker is killed when the hub has ${step}`, async () => {
      await fleet.doom('hub', step);
      const commit = await change(story);
      await until(`the hub to die at ${step}`, async () => !(await isDoomed(fleet)));
      await fleet.nats.stop('SIGKILL');
      await fleet.nats.start();
      await fleet.reader.atRest(commit);
      await check(story);
    });
  }
  for (const step of AGENT_STEPS) {
    await t.test(`the broker is killed when an agent is at ${step}`, async () => {
      await fleet.doom('agent', step);
      const commit = await change(story);
      await until(`an agent to die at ${step}`, async () => !(await isDoomed(fleet)));
      await fleet.nats.stop('SIGKILL');
      await fleet.nats.start();
      await fleet.reader.atRest(commit);
      await check(story);
    });
  }
});
