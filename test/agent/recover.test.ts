/** What a run leaves when it, or its agent, is killed, and how the next agent finds out. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Attempt, Job } from '../../agent/executor.ts';
import { findMarked, signal } from '../../agent/runner/processes.ts';
import { readCli } from '../../agent/runner/gate.ts';
import type { Order } from '../../shared/wire.ts';
import { startChild } from '../harness/child.ts';
import { until } from '../harness/until.ts';
import {
  finishRun,
  jobOf,
  makeBed,
  nodeProgram,
  notReady,
  runOnce,
  start,
  yamlProgram,
  type Bed,
  type Going,
  type OrderChange,
} from './bed.ts';
import type { CrashScript } from './crash-child.ts';

const LOCKS = 'state/.pulumi/locks/organization/web/dev';
const URN = 'urn:pulumi:dev::web::pulumi-nodejs:dynamic:Resource::slow';

const locksOf = (bed: Bed): Promise<string[]> => readdir(join(bed.folder, LOCKS)).catch(() => []);
const marksOfBed = (bed: Bed): number[] => findMarked({ environment: { TOWLINE_DATA: bed.dataDir } });

/** A program with one resource that is created slowly. */
async function slow(bed: Bed, change: OrderChange = {}, waitMs = 60_000): Promise<Order> {
  const path = JSON.stringify(join(bed.folder, 'slow'));
  return bed.order(await nodeProgram(`new Thing('slow', { path: ${path}, wait: '${waitMs}' });`), change);
}

/** Until the provider works on the resource; returns the pid of the CLI. */
async function creating(bed: Bed, going: Going): Promise<number> {
  await until('the create to begin', () => readFile(join(bed.folder, 'slow.log'), 'utf8'));
  const cli = await readCli({ cli: join(bed.dataDir, 'runs', going.attempt.runId, 'marks/up.cli') });
  assert.ok(cli !== undefined);
  return cli.pid;
}

async function killedInCreate(bed: Bed, order: Order): Promise<Going> {
  const going = await start(bed.executor, jobOf(order));
  signal(await creating(bed, going), 'SIGKILL');
  return going;
}

/** What a person does with `pulumi stack export` and `import`. */
async function forgetPending(bed: Bed): Promise<void> {
  const file = join(bed.folder, 'state/.pulumi/stacks/web/dev.json');
  const state = JSON.parse(await readFile(file, 'utf8')) as {
    checkpoint: { latest: { pending_operations?: unknown } };
  };
  delete state.checkpoint.latest.pending_operations;
  await writeFile(file, JSON.stringify(state));
}

describe('Pulumi is killed inside a create', () => {
  test('hold: its URN is named, its lock is gone, nothing of it lives', async (t) => {
    const bed = await makeBed(t);
    const { end } = await finishRun(bed.executor, await killedInCreate(bed, await slow(bed)));
    assert.equal(end.failure, 'Lost');
    assert.equal(end.reason.code, 'PendingCreates');
    assert.deepEqual(end.pendingCreates, [URN]);
    assert.deepEqual(await locksOf(bed), []);
    assert.deepEqual(marksOfBed(bed), []);
  });

  test('clear: it is forgotten, and the next run makes it', async (t) => {
    const bed = await makeBed(t);
    const policy = { pendingCreates: 'clear' } as const;
    const going = await killedInCreate(bed, await slow(bed, { policy }));
    const { end } = await finishRun(bed.executor, going);
    assert.equal(end.failure, 'Lost');
    assert.equal(end.pendingCreates, undefined);
    await bed.executor.cleanup(going.attempt.runId);
    const { end: next } = await runOnce(bed.executor, jobOf(await slow(bed, { policy }, 1)));
    assert.equal(next.result, 'succeeded', next.reason.text);
    const state = await readFile(join(bed.folder, 'state/.pulumi/stacks/web/dev.json'), 'utf8');
    assert.ok(!state.includes('pending_operations'), 'nothing is pending');
  });

  test('a newer order runs nothing over it, until the state was put right', async (t) => {
    const bed = await makeBed(t);
    const going = await killedInCreate(bed, await slow(bed));
    await finishRun(bed.executor, going);
    await bed.executor.cleanup(going.attempt.runId);
    const later = await slow(bed, {}, 1);
    const verdict = await notReady(bed.again(), jobOf(later, { first: false, unsure: true }));
    assert.ok(verdict.kind === 'hold' && verdict.reason.code === 'PendingCreates');
    assert.deepEqual(verdict.pendingCreates, [URN]);
    assert.equal(await readFile(join(bed.folder, 'slow.log'), 'utf8'), 'create\n');
    await forgetPending(bed);
    const { end } = await runOnce(bed.executor, jobOf(later, { first: false, unsure: true }));
    assert.equal(end.result, 'succeeded', end.reason.text);
  });

  test('a stack that says clear later is cleared before its next run', async (t) => {
    const bed = await makeBed(t);
    const going = await killedInCreate(bed, await slow(bed));
    await finishRun(bed.executor, going);
    await bed.executor.cleanup(going.attempt.runId);
    const { end } = await runOnce(
      bed.executor,
      jobOf(await slow(bed, { policy: { pendingCreates: 'clear' } }, 1)),
    );
    assert.equal(end.result, 'succeeded', end.reason.text);
    const state = await readFile(join(bed.folder, 'state/.pulumi/stacks/web/dev.json'), 'utf8');
    assert.ok(!state.includes('pending_operations'), 'nothing is pending');
  });

  test('with its shell: the same', async (t) => {
    const bed = await makeBed(t);
    const going = await start(bed.executor, jobOf(await slow(bed)));
    const cli = await creating(bed, going);
    signal(going.attempt.process.pid, 'SIGKILL');
    signal(cli, 'SIGKILL');
    const { end } = await finishRun(bed.executor, going);
    assert.deepEqual(end.pendingCreates, [URN]);
    assert.deepEqual(await locksOf(bed), []);
  });
});

