/** What an acknowledgement of an order means, on a real broker. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receive } from '../../agent/receive.ts';
import { atNothing } from '../../agent/steps.ts';
import { makeLog } from '../../shared/log.ts';
import { AGENT_API_PREFIX } from '../../shared/subjects.ts';
import { connectTo } from '../harness/client.ts';
import { atEnd } from '../harness/owned.ts';
import { until } from '../harness/until.ts';
import { startHubSide } from './hubside.ts';
import { CLUSTER, orderOf } from './samples.ts';

test('an order that could not be recorded is not acknowledged, and comes again', async (t) => {
  const hub = await startHubSide(t);
  const { js } = await connectTo(t, hub.server.url, { seed: hub.seed, apiPrefix: AGENT_API_PREFIX });
  const taken: string[] = [];
  const take = async (subject: string): Promise<void> => {
    taken.push(subject);
    if (taken.length === 1) throw new Error('the disk is full');
  };
  const stop = new AbortController();
  const log = makeLog({ name: 'test', level: 'silent' });
  const parts = { js, account: CLUSTER, take, drained: () => undefined, at: atNothing, log };
  const received = receive(parts, stop.signal);
  atEnd(t, async () => {
    stop.abort();
    await received;
  });
  await hub.publish(orderOf());
  await until('the order to come again', () => taken.length === 2);
  assert.equal(taken[0], taken[1]);
  await until('it to be acknowledged', async () => (await hub.unacknowledged()) === 0);
});
