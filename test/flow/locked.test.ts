import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../harness/until.ts';
import { applied, stackFiles } from './programs.ts';
import { begin, lockFolder, locksOf, placementOf, settle } from './slow.ts';

test('a foreign lock is waited for, shown with its holder, and when it is gone the run goes on', async (t) => {
  const sight = await begin(t);
  await settle(sight, 'one', stackFiles({ name: 'web' }, 'one'));
  const lock = {
    pid: 4711,
    username: 'eve',
    hostname: `not-${hostname()}`,
    timestamp: '2026-11-30T10:00:00Z',
  };
  await mkdir(lockFolder(sight, 'web'), { recursive: true });
  const file = join(lockFolder(sight, 'web'), 'theirs.json');
  await writeFile(file, JSON.stringify(lock));
  const commit = await sight.fleet.commit('two', stackFiles({ name: 'web' }, 'two'));
  await until('the placement to wait', async () => {
    const { phase, report } = await placementOf(sight, 'web');
    assert.deepEqual([phase, report?.reason.code], ['Waiting', 'Locked']);
    assert.deepEqual(report?.lock, {
      holder: `eve@${lock.hostname} (pid 4711)`,
      since: Date.parse(lock.timestamp),
    });
    return true;
  });
  assert.deepEqual(await locksOf(sight, 'web'), ['theirs.json']);
  await rm(file);
  await sight.fleet.reader.atRest(commit);
  assert.deepEqual(await applied(sight.fleet.state, 'web', 'harbour'), { value: 'two', updates: 2 });
});
