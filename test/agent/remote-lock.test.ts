/** Locks of a backend whose files are out of reach: the CLI says who holds them. With a stand-in for its messages. */
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { RunEnd } from '../../agent/executor.ts';
import { tempFolder } from '../harness/temp.ts';
import { jobOf, makeBed, notReady, runOnce, yamlProgram, type Bed } from './bed.ts';
import { fakePulumi } from './fake.ts';

const LOCKED = `echo "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock file with 'pulumi cancel'."
  echo "  s3://state/.pulumi/locks/organization/web/dev/1.json: created by root@HOST (pid $(cat FOLDER/pid)) at 2026-11-30T17:56:26Z"
  exit 1`;

interface Tried {
  readonly bed: Bed;
  readonly folder: string;
  readonly end: RunEnd;
  /** How often all locks were deleted. */
  readonly cancelled: () => Promise<number>;
  again(): Promise<RunEnd>;
}

/** Runs a CLI that dies of SIGKILL, in a backend that is locked by the pid in the file `pid` on the given host. */
async function killed(
  t: TestContext,
  { host, pid, offline: isOffline = false }: { host: string; pid: string; offline?: boolean },
): Promise<Tried> {
  const folder = await tempFolder(t);
  if (isOffline) await writeFile(join(folder, 'offline'), '');
  const fill = (script: string): string => script.replaceAll('FOLDER', folder).replaceAll('HOST', host);
  const offline = `[ -e FOLDER/offline ] && { echo 'error: read ".pulumi/meta.yaml": connection refused'; exit 1; };`;
  const cases = `  refresh) ${offline} [ -e FOLDER/cancelled ] || { ${LOCKED}; } ;;\n  cancel) echo >>FOLDER/cancelled ;;`;
  const up = `[ -e FOLDER/pid ] && { ${LOCKED}; }; echo ${pid} >FOLDER/pid; kill -KILL $$`;
  const bed = await makeBed(t, { pulumi: await fakePulumi(folder, fill(up), fill(cases)) });
  const order = await bed.order(yamlProgram(), { inputs: { backend: { url: 's3://state' } } });
  const run = async (): Promise<RunEnd> => (await runOnce(bed.executor, jobOf(order, { first: false }))).end;
  const end = await run();
  const cancelled = async (): Promise<number> =>
    (await readFile(join(folder, 'cancelled'), 'utf8').catch(() => '')).length;
  return { bed, folder, end, cancelled, again: run };
}

test('of our own killed run: it is cleared', async (t) => {
  const { end, cancelled } = await killed(t, { host: hostname(), pid: '$$' });
  assert.equal(end.failure, 'Lost');
  assert.equal(await cancelled(), 1);
});

test('of somebody else: it stays, and the next run ends as Locked', async (t) => {
  const tried = await killed(t, { host: 'laptop', pid: '$$' });
  assert.equal(tried.end.failure, 'Lost');
  assert.equal(await tried.cancelled(), 0);
  const next = await tried.again();
  assert.equal(next.failure, 'Locked');
  assert.match(next.lock?.holder ?? '', /^root@laptop \(pid \d+\)$/);
});

test('of another process of this host: it stays', async (t) => {
  const { cancelled } = await killed(t, { host: hostname(), pid: '1' });
  assert.equal(await cancelled(), 0);
});

test('of our own killed run, while the backend is out of reach: it is remembered, and cleared later', async (t) => {
  const { folder, end, cancelled, again } = await killed(t, { host: hostname(), pid: '$$', offline: true });
  assert.equal(end.failure, 'Lost');
  assert.equal(await cancelled(), 0);
  await rm(join(folder, 'offline'));
  const next = await again();
  assert.equal(next.failure, 'Lost');
  assert.match(next.reason.text, /gone now/);
  assert.equal(await cancelled(), 1);
});

test('creates are pending while somebody else makes them: waited for, and held only when nobody does', async (t) => {
  const { bed, folder } = await killed(t, { host: 'laptop', pid: '$$' });
  const pending = [{ type: 'creating', resource: { urn: 'urn:a' } }];
  await writeFile(join(folder, 'exported'), JSON.stringify({ deployment: { pending_operations: pending } }));
  const order = await bed.order(yamlProgram(), { inputs: { backend: { url: 's3://state' } } });
  const look = (): ReturnType<typeof notReady> =>
    notReady(bed.executor, jobOf(order, { first: false, unsure: true }));
  const waits = await look();
  assert.ok(waits.kind === 'wait');
  assert.match(waits.lock?.holder ?? '', /^root@laptop/);
  await writeFile(join(folder, 'cancelled'), '');
  const holds = await look();
  assert.ok(holds.kind === 'hold');
  assert.deepEqual(holds.pendingCreates, ['urn:a']);
});
