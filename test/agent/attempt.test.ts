import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carryOut } from '../../agent/attempt.ts';
import type { NotReady } from '../../agent/executor.ts';
import { makeLog } from '../../shared/log.ts';
import type { Order } from '../../shared/wire.ts';
import { tempFolder } from '../harness/temp.ts';
import { until } from '../harness/until.ts';
import { makeRig } from './rig.ts';
import { attemptOf, digest, endOf, entryOf, INCARNATION, orderOf, stack } from './samples.ts';
import { lostEnd, makeScripted, makeWorld, type World } from './scripted.ts';

const KEY = 'apps/web';
const idle = new AbortController().signal;
const begun = (world: World, count: number) =>
  until(`${count} starts`, () => world.starts.length >= count && world.starts);

test('an order that comes while another is prepared takes its place, and only the newest starts', async (context) => {
  const world = makeWorld();
  const rig = await makeRig(context, {
    executor: makeScripted(world, {
      prepare: (job, signal) =>
        job.order.gen > 10
          ? Promise.resolve(undefined)
          : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
    }),
  });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Preparing');
  await rig.take(orderOf({ gen: 12, inputDigest: digest('b') }));
  await rig.phase(KEY, 'Succeeded');
  assert.deepEqual(
    world.starts.map(({ gen }) => gen),
    [12],
  );
});

test('an attempt that was recorded and never went starts once more, and not a third time', async (context) => {
  const world = makeWorld();
  const folder = await tempFolder(context);
  const dead = await makeRig(context, {
    folder,
    executor: makeScripted(world),
    open: new Promise(() => undefined),
  });
  await dead.ledger.update(stack, () => ({
    ...entryOf({ running: attemptOf(orderOf(), 'r0') }),
    unclean: true,
  }));
  await dead.die();
  const rig = await makeRig(context, { folder, executor: makeScripted(world, { run: lostEnd }) });
  const report = await rig.phase(KEY, 'Failed');
  assert.equal(report.reason.code, 'AlreadyAttempted');
  assert.equal(report.attempt, 2);
  assert.equal(world.starts.length, 1);
});

