import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeBatch } from '../../hub/batch.ts';
import { until } from '../harness/until.ts';

function recorder(failFirst = 0): {
  writes: string[][];
  errors: unknown[];
  overlaps: () => number;
  options: Parameters<typeof makeBatch>[0];
} {
  const writes: string[][] = [];
  const errors: unknown[] = [];
  let failures = failFirst;
  let running = 0;
  let overlaps = 0;
  const write = async (keys: ReadonlySet<string>): Promise<void> => {
    running += 1;
    if (running > 1) overlaps += 1;
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (failures-- > 0) throw new Error('disk full');
    writes.push([...keys].sort());
  };
  return {
    writes,
    errors,
    overlaps: () => overlaps,
    options: { write, intervalMs: 5, onError: (error) => errors.push(error) },
  };
}

test('changes are gathered and written without anyone asking', async () => {
  const { writes, options } = recorder();
  const batch = makeBatch(options);
  batch.touch(['a']);
  batch.touch(['b', 'a']);
  await until('the write', () => writes.length === 1);
  assert.deepEqual(writes, [['a', 'b']]);
  batch.touch([]);
  await until('the next write', () => writes.length === 2);
  await batch.close();
  assert.deepEqual(writes, [['a', 'b'], []]);
});

test('one write at a time, and what was touched before a flush is in it', async () => {
  const { writes, overlaps, options } = recorder();
  const batch = makeBatch(options);
  const flushes: Promise<void>[] = [];
  for (let n = 0; n < 10; n += 1) {
    batch.touch([String(n)]);
    flushes.push(batch.flush());
  }
  await Promise.all(flushes);
  assert.deepEqual(
    writes.flat().sort(),
    Array.from({ length: 10 }, (_, n) => String(n)),
  );
  assert.equal(overlaps(), 0);
  await batch.close();
});

test('a failed write is told to whoever waits, and is written later', async () => {
  const { writes, errors, options } = recorder(2);
  const batch = makeBatch(options);
  batch.touch(['a']);
  await assert.rejects(batch.flush(), /disk full/);
  batch.touch(['b']);
  await until('the write after the failures', () => writes.length === 1);
  assert.deepEqual(writes, [['a', 'b']]);
  assert.equal(errors.length, 1);
  await batch.close();
});

test('close writes what is left', async () => {
  const { writes, options } = recorder();
  const batch = makeBatch({ ...options, intervalMs: 3_600_000 });
  batch.touch(['a']);
  await batch.close();
  assert.deepEqual(writes, [['a']]);
});
