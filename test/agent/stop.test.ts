/** How a run is ended when it does not end by itself. With a stand-in, since the real CLI obeys. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { findMarked } from '../../agent/runner/processes.ts';
import { statOf } from '../../shared/process.ts';
import { startChild } from '../harness/child.ts';
import { until } from '../harness/until.ts';
import { finishRun, jobOf, makeBed, start, yamlProgram, type Bed, type Going } from './bed.ts';
import { fakePulumi, GOOD_SUMMARY } from './fake.ts';
import { tempFolder } from '../harness/temp.ts';

const graces = { firstMs: 400, secondMs: 400 };

interface Begun {
  readonly bed: Bed;
  readonly going: Going;
  readonly folder: string;
}

async function begin(t: TestContext, up: string, timeoutMs = 60_000): Promise<Begun> {
  const folder = await tempFolder(t);
  const bed = await makeBed(t, { pulumi: await fakePulumi(folder, up.replaceAll('FOLDER', folder)), graces });
  const order = await bed.order(yamlProgram(), { policy: { timeoutMs } });
  return { bed, folder, going: await start(bed.executor, jobOf(order, { first: false })) };
}

const marked = ({ bed, going }: Begun): number[] =>
  findMarked({ environment: { TOWLINE_RUN: going.attempt.runId, TOWLINE_DATA: bed.dataDir } });

const written = (folder: string, file: string): Promise<string> =>
  until(file, () => readFile(join(folder, file), 'utf8'), { accept: (text) => text !== '' });

test('a CLI that ignores SIGINT is killed after both graces, and what it started goes with it', async (t) => {
  const begun = await begin(t, "trap '' INT; echo ready >FOLDER/ready; while :; do sleep 30; done");
  await written(begun.folder, 'ready');
  const stop = new AbortController();
  stop.abort();
  const { end } = await finishRun(begun.bed.executor, begun.going, stop.signal);
  assert.equal(end.failure, 'Cancelled');
  assert.deepEqual(marked(begun), []);
});

test('one SIGINT, to the CLI alone, is enough for one that obeys', async (t) => {
  // a shell would start its child deaf to SIGINT
  const child = `process.on("SIGINT", () => fs.appendFileSync("FOLDER/signals", "child ")); fs.writeFileSync("FOLDER/ready", "x"); setInterval(() => 0, 1000)`;
  const up = `trap 'echo cli >>FOLDER/signals; kill -KILL $child; exit 1' INT
'${process.execPath}' -e '${child}' &
child=$!
while :; do wait; done`;
  const begun = await begin(t, up);
  await written(begun.folder, 'ready');
  const stop = new AbortController();
  const finished = finishRun(begun.bed.executor, begun.going, stop.signal);
  stop.abort();
  assert.equal((await finished).end.failure, 'Cancelled');
  assert.equal(await readFile(join(begun.folder, 'signals'), 'utf8'), 'cli\n');
});

test('a run that hangs ends at its time limit, by our own words', async (t) => {
  const begun = await begin(t, 'sleep 300', 300);
  const { end } = await finishRun(begun.bed.executor, begun.going);
  assert.equal(end.failure, 'Timeout');
  assert.match(end.reason.text, /time limit/);
  assert.deepEqual(marked(begun), []);
});

test('a good end is a good end, whatever still runs: it is ended', async (t) => {
  const up = `setsid sleep 300 & (cd / && exec sleep 300) & ${GOOD_SUMMARY}`;
  const begun = await begin(t, up);
  const { end } = await finishRun(begun.bed.executor, begun.going);
  assert.equal(end.result, 'succeeded');
  assert.deepEqual(marked(begun), []);
});

test('a survivor without the mark in its environment is found by its session', async (t) => {
  const up = `env -i /bin/sleep 300 & echo $! >FOLDER/pid; ${GOOD_SUMMARY}`;
  const begun = await begin(t, up);
  await finishRun(begun.bed.executor, begun.going);
  assert.equal(statOf(Number(await written(begun.folder, 'pid'))), undefined);
});

test('300 MB of output pass with bounded memory, the newest lines are kept', async (t) => {
  const begun = await begin(
    t,
    `head -c 300000000 /dev/zero | tr '\\0' 'x' | fold -w 1000; echo; echo last; ${GOOD_SUMMARY}`,
  );
  const before = process.memoryUsage().rss;
  let bytes = 0;
  const end = await begun.bed.executor.finish(begun.going.attempt, begun.going.order, {
    output: (lines) => lines.forEach((line) => (bytes += line.length)),
    stop: new AbortController().signal,
  });
  assert.equal(end.result, 'succeeded');
  assert.equal(end.tail.at(-1), 'last');
  assert.ok(bytes < 40_000_000, `${bytes} bytes were handed on`);
  assert.ok(process.memoryUsage().rss - before < 150_000_000);
});

test('exit code 0 without a summary is no success', async (t) => {
  const begun = await begin(t, 'exit 0');
  const { end } = await finishRun(begun.bed.executor, begun.going);
  assert.equal(end.failure, 'Lost');
  assert.equal(end.pendingCreates, undefined);
});

test('a program cannot block the agent with a pipe in place of a file', async (t) => {
  const up = `mkfifo "$events"; rm -f Pulumi.dev.yaml; mkfifo Pulumi.dev.yaml; exit 1`;
  const begun = await begin(t, up);
  const { end } = await finishRun(begun.bed.executor, begun.going);
  assert.equal(end.result, 'failed');
});

test('a program that names another process as its own gets nobody stopped but itself', async (t) => {
  const victim = startChild(t, { program: 'sleep', args: ['300'] });
  const mark = `cat /proc/${victim.pid()}/stat /proc/sys/kernel/random/boot_id /proc/sys/kernel/hostname >../marks/up.cli`;
  const begun = await begin(t, `${mark}; trap '' INT; while :; do sleep 30; done`, 300);
  const { end } = await finishRun(begun.bed.executor, begun.going);
  assert.equal(end.failure, 'Timeout');
  assert.deepEqual(marked(begun), []);
  assert.equal(victim.exit(), undefined);
});
