import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { identityOf, lives, parseStat, statOf } from '../../shared/process.ts';
import { startChild } from '../harness/child.ts';
import { until } from '../harness/until.ts';

test('the name of a program may hold brackets and spaces', () => {
  const fields = ['R', ...Array.from({ length: 18 }, (_, n) => String(n + 1)), '4711', '0'];
  assert.deepEqual(parseStat(`42 (a) b (c) ${fields.join(' ')}`), {
    pid: 42,
    state: 'R',
    session: 3,
    startTime: '4711',
  });
  for (const line of ['', '42', 'x (a) R', '42 (a) R 1 2']) assert.equal(parseStat(line), undefined, line);
});

test('a process lives until it ends, and is not another one with its number', () => {
  const self = identityOf(process.pid);
  assert.ok(self !== undefined && lives(self));
  assert.equal(lives({ ...self, startTime: '1' }), false);
  assert.equal(lives({ ...self, bootId: 'another boot' }), false);
  const ended = spawnSync('true').pid;
  assert.equal(identityOf(ended), undefined);
});

test('a process that only waits to be reaped lives no more', async (t) => {
  const parent = startChild(t, { program: 'sh', args: ['-c', 'true & echo $!; exec sleep 600'] });
  const pid = await until('the number of the child', () => Number(parent.output().trim()) || undefined);
  await until('the child to end', () => statOf(pid) === undefined);
  assert.doesNotThrow(() => process.kill(pid, 0));
});
