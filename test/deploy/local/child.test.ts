import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { supervise, type Child, type ChildEvent } from '../../../deploy/local/child.ts';
import { atEnd } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { until } from '../../harness/until.ts';

interface Started {
  readonly child: Child;
  readonly events: readonly ChildEvent[];
  log(): Promise<string>;
}

async function start(context: TestContext, script: string): Promise<Started> {
  const logFile = join(await tempFolder(context), 'logs', 'child.log');
  const events: ChildEvent[] = [];
  const child = supervise(
    {
      name: 'child',
      command: '/bin/sh',
      args: ['-c', script],
      environment: { PATH: process.env['PATH'] },
      logFile,
    },
    (event) => events.push(event),
  );
  atEnd(context, async () => void (await child.stop(0)));
  return { child, events, log: () => readFile(logFile, 'utf8') };
}

const starts = (events: readonly ChildEvent[]): number =>
  events.filter(({ kind }) => kind === 'started').length;

test('a child that is killed comes back, and its output goes to one file', async (context) => {
  const { child, events, log } = await start(context, 'echo here; exec sleep 60');
  const first = await until('the first start', () => child.pid());
  await until('its line', async () => (await log()) === 'here\n');
  process.kill(first, 'SIGKILL');
  const second = await until('the second start', () => (child.pid() === first ? undefined : child.pid()));
  assert.notEqual(second, first);
  await until('its line', async () => (await log()) === 'here\nhere\n');
  assert.deepEqual(events[1], {
    kind: 'restarting',
    ending: { kind: 'signal', signal: 'SIGKILL' },
    delayMs: 250,
  });
});

test('a stopped child does not come back', async (context) => {
  const { child, events } = await start(context, 'exec sleep 60');
  await until('the start', () => child.pid());
  assert.equal(await child.stop(30_000), 'ended');
  assert.equal(child.pid(), undefined);
  assert.equal(starts(events), 1);
});

test('a child that does not listen is killed when its time is over', async (context) => {
  const { child, log } = await start(context, 'trap "" TERM; echo deaf; while :; do sleep 0.05; done');
  await until('the trap', async () => (await log()).includes('deaf'));
  assert.equal(await child.stop(50), 'killed');
  assert.equal(child.pid(), undefined);
});

test('whoever is in a hurry does not wait for the grace', async (context) => {
  const { child, log } = await start(context, 'trap "" TERM; echo deaf; while :; do sleep 0.05; done');
  await until('the trap', async () => (await log()).includes('deaf'));
  const hurry = new AbortController();
  const stopped = child.stop(600_000, hurry.signal);
  hurry.abort();
  assert.equal(await stopped, 'killed');
});

test('a child can be stopped while it waits for its next start', async (context) => {
  const { child, events } = await start(context, 'exit 3');
  await until('the second restart', () => events.filter(({ kind }) => kind === 'restarting').length >= 2);
  assert.equal(await child.stop(30_000), 'ended');
  const seen = starts(events);
  assert.equal(child.pid(), undefined);
  assert.equal(starts(events), seen);
});

test('a signal on the terminal of the parent does not reach the child', async (context) => {
  const { child } = await start(context, 'exec sleep 60');
  const pid = await until('the start', () => child.pid());
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  assert.equal(Number(group), pid);
});
