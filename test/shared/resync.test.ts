import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashesOf, type Held } from '../../shared/resync.ts';

const held = (name: string, more: Partial<Held> = {}): Held => ({
  stack: { namespace: 'apps', name },
  gen: 7,
  seq: 3,
  phase: 'Succeeded',
  ...more,
});

test('equal knowledge in any order gives equal hashes', () => {
  assert.deepEqual(hashesOf([held('a'), held('b')]), hashesOf([held('b'), held('a')]));
});

test('what is on its way does not count', () => {
  assert.deepEqual(hashesOf([held('a'), held('b', { phase: 'Running' })]), hashesOf([held('a')]));
});

test('a generation changes the first hash only, a report the second only', () => {
  const base = hashesOf([held('a')]);
  const order = hashesOf([held('a', { gen: 8 })]);
  const report = hashesOf([held('a', { seq: 4 })]);
  assert.notEqual(order.orders, base.orders);
  assert.equal(order.reports, base.reports);
  assert.equal(report.orders, base.orders);
  assert.notEqual(report.reports, base.reports);
});
