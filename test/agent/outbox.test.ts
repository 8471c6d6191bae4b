import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { makeOutbox, type Outbox } from '../../agent/outbox.ts';
import { atEnd } from '../harness/owned.ts';
import { until } from '../harness/until.ts';

function outboxOf(context: TestContext, firstMs = 1): { outbox: Outbox; errors: string[] } {
  const errors: string[] = [];
  const outbox = makeOutbox({ firstMs, longestMs: 60_000, onError: (key) => errors.push(key) });
  atEnd(context, () => outbox.close());
  return { outbox, errors };
}

test('what fails is sent again until it is acknowledged', async (context) => {
  const { outbox, errors } = outboxOf(context);
  let tries = 0;
  outbox.put('a', async () => {
    if ((tries += 1) < 3) throw new Error('away');
  });
  await outbox.idle(AbortSignal.timeout(10_000));
  assert.deepEqual([tries, errors, outbox.size], [3, ['a', 'a'], 0]);
});

test('under one key only the newest is sent, one at a time', async (context) => {
  const { outbox } = outboxOf(context);
  const sent: number[] = [];
  const gate = Promise.withResolvers<void>();
  let isUnderWay = false;
  outbox.put('a', async () => {
    isUnderWay = true;
    await gate.promise;
    sent.push(1);
  });
  await until('the first to be under way', () => isUnderWay);
  for (const n of [2, 3]) outbox.put('a', async () => void sent.push(n));
  gate.resolve();
  await outbox.idle(AbortSignal.timeout(10_000));
  assert.deepEqual(sent, [1, 3]);
});

test('while it pauses nothing is tried; a wake tries everything at once', async (context) => {
  const { outbox, errors } = outboxOf(context, 30_000);
  let up = false;
  const sent: string[] = [];
  const send = (key: string) => async (): Promise<void> => {
    if (!up) throw new Error('away');
    sent.push(key);
  };
  outbox.put('a', send('a'));
  await until('the first failure', () => errors.length === 1);
  outbox.put('b', send('b'));
  assert.equal(outbox.size, 2);
  up = true;
  outbox.wake();
  await outbox.idle(AbortSignal.timeout(10_000));
  assert.deepEqual(sent, ['a', 'b']);
});

test('waiting for it ends with the signal', async (context) => {
  const { outbox } = outboxOf(context);
  outbox.put('a', () => new Promise(() => undefined));
  await outbox.idle(AbortSignal.abort());
  assert.equal(outbox.size, 1);
});
