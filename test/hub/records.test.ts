import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readLog, readRuns } from '../../hub/records.ts';
import { MASK } from '../../hub/shapes.ts';
import { ensureAccount } from '../../hub/streams.ts';
import { hubSubjects } from '../../shared/subjects.ts';
import { encode, WIRE_VERSION, type LogChunk, type RunRecord } from '../../shared/wire.ts';
import { startNats } from '../harness/nats.ts';
import { brokerOf, type Broker } from './broker.ts';

const ISLAND = { cluster: 'island', account: 'island' };
const stack = { namespace: 'shop', name: 'web' };
const secret = `ghp_${'a1'.repeat(18)}`;

function runOf(n: number, change: Partial<RunRecord> = {}): RunRecord {
  return {
    v: WIRE_VERSION,
    runId: `run-${n}`,
    gen: n,
    cluster: 'island',
    stack,
    inputDigest: 'v1:d',
    commit: 'c',
    kind: 'update',
    attempt: 1,
    trigger: { code: 'InputChanged', text: '' },
    result: 'failed',
    message: `no ${secret}`,
    startedAt: n,
    finishedAt: n + 1,
    changes: { create: 0, update: 0, delete: 0, replace: 0, same: 0 },
    resources: [],
    toolchain: {},
    ...change,
  };
}

async function brokerFor(t: TestContext): Promise<Broker> {
  const broker = await brokerOf(t, await startNats(t));
  await ensureAccount(broker.jets, 'island');
  return broker;
}

const chunk = (n: number, lines: string[], last = false): LogChunk => ({
  v: WIRE_VERSION,
  run: 'r1',
  n,
  last,
  lines,
});
const publishChunk = async ({ jets }: Broker, one: LogChunk): Promise<void> => {
  await jets.js.publish(hubSubjects.log('island', one.run, one.n), encode(one));
};

test('the last fifty runs of a placement, newest first, each once and clean', async (t) => {
  const broker = await brokerFor(t);
  const publish = async (run: RunRecord): Promise<void> => {
    await broker.jets.js.publish(hubSubjects.run('island', run.stack), encode(run));
  };
  assert.deepEqual(await readRuns(broker.jets, ISLAND, stack), []);
  for (let n = 1; n <= 55; n += 1) await publish(runOf(n));
  await publish(runOf(55));
  await publish(runOf(99, { stack: { namespace: 'shop', name: 'other' } }));
  await publish(runOf(98, { cluster: 'elsewhere' }));
  const runs = await readRuns(broker.jets, ISLAND, stack);
  assert.deepEqual(
    runs.map(({ runId }) => runId),
    Array.from({ length: 48 }, (_, n) => `run-${55 - n}`),
  );
  assert.equal(runs[0]?.message, `no ${MASK}`);
});

test('the whole log of a run in order, each chunk once and clean', async (t) => {
  const broker = await brokerFor(t);
  for (let n = 0; n < 120; n += 1) await publishChunk(broker, chunk(n, [`line ${n}`]));
  await publishChunk(broker, chunk(119, ['again']));
  await publishChunk(broker, { ...chunk(0, ['foreign']), run: 'r2' });
  await publishChunk(broker, chunk(120, [secret], true));
  const wish = { follow: false, signal: AbortSignal.timeout(30_000) };
  const linesOf = async (run: string): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const one of readLog(broker.jets, ISLAND, { ...wish, run })) lines.push(...one.lines);
    return lines;
  };
  const lines = await linesOf('r1');
  assert.deepEqual(lines, [...Array.from({ length: 120 }, (_, n) => `line ${n}`), MASK]);
  assert.deepEqual(await linesOf('none'), []);
});

test('a followed log goes on until its last chunk', async (t) => {
  const broker = await brokerFor(t);
  await publishChunk(broker, chunk(0, ['first']));
  const wish = { run: 'r1', follow: true, signal: AbortSignal.timeout(30_000) };
  const seen: string[] = [];
  for await (const one of readLog(broker.jets, ISLAND, wish)) {
    seen.push(...one.lines);
    if (one.n === 0) await publishChunk(broker, chunk(1, ['second']));
    if (one.n === 1) await publishChunk(broker, chunk(2, ['third'], true));
  }
  assert.deepEqual(seen, ['first', 'second', 'third']);
});

test('a follower that is aborted ends', async (t) => {
  const broker = await brokerFor(t);
  await publishChunk(broker, chunk(0, ['first']));
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const one of readLog(broker.jets, ISLAND, { run: 'r1', follow: true, signal: stop.signal })) {
    seen.push(...one.lines);
    stop.abort();
  }
  assert.deepEqual(seen, ['first']);
});
