import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hubSubjects } from '../../shared/subjects.ts';
import { encode } from '../../shared/wire.ts';
import { until } from '../harness/until.ts';
import { makeRig, type Rig } from './rig.ts';
import { CLUSTER, digest, orderOf, stack } from './samples.ts';
import { makeScripted, makeWorld } from './scripted.ts';

const SUBJECT = hubSubjects.order(CLUSTER, stack);
const KEY = 'apps/web';
const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const never = new Promise<void>(() => undefined);

const BAD: readonly (readonly [string, Uint8Array, string, number])[] = [
  ['not JSON', new TextEncoder().encode('{"v":1,'), 'Invalid', 10],
  ['empty', new Uint8Array(), 'Invalid', 10],
  ['an acknowledgement of the broker', json({ stream: 'x', seq: 3 }), 'NotYetSupported', 10],
  ['a newer version', json({ ...orderOf({ gen: 11 }), v: 2 }), 'NotYetSupported', 11],
  ['a field that is missing', json({ ...orderOf({ gen: 11 }), inputDigest: undefined }), 'Invalid', 11],
  ['for another cluster', encode(orderOf({ gen: 99, cluster: 'prod' })), 'Invalid', 10],
  [
    'for another stack',
    encode(orderOf({ gen: 99, stack: { namespace: 'apps', name: 'api' } })),
    'Invalid',
    10,
  ],
];

for (const [name, bytes, code, gen] of BAD)
  test(`a message that is ${name} is refused and told, and the order in force stays`, async (context) => {
    const world = makeWorld();
    const rig = await makeRig(context, { executor: makeScripted(world) });
    await rig.take(orderOf());
    await rig.phase(KEY, 'Succeeded');
    await rig.takeBytes(SUBJECT, bytes);
    assert.equal(rig.verdicts.at(-1), 'refused');
    assert.equal((await rig.phase(KEY, 'Invalid')).reason.code, code);
    assert.deepEqual([rig.entry(KEY)?.order?.gen, rig.entry(KEY)?.gen], [10, gen]);
    await rig.take(orderOf({ gen: 200 }));
    await rig.phase(KEY, 'Succeeded');
    assert.deepEqual(
      [world.starts.length, rig.entry(KEY)?.refused, rig.entry('apps/api')],
      [1, undefined, undefined],
    );
  });

test('an older order is refused and told, until the broker says again what is held', async (context) => {
  const rig = await makeRig(context, { executor: makeScripted(makeWorld()) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  await rig.take(orderOf({ gen: 9, inputDigest: digest('b') }));
  assert.deepEqual(rig.entry(KEY)?.report?.stale, { have: 10, got: 9 });
  assert.equal(rig.entry(KEY)?.report?.reason.code, 'StaleOrder');
  await rig.take(orderOf());
  assert.deepEqual(rig.verdicts, ['accepted', 'stale', 'duplicate']);
  assert.equal(rig.entry(KEY)?.report?.stale, undefined);
});

test('the first message of a placement that cannot be read is told', async (context) => {
  const rig = await makeRig(context, { executor: makeScripted(makeWorld()) });
  await rig.takeBytes(SUBJECT, json({ v: 2, gen: 5 }));
  assert.equal((await rig.phase(KEY, 'Invalid')).gen, 5);
});

test('a subject that names no placement leaves nothing behind', async (context) => {
  const rig = await makeRig(context, { executor: makeScripted(makeWorld()) });
  await rig.takeBytes(`orders.${CLUSTER}.apps.../../etc`, encode(orderOf()));
  await rig.takeBytes(`orders.${CLUSTER}.APPS.web`, encode(orderOf()));
  assert.deepEqual([rig.ledger.entries.size, rig.verdicts], [0, ['refused', 'refused']]);
});

test('a policy for another cluster is passed over', async (context) => {
  const rig = await makeRig(context, { executor: makeScripted(makeWorld()) });
  const policy = { maxConcurrentRuns: 1 };
  await rig.takeBytes(
    hubSubjects.clusterOrder(CLUSTER),
    json({ v: 1, gen: 5, term: 1, cluster: 'prod', policy }),
  );
  assert.equal(rig.ledger.header.clusterOrder, undefined);
});

/** Messages as a broker may deliver them: each at least once, in any order, over and over. */
const deliveries = fc
  .uniqueArray(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 5 })
  .chain((gens) =>
    fc
      .array(fc.constantFrom(...gens), { maxLength: 10 })
      .chain((more) => fc.shuffledSubarray([...gens, ...more], { minLength: gens.length + more.length })),
  );

test('whatever the broker repeats, reorders or holds back, the order with the highest generation rests', async (context) => {
  await fc.assert(
    fc.asyncProperty(deliveries, fc.boolean(), async (gens, atOnce) => {
      const world = makeWorld();
      const rig: Rig = await makeRig(context, {
        executor: makeScripted(world),
        ...(atOnce ? {} : { open: never }),
      });
      const orders = gens.map((gen) => orderOf({ gen, inputDigest: digest((gen % 4).toString()) }));
      if (atOnce) await Promise.all(orders.map(rig.take));
      else for (const order of orders) await rig.take(order);
      const newest = Math.max(...gens);
      const entry = rig.entry(KEY);
      assert.deepEqual([entry?.gen, entry?.order?.gen], [newest, newest]);
      if (!atOnce) return rig.die();
      const applied = await until(
        'rest',
        () =>
          rig.entry(KEY)?.running === undefined && rig.newest(KEY)?.phase === 'Succeeded' && rig.entry(KEY),
      );
      assert.equal(applied.lastSuccess?.inputDigest, digest((newest % 4).toString()));
      const starts = world.starts.map(({ gen }) => gen);
      assert.deepEqual(
        starts,
        [...new Set(starts)].sort((a, b) => a - b),
      );
      await rig.die();
    }),
    { numRuns: 25 },
  );
});
