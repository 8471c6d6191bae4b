import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenRelations, limits } from '../../shared/limits.ts';

test('the limits agree with each other', () => assert.deepEqual(brokenRelations(), []));

test('a beat that is rarer than the time until an agent counts as offline is found', () => {
  assert.deepEqual(brokenRelations({ ...limits, beatMs: limits.offlineAfterMs }), [
    'limits.beatMs must be below limits.offlineAfterMs',
  ]);
});

test('a leader that gives up later than its lease ends is found', () => {
  assert.deepEqual(brokenRelations({ ...limits, leaseGiveUpMs: limits.leaseTtlMs + 1 }), [
    'limits.leaseGiveUpMs must be below limits.leaseTtlMs',
  ]);
});

test('a relation to a limit that is not there is found', () => {
  assert.notDeepEqual(brokenRelations({}), []);
});

test('every limit is a positive whole number', () => {
  for (const [name, value] of Object.entries(limits)) {
    assert.ok(Number.isInteger(value) && value > 0, name);
  }
});
