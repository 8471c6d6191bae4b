import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../harness/until.ts';
import { wipe, type Fleet } from './fleet.ts';
import { begin, check, commit, rest } from './story.ts';

/** Does something while the broker is down. */
async function withoutBroker({ nats }: Fleet, act: () => Promise<void>): Promise<void> {
  await nats.stop();
  await act();
  await nats.start();
}

/** Puts the store back as it was. */
async function putBack({ nats }: Fleet, copy: string): Promise<void> {
  await wipe(nats.storeFolder);
  await cp(copy, nats.storeFolder, { recursive: true });
}

const agentOf = ({ agents }: Fleet, name: string): NonNullable<ReturnType<Fleet['agents']['get']>> => {
  const agent = agents.get(name);
  assert.ok(agent);
  return agent;
};

test('the broker comes back as an older copy: nothing older is applied, and the next commit runs once', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  const [old, held] = [join(fleet.folder, 'old'), join(fleet.folder, 'held')];
  await withoutBroker(fleet, () => cp(fleet.nats.storeFolder, old, { recursive: true }));
  // this copy holds an order that the agent of quay has not taken yet
  await agentOf(fleet, 'quay').stop();
  const before = await until('the broker to count', () => fleet.broker.published('quay'));
  await commit(story);
  await until('the order for quay', async () => (await fleet.broker.published('quay')) > before);
  await withoutBroker(fleet, () => cp(fleet.nats.storeFolder, held, { recursive: true }));
  agentOf(fleet, 'quay').start();
  await rest(story);
  await commit(story);
  await rest(story);

  await t.test('while the hub knows better', async () => {
    await withoutBroker(fleet, () => putBack(fleet, old));
    await rest(story);
    await commit(story);
    await rest(story);
  });
  await t.test('and hands out an old order before the hub is there', async () => {
    await fleet.hub.stop();
    await withoutBroker(fleet, () => putBack(fleet, held));
    await until('the old order to be refused', () => agentOf(fleet, 'quay').log().includes('order stale'));
    await check(story);
    fleet.hub.start();
    await rest(story);
    await commit(story);
    await rest(story);
  });
  await t.test('and the hub has lost its memory as well', async () => {
    await fleet.hub.stop();
    await withoutBroker(fleet, () => putBack(fleet, old));
    await wipe(fleet.hubData);
    fleet.hub.start();
    await rest(story);
    await commit(story);
    await rest(story);
  });
});
