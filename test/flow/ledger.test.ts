import { test } from 'node:test';
import { until } from '../harness/until.ts';
import { wipe } from './fleet.ts';
import { begin, commit, rest } from './story.ts';

test('an agent loses its ledger: what the board knows of its successes is enough to run nothing', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  const before = new Map(
    (await fleet.reader.placements()).map((row) => [`${row.cluster}/${row.name}`, row.gen.order]),
  );
  await fleet.agents.get('quay')?.stop();
  await wipe(fleet.agentData('quay'));
  fleet.agents.get('quay')?.start();
  // the hub hears of it by hello, and makes sure by a second one
  await until('every order to be published again', async () => {
    const rows = (await fleet.reader.placements()).filter((row) => row.cluster === 'quay');
    return rows.every((row) => (row.gen.order ?? 0) > (before.get(`quay/${row.name}`) ?? 0));
  });
  story.failures += 1;
  await rest(story);
  await commit(story);
  await rest(story);
});
