import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePauses } from '../../agent/pauses.ts';

const wait = { reason: { code: 'Locked', text: '' }, retryMs: 5_000, now: 100_000 } as const;

test('a pause lasts its time, for its generation', () => {
  const pauses = makePauses();
  pauses.wait('a', 1, wait);
  assert.equal(pauses.get('a', 1, 104_999)?.until, 105_000);
  assert.equal(pauses.get('a', 1, 105_000), undefined);
  assert.equal(pauses.get('a', 2, 104_999), undefined);
});

test('a clock that was put back ends it', () => {
  const pauses = makePauses();
  pauses.wait('a', 1, wait);
  pauses.broken('b', 1, 100_000);
  assert.equal(pauses.get('a', 1, 20_000), undefined);
  assert.equal(pauses.get('b', 1, 20_000), undefined);
});
