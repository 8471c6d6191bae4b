import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../agent/ledger/entry.ts';
import { positionShown } from '../../agent/queue.ts';
import type { Order } from '../../shared/wire.ts';
import { tempFolder } from '../harness/temp.ts';
import { until } from '../harness/until.ts';
import { makeRig } from './rig.ts';
import { digest, endOf, orderOf, stack, successOf } from './samples.ts';
import { cancelledEnd, makeScripted, makeWorld, type World } from './scripted.ts';

const KEY = 'apps/web';
const named = (name: string, more: Partial<Order> = {}): Order =>
  orderOf({ stack: { namespace: 'apps', name }, ...more });
const begun = (world: World, count: number) =>
  until(`${count} starts`, () => world.starts.length >= count && world.starts);
const policyOf = (more: Partial<Order['policy']>): Order['policy'] => ({ ...orderOf().policy, ...more });

test('an order is run once, and each step is told', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world) });
  await rig.take(orderOf());
  const report = await rig.phase(KEY, 'Succeeded');
  assert.deepEqual(rig.said, [
    `${KEY} Pending NewPlacement`,
    `${KEY} Preparing NewPlacement`,
    `${KEY} Running NewPlacement`,
    `${KEY} Succeeded RunSucceeded`,
  ]);
  assert.equal(report.gen, 10);
  assert.equal(report.attempt, 1);
  assert.deepEqual(report.tail, ['last line']);
  assert.equal(report.lastSuccess?.inputDigest, digest('a'));
  assert.deepEqual(
    world.starts.map(({ key, gen, first }) => [key, gen, first]),
    [[KEY, 10, true]],
  );
  const entry = rig.entry(KEY);
  assert.equal(entry?.running, undefined);
  assert.equal(entry?.unclean, undefined);
  assert.equal(entry?.encryptionSalt, 'v1:salt');
  assert.deepEqual(
    entry?.records.map(({ runId, result, trigger }) => [runId, result, trigger.code]),
    [[world.starts[0]?.runId, 'succeeded', 'NewPlacement']],
  );
  await until('the folder to be removed', () => world.cleaned.includes(world.starts[0]!.runId));
});

test('known inputs in a new order are told and run nothing', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  await rig.take(orderOf({ gen: 11 }));
  const report = await until('the new generation', () => rig.newest(KEY)?.gen === 11 && rig.newest(KEY));
  assert.deepEqual([report.phase, report.reason.code], ['Succeeded', 'AlreadyApplied']);
  assert.equal(world.starts.length, 1);
});

test('a placement that moves takes the encryption of its old Pulumi stack not along', async (context) => {
  const salts: (string | undefined)[] = [];
  const prepare = async ({ encryptionSalt }: { readonly encryptionSalt?: string }): Promise<undefined> =>
    void salts.push(encryptionSalt);
  const rig = await makeRig(context, { executor: makeScripted(makeWorld(), { prepare }) });
  const orders = [
    { inputDigest: digest('b') },
    { inputDigest: digest('c'), claim: 'file:///state elsewhere' },
  ];
  for (const [n, more] of [{}, ...orders].entries()) {
    await rig.take(orderOf({ gen: 11 + n, ...more }));
    await until('its run', () => rig.newest(KEY)?.gen === 11 + n && rig.newest(KEY)?.phase === 'Succeeded');
  }
  assert.deepEqual(salts, [undefined, 'v1:salt', undefined]);
});

test('slots are never exceeded, and a change of their number applies live', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world, { run: () => undefined }) });
  await rig.policy(1, { maxConcurrentRuns: 2 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) await rig.take(named(name));
  await begun(world, 2);
  await rig.phase('apps/e', 'Waiting');
  assert.deepEqual(rig.newest('apps/c')?.next, { kind: 'slot', queuePosition: 1 });
  assert.equal(rig.newest('apps/c')?.reason.code, 'NoSlot');
  assert.equal(rig.conductor.freeSlots, 0);
  assert.equal(world.starts.length, 2);
  await rig.policy(2, { maxConcurrentRuns: 4 });
  await begun(world, 4);
  await rig.policy(3, { maxConcurrentRuns: 1 });
  world.going.get(world.starts[0]!.runId)!(endOf());
  await rig.phase('apps/a', 'Succeeded');
  assert.equal(world.starts.length, 4);
  for (const { runId } of world.starts) world.going.get(runId)?.(endOf());
  await begun(world, 5);
  world.going.get(world.starts[4]!.runId)!(endOf());
  await rig.phase('apps/e', 'Succeeded');
  assert.equal(world.mostAtOnce, 4);
});