test('what is not ready is waited for, by its own pause', async (context) => {
  const world = makeWorld();
  let asked = 0;
  const lock: NotReady = {
    kind: 'wait',
    reason: { code: 'Locked', text: 'somebody holds the lock' },
    retryMs: 30,
    lock: { holder: 'me@there (pid 1)', since: 1 },
  };
  const prepare = async (): Promise<NotReady | undefined> => ((asked += 1) < 3 ? lock : undefined);
  const rig = await makeRig(context, { executor: makeScripted(world, { prepare }) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  assert.equal(asked, 3);
  assert.ok(rig.said.includes(`${KEY} Waiting Locked`));
  assert.equal(world.cleaned.length >= 2, true);
});

test('what a person must decide is held until a newer order', async (context) => {
  const world = makeWorld();
  let held = true;
  const hold: NotReady = { kind: 'hold', reason: { code: 'WouldDelete', text: 'it would delete 2' } };
  const prepare = async (): Promise<NotReady | undefined> => (held ? hold : undefined);
  const rig = await makeRig(context, { executor: makeScripted(world, { prepare }) });
  await rig.take(orderOf());
  assert.equal((await rig.phase(KEY, 'Stalled')).reason.code, 'WouldDelete');
  held = false;
  rig.conductor.wake();
  await rig.take(orderOf({ gen: 11 }));
  await rig.phase(KEY, 'Succeeded');
  assert.equal(world.starts.length, 1);
});

test('an attempt that fails before it begins leaves what was applied undoubted', async (context) => {
  const world = makeWorld();
  const failed: NotReady = {
    kind: 'failed',
    failure: 'Config',
    reason: { code: 'RunFailed', text: 'no secret' },
  };
  const prepare = async (job: { order: Order }) =>
    job.order.inputDigest === digest('b') ? failed : undefined;
  const rig = await makeRig(context, { executor: makeScripted(world, { prepare }) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  await rig.take(orderOf({ gen: 11, inputDigest: digest('b') }));
  assert.equal((await rig.phase(KEY, 'Failed')).failure, 'Config');
  await rig.take(orderOf({ gen: 12 }));
  assert.equal((await rig.phase(KEY, 'Succeeded')).reason.code, 'AlreadyApplied');
  assert.equal(world.starts.length, 1);
});

test('the revert of a failed update runs', async (context) => {
  const world = makeWorld();
  const failure = endOf({
    result: 'failed',
    failure: 'Program',
    reason: { code: 'RunFailed', text: 'broken' },
  });
  const run = ({ inputDigest }: { inputDigest: string }) => (inputDigest === digest('b') ? failure : endOf());
  const rig = await makeRig(context, { executor: makeScripted(world, { run }) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  await rig.take(orderOf({ gen: 11, inputDigest: digest('b') }));
  await rig.phase(KEY, 'Failed');
  await rig.take(orderOf({ gen: 12 }));
  assert.equal((await rig.phase(KEY, 'Succeeded')).reason.code, 'RunSucceeded');
  assert.deepEqual(
    world.starts.map(({ inputDigest }) => inputDigest),
    [digest('a'), digest('b'), digest('a')],
  );
});

test('a preparation that breaks is told and tried again', async (context) => {
  const world = makeWorld();
  let asked = 0;
  const prepare = async (): Promise<undefined> => {
    if ((asked += 1) === 1) throw new Error('no space left');
  };
  const rig = await makeRig(context, { executor: makeScripted(world, { prepare }) });
  await rig.take(orderOf());
  const report = await rig.phase(KEY, 'Waiting');
  assert.equal(report.reason.code, 'BackingOff');
  assert.doesNotMatch(report.reason.text, /space/);
  await rig.phase(KEY, 'Succeeded');
  assert.equal(world.starts.length, 1);
});

test('a run whose end cannot be read is followed again, and never started again', async (context) => {
  const world = makeWorld();
  let asked = 0;
  const finish = async (): Promise<void> => {
    if ((asked += 1) === 1) throw new Error('no space left');
  };
  const rig = await makeRig(context, { executor: makeScripted(world, { finish }) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Succeeded');
  assert.equal(asked, 2);
  assert.equal(world.starts.length, 1);
});

test('a rebuilt cluster runs everything once, with a refresh', async (context) => {
  const world = makeWorld();
  const folder = await tempFolder(context);
  const first = await makeRig(context, { folder, executor: makeScripted(world) });
  await first.take(orderOf());
  await first.phase(KEY, 'Succeeded');
  await first.die();
  const second = await makeRig(context, { folder, executor: makeScripted(world), incarnation: 'cluster-2' });
  await begun(world, 2);
  await until(
    'the success in the new cluster',
    () => second.entry(KEY)?.lastSuccess?.incarnation === 'cluster-2',
  );
  second.conductor.wake();
  assert.deepEqual(
    world.starts.map(({ refresh, first }) => [refresh, first]),
    [
      [false, true],
      [true, false],
    ],
  );
});

test('an order that comes between the gate and the record is seen: nothing is recorded, nothing goes', async (context) => {
  const world = makeWorld();
  const executor = makeScripted(world);
  const rig = await makeRig(context, { executor, open: new Promise(() => undefined) });
  await rig.take(orderOf());
  const decision = {
    kind: 'run',
    reason: { code: 'NewPlacement', text: '' },
    number: 1,
    first: true,
    refresh: false,
  } as const;
  const outcome = await carryOut(
    {
      ledger: rig.ledger,
      executor,
      reports: rig.reports,
      transcripts: { open: () => assert.fail('nothing runs') },
      incarnation: INCARNATION,
      now: Date.now,
      newRunId: () => 'r1',
      view: () => undefined,
      ended: () => undefined,
      at: (step) => (step === 'gated' ? rig.take(orderOf({ gen: 11 })) : undefined),
      log: makeLog({ name: 'test', level: 'silent' }),
    },
    { entry: rig.entry(KEY)!, order: orderOf(), decision, giveUp: idle, stop: idle },
  );
  assert.deepEqual(outcome, { kind: 'givenUp' });
  assert.deepEqual([rig.entry(KEY)?.running, world.starts, world.cleaned], [undefined, [], ['r1']]);
});
