import assert from 'node:assert/strict';
import test from 'node:test';
import { makeGatherer } from '../../hub/gather.ts';
import { until } from '../harness/until.ts';

const HOUR_MS = 3_600_000;

function recorder(ms: number) {
  const groups: (readonly string[])[] = [];
  return { groups, gatherer: makeGatherer<string>(ms, (items) => groups.push(items)) };
}

test('the first item does not wait; those that follow are gathered', async () => {
  const { groups, gatherer } = recorder(HOUR_MS);
  gatherer.add('a');
  await until('the first group', () => groups.length === 1);
  gatherer.add('b');
  gatherer.add('c');
  await new Promise(setImmediate);
  gatherer.flush();
  gatherer.close();
  assert.deepEqual(groups, [['a'], ['b', 'c']]);
});

test('items of one turn come as one group', async () => {
  const { groups, gatherer } = recorder(HOUR_MS);
  for (const item of ['a', 'b', 'c']) gatherer.add(item);
  await until('the group', () => groups.length > 0);
  gatherer.close();
  assert.deepEqual(groups, [['a', 'b', 'c']]);
});

test('a group is handed on when its time has come', async () => {
  const { groups, gatherer } = recorder(5);
  gatherer.add('a');
  await until('the first group', () => groups.length === 1);
  gatherer.add('b');
  await until('the second group', () => groups.length === 2);
  gatherer.close();
});

test('close hands on what is left, and nothing is taken afterwards', () => {
  const { groups, gatherer } = recorder(HOUR_MS);
  gatherer.add('a');
  gatherer.close();
  gatherer.add('b');
  gatherer.flush();
  assert.deepEqual(groups, [['a']]);
});