test('a stop waits for a create in flight: nothing is lost', async (t) => {
  const bed = await makeBed(t);
  const order = await slow(bed, {}, 2_000);
  const going = await start(bed.executor, jobOf(order));
  const stop = new AbortController();
  const finished = finishRun(bed.executor, going, stop.signal);
  await creating(bed, going);
  stop.abort();
  const { end } = await finished;
  assert.equal(end.failure, 'Cancelled');
  assert.equal(end.pendingCreates, undefined);
  assert.ok(existsSync(join(bed.folder, 'slow')));
  await bed.executor.cleanup(going.attempt.runId);
  const { end: next } = await runOnce(bed.executor, jobOf(order));
  assert.equal(next.changes.create, 0, 'the resource is in the state');
});

describe('locks', () => {
  const lay = async (bed: Bed, text: string): Promise<void> => {
    await mkdir(join(bed.folder, LOCKS), { recursive: true });
    await writeFile(join(bed.folder, LOCKS, 'one.json'), text);
  };
  const lockOf = (pid: number, host: string): string =>
    JSON.stringify({ pid, username: 'eve', hostname: host, timestamp: '2026-11-30T10:00:00Z' });

  test('of somebody else: waited for, shown with holder and time, untouched', async (t) => {
    const bed = await makeBed(t);
    await lay(bed, lockOf(4711, 'laptop'));
    const verdict = await notReady(bed.executor, jobOf(await bed.order(yamlProgram())));
    assert.ok(verdict.kind === 'wait' && verdict.reason.code === 'Locked');
    assert.deepEqual(verdict.lock, { holder: 'eve@laptop (pid 4711)', since: Date.UTC(2026, 10, 30, 10) });
    assert.deepEqual(await locksOf(bed), ['one.json']);
  });

  test('of a process of this host that no run of ours was: foreign', async (t) => {
    const bed = await makeBed(t);
    await lay(bed, lockOf(999_999, hostname()));
    assert.equal((await notReady(bed.executor, jobOf(await bed.order(yamlProgram())))).kind, 'wait');
  });

  test('a broken lock file is a lock', async (t) => {
    const bed = await makeBed(t);
    await lay(bed, '');
    assert.equal((await notReady(bed.executor, jobOf(await bed.order(yamlProgram())))).kind, 'wait');
  });

  test('taken between the look and the start: the run ends as Locked, with its holder', async (t) => {
    const bed = await makeBed(t);
    const order = await bed.order(yamlProgram());
    await runOnce(bed.executor, jobOf(order));
    const job = jobOf(order, { first: false });
    const ready = await bed.executor.prepare(job, new AbortController().signal);
    assert.ok(ready.kind === 'ready');
    const gate = await ready.gate();
    await lay(bed, lockOf(4711, 'laptop'));
    gate.go();
    const attempt: Attempt = {
      runId: job.runId,
      gen: order.gen,
      inputDigest: order.inputDigest,
      commit: 'c',
      number: 1,
      process: gate.process,
      startedAt: Date.now(),
      timeoutMs: 60_000,
    };
    const { end } = await finishRun(bed.executor, { attempt, order, ready });
    assert.equal(end.failure, 'Locked');
    assert.equal(end.lock?.holder, 'eve@laptop (pid 4711)');
    assert.deepEqual(await locksOf(bed), ['one.json']);
  });

  test('of a run that nobody finished: known after its folder is gone, and cleared', async (t) => {
    const bed = await makeBed(t);
    await killedInCreate(bed, await slow(bed));
    // an agent whose ledger was lost knows no run
    await bed.again().sweep(new Set());
    assert.ok((await locksOf(bed)).length > 0);
    const { end } = await runOnce(bed.again(), jobOf(await bed.order(yamlProgram()), { first: false }));
    assert.equal(end.result, 'succeeded', end.reason.text);
    assert.deepEqual(await locksOf(bed), []);
  });
});

