import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../shared/limits.ts';
import { hubSubjects, streams } from '../../shared/subjects.ts';
import { until } from '../harness/until.ts';
import type { Fleet, Part } from './fleet.ts';
import { applied } from './programs.ts';
import { messageOn, standingOf } from './standing.ts';
import { begin, CLUSTERS, commit, rest, type Story } from './story.ts';

const WEB = { namespace: 'default', name: 'web' };
const [NEAR, FAR] = CLUSTERS;

const agentOf = ({ agents }: Fleet, name: string): Part => {
  const agent = agents.get(name);
  assert.ok(agent);
  return agent;
};

/** The order that lies in the stream now, as it is. */
async function capture({ broker }: Fleet, cluster: string): Promise<Uint8Array> {
  const data = await messageOn(broker.jets, streams.orders(cluster), hubSubjects.order(cluster, WEB));
  assert.ok(data);
  return data;
}

const send = ({ broker }: Fleet, cluster: string, data: Uint8Array): Promise<unknown> =>
  broker.jets.js.publish(hubSubjects.order(cluster, WEB), data);

/** The order in the stream is dropped: its agent has not seen it and never will. */
async function drop({ broker }: Fleet, cluster: string): Promise<void> {
  const { jsm } = broker.jets;
  const stream = streams.orders(cluster);
  const message = await jsm.streams.getMessage(stream, { last_by_subj: hubSubjects.order(cluster, WEB) });
  assert.ok(message);
  await jsm.streams.deleteMessage(stream, message.seq);
}

/** Commits, and waits until both orders are in their streams. */
async function commitAndPublish(story: Story): Promise<void> {
  await commit(story);
  for (const name of CLUSTERS)
    await until(`the order for ${name}`, () => standingOf(story.fleet.broker, name, 'web'), {
      accept: ({ order }) => order?.source.commit === story.newest,
    });
}

/** Until the hub has heard of an older order and has published above it. */
async function healed({ reader }: Story, cluster: string, above: number): Promise<void> {
  const look = async (): Promise<boolean> => {
    const { phase, report, order } = await reader.placement({ cluster, name: 'web' });
    const isNewer = (order?.gen ?? 0) > above && report?.gen === order?.gen;
    return isNewer && phase === 'Succeeded' && report?.stale === undefined;
  };
  // an agent says hello twice before anything is done
  await until(`a newer order for ${cluster}`, look, { deadlineMs: 4 * limits.helloConfirmMs });
}

const genOf = async ({ reader }: Story, cluster: string): Promise<number> =>
  (await reader.placement({ cluster, name: 'web' })).gen.order ?? 0;

test('orders that are dropped, doubled and late: the newest commit rests, and each was applied once', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  const first = await capture(fleet, NEAR);
  await commit(story);
  await rest(story);

  await t.test('an older one comes late: refused, told, and published above', async () => {
    const gen = await genOf(story, NEAR);
    await send(fleet, NEAR, first);
    await healed(story, NEAR, gen);
    assert.match(agentOf(fleet, NEAR).log(), /order stale/);
    await rest(story);
  });
  await t.test('the newest comes twice: it costs nothing', async () => {
    const newest = await capture(fleet, NEAR);
    await send(fleet, NEAR, newest);
    await until('the copy to be seen', () => agentOf(fleet, NEAR).log().includes('order duplicate'));
    await rest(story);
    await commit(story);
    await rest(story);
  });
  await t.test('an older one comes between two commits', async () => {
    await Promise.all([commit(story), send(fleet, NEAR, first)]);
    await rest(story);
  });
  await t.test('the newest of one agent is dropped, another one gets an older one instead', async () => {
    for (const name of CLUSTERS) await agentOf(fleet, name).stop();
    await commitAndPublish(story);
    const between = await capture(fleet, FAR);
    await commitAndPublish(story);
    const gens = await Promise.all(CLUSTERS.map((name) => genOf(story, name)));
    await drop(fleet, NEAR);
    await send(fleet, FAR, between);
    for (const name of CLUSTERS) agentOf(fleet, name).start();
    for (const [n, name] of CLUSTERS.entries()) await healed(story, name, gens[n] ?? 0);
    // one agent never saw the commit between, the other one applied it before it heard of the newest
    assert.deepEqual(await applied(fleet.state, 'web', NEAR), {
      value: `value ${story.commits}`,
      updates: story.commits - 1,
    });
    assert.deepEqual(await applied(fleet.state, 'web', FAR), {
      value: `value ${story.commits}`,
      updates: story.commits,
    });
  });
});
