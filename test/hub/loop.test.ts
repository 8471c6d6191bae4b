import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { runLoop, type Loop, type LoopEdges } from '../../hub/loop.ts';
import type { PassEnd } from '../../hub/poll.ts';
import { atEnd } from '../harness/owned.ts';
import { until } from '../harness/until.ts';

interface Runs {
  readonly loop: Loop;
  readonly dirty: boolean[];
  readonly errors: unknown[];
}

/** A loop whose passes end as `ends` says, then idle; it never starts a pass by itself. */
function start(
  t: TestContext,
  ends: readonly (PassEnd['kind'] | Error)[],
  during?: (loop: Loop, n: number) => void,
): Runs {
  const stop = new AbortController();
  const dirty: boolean[] = [];
  const errors: unknown[] = [];
  const edges: LoopEdges = {
    pass: (run) => {
      const end = ends[dirty.length] ?? 'idle';
      dirty.push(run.dirty);
      during?.(runs.loop, dirty.length);
      return end instanceof Error
        ? Promise.reject(end)
        : Promise.resolve({ kind: end, reason: 'test' } as PassEnd);
    },
    nextDue: () => Number.MAX_SAFE_INTEGER / 2 ** 30,
    onError: (error) => errors.push(error),
    clock: () => 0,
  };
  const runs: Runs = { dirty, errors, loop: undefined as never };
  const loop = runLoop(
    { ...edges, pass: (run) => Promise.resolve().then(() => edges.pass(run)) },
    stop.signal,
  );
  Object.assign(runs, { loop });
  atEnd(t, async () => {
    stop.abort();
    await loop.done;
  });
  return runs;
}

test('the first pass takes nothing for granted, the next ones do', async (t) => {
  const { dirty, loop } = start(t, []);
  await until('the first pass', () => dirty.length === 1);
  loop.wake(false);
  await until('the second pass', () => dirty.length === 2);
  assert.deepEqual(dirty, [true, false]);
});

test('what happens during a pass starts another one right after it', async (t) => {
  const { dirty } = start(t, [], (loop, n) => {
    if (n === 1) loop.wake(true);
  });
  await until('the second pass', () => dirty.length === 2);
  assert.deepEqual(dirty, [true, true]);
});

test('a pass that fails, conflicts or waits is repeated with nothing taken for granted', async (t) => {
  const failure = new Error('broker gone');
  const { dirty, errors } = start(t, [failure, 'conflict', 'waiting', 'planned']);
  await until('four passes', () => dirty.length === 4);
  assert.deepEqual(dirty, [true, true, true, true]);
  assert.deepEqual(errors, [failure]);
});