test('an order for the cluster with a smaller generation changes nothing', async (context) => {
  const rig = await makeRig(context, { executor: makeScripted(makeWorld()) });
  await rig.policy(5, { maxConcurrentRuns: 7 });
  await rig.policy(4, { maxConcurrentRuns: 1 });
  assert.equal(rig.ledger.header.clusterOrder?.policy.maxConcurrentRuns, 7);
  await until('the slots', () => rig.conductor.freeSlots === 7);
});

test('a run goes on to its end; then the newest order runs, and what lies between is named', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world, { run: () => undefined }) });
  await rig.take(orderOf());
  await begun(world, 1);
  const source = { ...orderOf().source, commit: 'between' };
  await rig.take(orderOf({ gen: 11, inputDigest: digest('b'), source }));
  const waiting = await rig.phase(KEY, 'Waiting');
  assert.equal(waiting.gen, 11);
  assert.equal(waiting.next?.blockedBy, world.starts[0]?.runId);
  await rig.take(orderOf({ gen: 12, inputDigest: digest('c') }));
  world.going.get(world.starts[0]!.runId)!(endOf());
  await begun(world, 2);
  world.going.get(world.starts[1]!.runId)!(endOf());
  const report = await until('generation 12', () => rig.phase(KEY, 'Succeeded'));
  assert.equal(report.gen, 12);
  assert.deepEqual(
    world.starts.map(({ gen }) => gen),
    [10, 12],
  );
  assert.equal(rig.entry(KEY)?.lastSuccess?.inputDigest, digest('c'));
});

test('orders that are replaced in the queue are named in the reason of the one that runs', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, {
    executor: makeScripted(world, { run: () => undefined }),
    maxSlots: 1,
  });
  await rig.take(named('first'));
  await begun(world, 1);
  const source = { ...orderOf().source, commit: 'between' };
  await rig.take(orderOf({ gen: 11, source }));
  await rig.take(orderOf({ gen: 12, inputDigest: digest('b') }));
  world.going.get(world.starts[0]!.runId)!(endOf());
  await begun(world, 2);
  assert.match(rig.entry(KEY)?.running?.trigger.text ?? '', /replaced before they started: between$/);
  world.going.get(world.starts[1]!.runId)!(endOf());
  await rig.phase(KEY, 'Succeeded');
});

test('a hold lets a run finish, and starts nothing more', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world, { run: () => undefined }) });
  await rig.take(orderOf());
  await begun(world, 1);
  await rig.take(
    orderOf({
      gen: 11,
      action: 'hold',
      reasons: [{ code: 'Suspended', text: 'freeze' }],
      inputDigest: digest('b'),
    }),
  );
  world.going.get(world.starts[0]!.runId)!(endOf());
  const report = await rig.phase(KEY, 'Suspended');
  assert.equal(report.reason.text, 'freeze');
  assert.equal(rig.entry(KEY)?.lastSuccess?.inputDigest, digest('a'));
  assert.equal(world.starts.length, 1);
});

test('a run that an earlier agent started is followed, takes its slot, and is not started again', async (context) => {
  const world = makeWorld();
  const folder = await tempFolder(context);
  const first = await makeRig(context, { folder, executor: makeScripted(world, { run: () => undefined }) });
  await first.take(orderOf());
  await begun(world, 1);
  await first.die();
  const second = await makeRig(context, { folder, executor: makeScripted(world), maxSlots: 1 });
  await second.take(named('other'));
  await until('the run to be followed', () => second.conductor.running.includes(KEY));
  await second.phase('apps/other', 'Waiting');
  world.going.get(world.starts[0]!.runId)!(endOf());
  await second.phase(KEY, 'Succeeded');
  await second.phase('apps/other', 'Succeeded');
  assert.deepEqual(
    world.starts.map(({ key }) => key),
    [KEY, 'apps/other'],
  );
  assert.deepEqual(world.swept, []);
});

test('a forgotten placement leaves its generation, and its resources to others', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  await rig.take(orderOf({ gen: 11, action: 'forget', reasons: [{ code: 'Removed', text: 'retain' }] }));
  const report = await rig.phase(KEY, 'Orphaned');
  assert.deepEqual(report.reason, { code: 'Removed', text: 'retain' });
  await until('the entry to be small', () => rig.entry(KEY)?.order === undefined);
  assert.deepEqual([rig.entry(KEY)?.gen, rig.entry(KEY)?.lastSuccess], [11, undefined]);
  await rig.take(orderOf({ gen: 10 }));
  assert.equal(rig.verdicts.at(-1), 'stale');
  assert.equal(world.starts.length, 1);
});

