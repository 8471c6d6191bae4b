import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseAfter, scattered } from '../../shared/backoff.ts';

test('pauses double up to the longest, however often it failed', () => {
  const pauses = [0, 1, 2, 3, 5_000].map((failures) =>
    pauseAfter({ firstMs: 250, longestMs: 1_500 }, failures),
  );
  assert.deepEqual(pauses, [250, 500, 1_000, 1_500, 1_500]);
});

test('a scattered pause is at least half of it, and no longer', () => {
  assert.deepEqual(
    [0, 0.5, 1].map((random) => scattered(100, random)),
    [50, 75, 100],
  );
});