/** Runs an agent process until it dies at the step; returns the attempt that it recorded. */
async function crash(
  t: TestContext,
  bed: Bed,
  { job, dieAt }: { job: Job; dieAt: string },
): Promise<Attempt | undefined> {
  const { dataDir, pulumi, path, allowEnv, allowFiles, environment, fetchArtifact } = bed.options;
  const artifact = join(bed.folder, 'artifact');
  await writeFile(artifact, await fetchArtifact(job.order.artifact));
  const script: CrashScript = {
    options: { dataDir, pulumi, path, allowEnv, allowFiles, environment },
    job,
    dieAt,
    artifact,
    record: join(bed.folder, `${job.runId}.attempt`),
  };
  const file = join(bed.folder, `${job.runId}.json`);
  await writeFile(file, JSON.stringify(script));
  const child = startChild(t, {
    program: process.execPath,
    args: [join(import.meta.dirname, 'crash-child.ts'), file],
  });
  const exit = await until(`the agent to die at ${dieAt}`, () => child.exit(), { deadlineMs: 60_000 });
  assert.equal(exit, 'SIGKILL', child.output());
  const text = await readFile(script.record, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Attempt);
}

const BEFORE = [
  'artifact',
  'workspace',
  'values',
  'locks',
  'settings',
  'stack',
  'dependencies',
  'prepared',
  'gated',
];
const AFTER = ['gone', 'exit', 'survivors', 'ended'];

describe('the agent is killed', () => {
  for (const dieAt of BEFORE)
    test(`at “${dieAt}”: nothing was run, and what was laid out goes`, async (t) => {
      const bed = await makeBed(t);
      const order = await bed.order(dieAt === 'dependencies' ? await nodeProgram('') : yamlProgram());
      assert.equal(await crash(t, bed, { job: jobOf(order), dieAt }), undefined);
      await bed.executor.sweep(new Set());
      assert.deepEqual(await readdir(join(bed.dataDir, 'runs')), []);
      await until('the gate to end', () => marksOfBed(bed).length === 0);
      assert.equal((await runOnce(bed.executor, jobOf(order))).end.changes.create, 1);
    });

  test('between record and go: the next agent knows that nothing was run', async (t) => {
    const bed = await makeBed(t);
    const order = await bed.order(yamlProgram());
    const attempt = await crash(t, bed, { job: jobOf(order), dieAt: 'recorded' });
    assert.ok(attempt !== undefined);
    const { end } = await finishRun(bed.executor, { attempt, order, ready: never });
    assert.equal(end.failure, 'Lost');
    assert.match(end.reason.text, /nothing was run/);
  });

  for (const dieAt of AFTER)
    test(`at “${dieAt}”: the next agent takes the run over and sees its end`, async (t) => {
      const bed = await makeBed(t);
      const order = await bed.order(yamlProgram());
      const attempt = await crash(t, bed, { job: jobOf(order), dieAt });
      assert.ok(attempt !== undefined);
      await bed.executor.sweep(new Set([attempt.runId]));
      const { end, lines } = await finishRun(bed.executor, { attempt, order, ready: never });
      assert.equal(end.result, 'succeeded', end.reason.text);
      assert.equal(end.changes.create, 1);
      assert.ok(lines.includes('    greeting: "hello"'), lines.join('\n'));
    });
});

/** Of a run that an earlier agent prepared. */
const never: Going['ready'] = {
  kind: 'ready',
  gate: () => Promise.reject(new Error('prepared by another agent')),
};

test('sweep ends what is left of unknown runs of this agent, and nothing of another one', async (t) => {
  const graces = { firstMs: 400, secondMs: 400 };
  const [mine, other] = [await makeBed(t, { graces }), await makeBed(t, { graces })];
  const lost = await start(mine.executor, jobOf(await slow(mine)));
  const alive = await start(other.executor, jobOf(await slow(other)));
  await Promise.all([creating(mine, lost), creating(other, alive)]);
  await mine.executor.sweep(new Set());
  assert.deepEqual(marksOfBed(mine), []);
  assert.ok(marksOfBed(other).length > 0);
  assert.deepEqual(await readdir(join(mine.dataDir, 'runs')), []);
  await other.executor.sweep(new Set());
  assert.deepEqual(marksOfBed(other), []);
});

test('sweep lets a create in flight end, so that the state knows of it', async (t) => {
  const bed = await makeBed(t);
  const order = await slow(bed, {}, 3_000);
  await creating(bed, await start(bed.executor, jobOf(order)));
  // an agent whose ledger was lost knows no run
  await bed.again().sweep(new Set());
  const state = await readFile(join(bed.folder, 'state/.pulumi/stacks/web/dev.json'), 'utf8');
  assert.ok(state.includes(`"urn":"${URN}"`) && !state.includes('pending_operations'), state);
  assert.deepEqual(await locksOf(bed), []);
});

test('neither a stray folder nor a process with a strange name keeps the agent from starting', async (t) => {
  const bed = await makeBed(t);
  await bed.executor.sweep(new Set());
  await mkdir(join(bed.dataDir, 'runs/lost+found'));
  startChild(t, {
    program: 'sleep',
    args: ['60'],
    env: { TOWLINE_DATA: bed.dataDir, TOWLINE_RUN: '../../x' },
  });
  await until('the process to be seen', () => marksOfBed(bed).length > 0);
  await bed.executor.sweep(new Set());
});