test('the generation of a forgotten placement is dropped after 30 days', async (context) => {
  let now = 1_000;
  const rig = await makeRig(context, { executor: makeScripted(makeWorld()), now: () => now });
  await rig.take(orderOf({ action: 'forget' }));
  await until('the entry to be small', () => rig.entry(KEY)?.forgottenAt === 1_000);
  now += 31 * 24 * 60 * 60 * 1_000;
  rig.conductor.wake();
  await until('the entry to be gone', () => rig.entry(KEY) === undefined);
});

test('nothing starts before the orders were read to their end', async (context) => {
  const world = makeWorld();
  const { promise, resolve } = Promise.withResolvers<void>();
  const rig = await makeRig(context, { executor: makeScripted(world), open: promise });
  await rig.take(orderOf());
  assert.equal((await rig.phase(KEY, 'Waiting')).reason.code, 'Starting');
  assert.equal(world.starts.length, 0);
  resolve();
  await rig.phase(KEY, 'Succeeded');
});

test('nothing starts while what earlier runs left cannot be cleared', async (context) => {
  const world = makeWorld();
  const executor = { ...makeScripted(world), sweep: () => Promise.reject(new Error('no')) };
  const rig = await makeRig(context, { executor });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Waiting');
  assert.equal(world.starts.length, 0);
});

test('an agent that ends starts nothing, stops what goes on if it is told to, and its successor goes on', async (context) => {
  const world = makeWorld();
  const folder = await tempFolder(context);
  const first = await makeRig(context, { folder, executor: makeScripted(world, { run: () => undefined }) });
  await first.take(orderOf());
  await begun(world, 1);
  first.conductor.quiesce();
  await first.take(named('late'));
  first.conductor.cancel();
  await first.conductor.idle();
  assert.equal(first.entry(KEY)?.last?.failure, cancelledEnd().failure);
  await first.die();
  assert.equal(world.starts.length, 1);
  const second = await makeRig(context, { folder, executor: makeScripted(world) });
  await second.phase(KEY, 'Succeeded');
  await second.phase('apps/late', 'Succeeded');
  assert.equal(world.starts.length, 3);
});

test('a group goes one at a time', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world, { run: () => undefined }) });
  const policy = policyOf({ concurrencyGroup: 'aws' });
  await rig.take(named('a', { policy }));
  await rig.take(named('b', { policy }));
  await begun(world, 1);
  assert.equal((await rig.phase('apps/b', 'Waiting')).next?.blockedBy, 'apps/a');
  world.going.get(world.starts[0]!.runId)!(endOf());
  await begun(world, 2);
  world.going.get(world.starts[1]!.runId)!(endOf());
  await rig.phase('apps/b', 'Succeeded');
});

test('a seeded placement without an order waits for one', async (context) => {
  const rig = await makeRig(context, { executor: makeScripted(makeWorld()) });
  await rig.ledger.update(stack, () => ({ stack, gen: 9, lastSuccess: successOf(), records: [] }));
  await rig.take(orderOf());
  assert.equal((await rig.phase(KEY, 'Succeeded')).reason.code, 'AlreadyApplied');
});

test('a seeded placement whose last update never succeeded runs again, whatever was applied before', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world) });
  const seed = { stack, gen: 9, lastSuccess: successOf(), unclean: true } as const;
  await rig.ledger.update(stack, () => seeded(undefined, seed));
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  assert.equal(world.starts.length, 1);
  assert.equal(rig.entry(KEY)?.report?.unclean, undefined);
});

test('places in a long queue are rounded, so that they change seldom', () => {
  assert.deepEqual(
    [1, 5, 6, 10, 11, 21, 51, 101, 500, 501].map(positionShown),
    [1, 5, 10, 10, 20, 50, 100, 200, 500, 1000],
  );
});

test('a heavy run takes its weight in slots until it ends', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, { executor: makeScripted(world, { run: () => undefined }) });
  await rig.policy(1, { maxConcurrentRuns: 4 });
  await rig.take(named('heavy', { policy: policyOf({ weight: 3 }) }));
  await begun(world, 1);
  assert.equal(rig.conductor.freeSlots, 1);
  world.going.get(world.starts[0]!.runId)!(endOf());
  await until('all slots to be free', () => rig.conductor.freeSlots === 4);
});
