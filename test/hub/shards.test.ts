import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitShard, type Shard } from '../../hub/shards.ts';

const shard: Shard = {
  decisions: { c: [{ cluster: 'a', stack: { namespace: 'b', name: 'c' }, verdict: 'run', reasons: [] }] },
  base: [],
  inputs: {
    'a/b/long': { digest: 'd', files: 'x'.repeat(3_000) },
    'a/b/longest': { digest: 'd', files: 'x'.repeat(4_000) },
    'a/b/short': { digest: 'd', files: 'x' },
  },
};

for (const [bytes, left] of [
  [10_000, ['a/b/long', 'a/b/longest', 'a/b/short']],
  [4_000, ['a/b/long', 'a/b/short']],
  [1_000, ['a/b/short']],
  [100, []],
] as const) {
  test(`within ${bytes} bytes the longest lists go first`, () => {
    const fitted = fitShard(shard, bytes);
    assert.deepEqual(Object.keys(fitted.inputs), left);
    assert.ok(JSON.stringify(fitted).length <= bytes);
  });
}
