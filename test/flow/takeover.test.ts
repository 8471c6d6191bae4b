import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Changes } from '../harness/git.ts';
import { until } from '../harness/until.ts';
import type { Fleet, SecondHub } from './fleet.ts';
import { cluster } from './programs.ts';
import { begin, check, CLUSTERS, commit, rest, type Story } from './story.ts';

const countsOf = ({ broker }: Fleet): Promise<readonly number[]> =>
  Promise.all(CLUSTERS.map((name) => broker.published(name)));

/** The leader falls asleep at a step of its pass over the next commit; the other one takes over and goes on. */
async function sleepThrough(
  story: Story,
  second: SecondHub,
  { step, more }: { readonly step: string; readonly more: Changes },
): Promise<void> {
  const { fleet } = story;
  await fleet.doom('hub', step, 'SIGSTOP');
  await commit(story, more);
  await until('the leader to fall asleep', () => fleet.isDone());
  story.reader = second.reader;
  await rest(story);
  await commit(story);
  await rest(story);
  const before = await countsOf(fleet);
  fleet.hub.child().signal('SIGCONT');
  const isFollower = (): Promise<boolean> =>
    fleet.reader.get('/readyz').then(
      () => false,
      (error: Error) => error.message.includes('another hub leads'),
    );
  await until('the old leader to follow', isFollower);
  assert.deepEqual(await countsOf(fleet), before, 'it has written nothing');
  await check(story);
}

test('a leader that slept through a takeover publishes nothing that is applied, and follows', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  const second = await fleet.secondHub();
  await t.test('asleep before it publishes', () =>
    sleepThrough(story, second, { step: 'uploaded', more: {} }),
  );
  await second.hub.stop();
  story.reader = fleet.reader;
  await commit(story);
  await rest(story);
  second.hub.start();
  await until('the second hub to answer', () => second.reader.isUp());
  // with a new cluster the streams are read anew: what it wakes up to is then what the other one wrote
  const more = { 'fleet.yaml': [...CLUSTERS, 'pier'].map((name) => cluster(name)).join('---\n') };
  await t.test('asleep before it reads the streams', () =>
    sleepThrough(story, second, { step: 'read', more }),
  );
});
