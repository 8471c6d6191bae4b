import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  judgeLock,
  judgeLocks,
  lockFolder,
  parseLockFile,
  parseLockMessage,
  type Machine,
  type OwnProcess,
  type StackLock,
} from '../../agent/locks.ts';
import { thisMachine } from '../../agent/runner/processes.ts';

const machine: Machine = {
  host: 'node-1',
  bootId: 'boot-2',
  processOf: (pid) =>
    ({ 100: { startTime: '5000', startedAt: 50_000 }, 200: { startTime: '7000', startedAt: 70_000 } })[pid],
};
const lock = (pid: number, host = 'node-1'): StackLock => ({ pid, host, user: 'root' });
const since = (pid: number, time: number): StackLock => ({ ...lock(pid), since: time });
const own = (pid: number, change: Partial<OwnProcess> = {}): OwnProcess => ({
  runId: 'r',
  pid,
  startTime: '5000',
  bootId: 'boot-2',
  host: 'node-1',
  ...change,
});

describe('whose lock it is', () => {
  const rows: readonly (readonly [string, StackLock, readonly OwnProcess[], string])[] = [
    ['ours, and it runs', lock(100), [own(100)], 'alive'],
    ['ours, and the process is gone', lock(300), [own(300)], 'dead'],
    ['ours, and its number went to one that began later', since(200, 60_000), [own(200)], 'dead'],
    ['of the one that has our number now', since(200, 71_000), [own(200)], 'foreign'],
    ['of the one that has our number now, made as it began', since(200, 68_500), [own(200)], 'foreign'],
    ['of nobody knows when, and another one has our number now', lock(200), [own(200)], 'foreign'],
    [
      'ours, from before the machine was started anew',
      since(100, 40_000),
      [own(100, { bootId: 'boot-1' })],
      'dead',
    ],
    ['no run of ours', lock(300), [own(301)], 'foreign'],
    ['nothing of ours at all', lock(300), [], 'foreign'],
    ['the number of one of ours, on another host', lock(300, 'node-2'), [own(300)], 'foreign'],
    [
      'ours, while this agent was on another host',
      lock(300, 'node-2'),
      [own(300, { host: 'node-2' })],
      'foreign',
    ],
    ['two of ours had that number, one runs', lock(100), [own(100, { bootId: 'boot-1' }), own(100)], 'alive'],
  ];
  for (const [name, one, known, standing] of rows)
    test(name, () => assert.equal(judgeLock(one, known, machine), standing));
});

describe('all locks of a stack', () => {
  test('none', () => assert.deepEqual(judgeLocks([], [], machine), { kind: 'free' }));
  test('only of dead runs of ours', () =>
    assert.deepEqual(judgeLocks([lock(300), lock(301)], [own(300), own(301)], machine), {
      kind: 'clearable',
    }));
  test('one foreign one among them', () =>
    assert.deepEqual(judgeLocks([lock(300), lock(302)], [own(300)], machine), {
      kind: 'held',
      standing: 'foreign',
      by: { holder: 'root@node-1 (pid 302)' },
    }));
});

test('a process of this machine began when the clock says so', () => {
  const { startedAt = 0 } = thisMachine().processOf(process.pid) ?? {};
  assert.ok(Math.abs(Date.now() - process.uptime() * 1_000 - startedAt) < 5_000, String(startedAt));
  assert.equal(thisMachine().processOf(2 ** 30), undefined);
});

test('reads a lock file, and takes a broken one for a foreign lock', () => {
  const text = '{"pid":7,"username":"eve","hostname":"h","timestamp":"2026-11-30T10:00:00Z"}';
  assert.deepEqual(parseLockFile(text), {
    pid: 7,
    user: 'eve',
    host: 'h',
    since: Date.UTC(2026, 10, 30, 10),
  });
  for (const broken of ['', '{', 'null', '[]'])
    assert.equal(judgeLocks([parseLockFile(broken)], [own(300)], machine).kind, 'held', broken);
});

test('reads every holder from the message of the CLI', () => {
  const message = `error: the stack is currently locked by 2 lock(s). Either wait for the other process(es) to end or delete the lock file with \`pulumi cancel\`.
  file:///state/.pulumi/locks/organization/web/dev/1.json: created by root@node-1 (pid 123) at 2026-11-30T17:56:26Z
  file:///state/.pulumi/locks/organization/web/dev/2.json: created by eve@laptop.local (pid 9) at 2026-11-30T17:56:27Z`;
  assert.deepEqual(
    parseLockMessage(message).map(({ pid, user, host }) => ({ pid, user, host })),
    [
      { pid: 123, user: 'root', host: 'node-1' },
      { pid: 9, user: 'eve', host: 'laptop.local' },
    ],
  );
});

describe('where the locks are', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['file:///var/state', '/var/state/.pulumi/locks/organization/web/dev'],
    ['file:///var/my%20state/?metadata=skip', '/var/my state/.pulumi/locks/organization/web/dev'],
    ['s3://bucket?region=eu', undefined],
    ['file://~/state', undefined],
    ['', undefined],
  ];
  for (const [url, folder] of rows)
    test(url === '' ? 'no backend' : url, () =>
      assert.equal(lockFolder(url, 'organization/web/dev'), folder),
    );
});
