/** A newer order that this agent cannot read, while an older one is still to be carried out. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { NotReady } from '../../agent/executor.ts';
import { hubSubjects } from '../../shared/subjects.ts';
import { until } from '../harness/until.ts';
import { makeRig, type Rig } from './rig.ts';
import { CLUSTER, orderOf, stack } from './samples.ts';
import { makeScripted, makeWorld } from './scripted.ts';

const KEY = 'apps/web';
const SUBJECT = hubSubjects.order(CLUSTER, stack);
const newer = (gen: number): Uint8Array => new TextEncoder().encode(JSON.stringify({ v: 2, gen }));

interface Tried extends Rig {
  /** How often files and dependencies were laid out. */
  readonly prepared: () => number;
}

/** The order is recorded, then one that cannot be read; only then may anything start. */
async function overtaken(context: TestContext, verdict: NotReady | undefined): Promise<Tried> {
  let prepared = 0;
  const prepare = async (): Promise<NotReady | undefined> => {
    prepared += 1;
    return verdict;
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  const rig = await makeRig(context, { executor: makeScripted(makeWorld(), { prepare }), open: promise });
  await rig.take(orderOf());
  await rig.takeBytes(SUBJECT, newer(20));
  resolve();
  return { ...rig, prepared: () => prepared };
}

test('what can never begin ends its one attempt', async (context) => {
  const reason = { code: 'Invalid', text: 'no such project' } as const;
  const rig = await overtaken(context, { kind: 'failed', failure: 'Config', reason });
  await until('the attempt to be recorded', () => rig.entry(KEY)?.last !== undefined);
  assert.equal(rig.entry(KEY)?.last?.reason.text, 'no such project');
  for (let n = 0; n < 5; n += 1) await rig.takeBytes(SUBJECT, newer(20));
  assert.equal(rig.prepared(), 1);
});

test('what is not ready yet waits for its pause', async (context) => {
  const reason = { code: 'Locked', text: 'locked by eve' } as const;
  const rig = await overtaken(context, { kind: 'wait', reason, retryMs: 60_000 });
  await rig.phase(KEY, 'Waiting');
  await until('the reason to be told', () => rig.newest(KEY)?.reason.code === 'Locked');
  for (let n = 0; n < 5; n += 1) await rig.takeBytes(SUBJECT, newer(20));
  assert.equal(rig.prepared(), 1);
});

test('a preparation that goes on is not given up for it', async (context) => {
  let ready: (value: undefined) => void = () => undefined;
  let givenUp = false;
  const world = makeWorld();
  const prepare = (_: unknown, signal: AbortSignal): Promise<undefined> => {
    signal.addEventListener('abort', () => (givenUp = true));
    return new Promise((resolve) => (ready = resolve));
  };
  const rig = await makeRig(context, { executor: makeScripted(world, { prepare }) });
  await rig.take(orderOf());
  await rig.phase(KEY, 'Preparing');
  await rig.takeBytes(SUBJECT, newer(20));
  ready(undefined);
  await until('the run to be recorded', () => rig.entry(KEY)?.lastSuccess !== undefined);
  assert.equal(givenUp, false);
  assert.ok(
    rig.said.some((one) => one.startsWith(`${KEY} Running`)),
    rig.said.join('\n'),
  );
  assert.equal(world.starts.length, 1);
});
