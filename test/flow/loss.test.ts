import { test } from 'node:test';
import { until } from '../harness/until.ts';
import { wipe } from './fleet.ts';
import { begin, commit, rest, type Story } from './story.ts';

interface Loss {
  readonly hub: boolean;
  readonly broker: boolean;
}

/** What is lost goes down first, and comes back empty. */
async function lose({ fleet }: Story, loss: Loss): Promise<void> {
  if (loss.hub) await fleet.hub.stop();
  if (loss.broker) {
    await fleet.nats.stop('SIGKILL');
    await wipe(fleet.nats.storeFolder);
    await fleet.nats.start();
  }
  if (!loss.hub) return;
  await wipe(fleet.hubData);
  fleet.hub.start();
}

const LOSSES: Readonly<Record<string, Loss>> = {
  'the data folder of the hub': { hub: true, broker: false },
  'the store of the broker': { hub: false, broker: true },
  'both of them': { hub: true, broker: true },
};

test('hub and broker lose everything: nothing that is unchanged runs, nothing is destroyed, the next commit runs once', async (t) => {
  const story = await begin(t);
  const { fleet } = story;
  for (const [name, loss] of Object.entries(LOSSES))
    await t.test(`${name}, while all is at rest`, async () => {
      // the order of a lost stream is made anew, above the one before
      story.failures += loss.broker ? 1 : 0;
      await lose(story, loss);
      await rest(story);
      await commit(story);
      await rest(story);
    });
  for (const [name, loss] of Object.entries(LOSSES))
    await t.test(`${name}, while a commit is on its way`, async () => {
      story.failures += loss.broker ? 1 : 0;
      if (loss.hub) fleet.hub.letEnd();
      await fleet.doom(loss.hub ? 'hub' : 'agent', loss.hub ? 'published' : 'orderAcked');
      await commit(story);
      await until('a part to die on the way', () => fleet.isDone());
      if (loss.hub) await until('the hub to end', () => fleet.hub.child().pid() === undefined);
      await lose(story, loss);
      await rest(story);
    });
});
