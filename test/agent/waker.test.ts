import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePauses } from '../../agent/pauses.ts';
import { makeWaker } from '../../agent/waker.ts';
import { atEnd } from '../harness/owned.ts';
import { until } from '../harness/until.ts';

test('passes never overlap, and a wake during a pass is one more pass', async (context) => {
  let [passes, now, most] = [0, 0, 0];
  const gate = Promise.withResolvers<void>();
  const pass = async (): Promise<void> => {
    passes += 1;
    most = Math.max(most, (now += 1));
    await gate.promise;
    now -= 1;
  };
  const waker = makeWaker({ pass, failed: () => undefined });
  atEnd(context, () => waker.close());
  for (let n = 0; n < 5; n += 1) waker.wake();
  gate.resolve();
  await until('the second pass', () => passes === 2 && now === 0);
  assert.equal(most, 1);
});

test('the earliest of several times wakes, and nothing after close', async (context) => {
  let passes = 0;
  const waker = makeWaker({ pass: async () => void (passes += 1), failed: () => undefined });
  atEnd(context, () => waker.close());
  waker.at(3_600_000, 0);
  waker.at(1, 0);
  waker.at(7_200_000, 0);
  await until('the pass', () => passes === 1);
  waker.close();
  waker.wake();
  assert.equal(passes, 1);
});

test('a pass that throws is told', async (context) => {
  const errors: unknown[] = [];
  const failed = (error: unknown): void => void errors.push(error);
  const waker = makeWaker({ pass: () => Promise.reject(new Error('no')), failed });
  atEnd(context, () => waker.close());
  waker.wake();
  await until('the error', () => errors.length === 1);
});

test('pauses end with their time, with another generation, and grow while the agent keeps failing', () => {
  const pauses = makePauses();
  pauses.wait('a', 1, { reason: { code: 'Locked', text: '' }, retryMs: 10, now: 100 });
  assert.deepEqual(
    [pauses.get('a', 1, 109)?.until, pauses.get('a', 1, 110), pauses.get('a', 2, 101)],
    [110, undefined, undefined],
  );
  const lengths = Array.from({ length: 9 }, () => {
    pauses.broken('b', 1, 0);
    return pauses.get('b', 1, 0)?.until;
  });
  assert.deepEqual(
    lengths,
    [1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000),
  );
  pauses.clear('b');
  assert.equal(pauses.get('b', 1, 0), undefined);
});
