import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../harness/until.ts';
import { wipe } from './fleet.ts';
import { applied, program } from './programs.ts';
import { begin, broken, commit, rest, type Story } from './story.ts';

/** The agent of quay goes, and its ledger; what is committed meanwhile is all that the next one finds. */
async function loseLedger({ fleet }: Story, meanwhile: () => Promise<unknown>): Promise<void> {
  const agent = fleet.agents.get('quay');
  await agent?.stop();
  await wipe(fleet.agentData('quay'));
  await meanwhile();
  agent?.start();
}

test('an agent loses its ledger: what the board knows of its successes is enough to run nothing', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  const ordersOfQuay = async (): Promise<Map<string, number>> => {
    const rows = (await fleet.reader.placements()).filter((row) => row.cluster === 'quay');
    return new Map(rows.map(({ name, gen }) => [name, gen.order ?? 0]));
  };
  const before = await ordersOfQuay();
  await loseLedger(story, async () => undefined);
  // the hub hears of it by hello, and makes sure by a second one
  await until('every order to be published again', async () =>
    [...(await ordersOfQuay())].every(([name, gen]) => gen > (before.get(name) ?? 0)),
  );
  story.failures += 1;
  await rest(story);
  await commit(story);
  await rest(story);

  await t.test('what began and never succeeded is not taken for what was applied before', async () => {
    const file = 'stacks/web/Pulumi.yaml';
    await fleet.reader.atRest(await fleet.commit('break', { [file]: broken('web') }));
    const mended = { [file]: program('web', `value ${story.commits}`) };
    await loseLedger(story, async () => (story.newest = await fleet.commit('mend', mended)));
    await fleet.reader.atRest(story.newest);
    // as often as there were commits: the one that broke it ended badly, the one that mended it ran again
    for (const name of fleet.agents.keys())
      assert.deepEqual(
        await applied(fleet.state, 'web', name),
        { value: `value ${story.commits}`, updates: story.commits + 2 },
        name,
      );
  });
});
