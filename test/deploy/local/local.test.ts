/** `towline local` as people call it, with real parts: the command, the broker, Git and Pulumi. */
import assert from 'node:assert/strict';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startChild, type Child } from '../../harness/child.ts';
import { gitEnvironment, makeRepository, type Repository } from '../../harness/git.ts';
import { atEnd } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { testTools } from '../../harness/tools.ts';
import { until } from '../../harness/until.ts';
import { cluster, stack } from './yaml.ts';

const ENTRY = join(import.meta.dirname, '../../../hub/cli/main.ts');
/** A whole fleet on a shared machine. */
const SLOW = { deadlineMs: 120_000 };

interface Bed {
  readonly repository: Repository;
  readonly state: string;
  readonly data: string;
  /** Calls the command with the repository and the data folder of this bed. */
  local(...flags: readonly string[]): Promise<Child>;
}

/** Calls the command. If it runs until the end of the test, it is told to stop, so that it ends its own processes. */
async function startLocal(context: TestContext, ...flags: readonly string[]): Promise<Child> {
  const { natsServer, pulumi } = await testTools();
  const child = startChild(context, {
    program: process.execPath,
    args: [ENTRY, 'local', ...flags],
    env: { ...gitEnvironment(), TOWLINE_NATS_SERVER: natsServer, TOWLINE_PULUMI: pulumi, PASSPHRASE: 'x' },
  });
  atEnd(context, () => child.stop('SIGTERM'));
  return child;
}

async function makeBed(context: TestContext): Promise<Bed> {
  const folder = await tempFolder(context, 'local');
  await chmod(folder, 0o755);
  const state = join(folder, 'state');
  await mkdir(state);
  await chmod(state, 0o1777);
  const repository = await makeRepository(context);
  const data = join(folder, 'data');
  const own = ['--repo', repository.folder, '--data', data, '--allow-env', 'PASSPHRASE'];
  const local = (...flags: readonly string[]): Promise<Child> => startLocal(context, ...own, ...flags);
  return { repository, state, data, local };
}

const exitOf = async (child: Child): Promise<number | NodeJS.Signals | undefined> =>
  until('the end of the command', () => child.exit(), { ...SLOW, accept: (exit) => exit !== undefined });

const lines = (child: Child, pattern: RegExp): number =>
  child
    .output()
    .split('\n')
    .filter((line) => pattern.test(line)).length;

/** Names of the processes that the record of the fleet knows. */
async function processes(data: string): Promise<readonly { name: string; pid: number }[]> {
  const [, body = ''] = (await readFile(join(data, 'processes.json'), 'utf8')).split('\n');
  return (JSON.parse(body) as { children: { name: string; pid: number }[] }).children;
}

test('once: all at rest, then again with nothing to do; a failure and a bad manifest have their exit codes', async (context) => {
  const { repository, state, local } = await makeBed(context);
  const files = { 'fleet.yaml': cluster('quay'), ...stack('tides', state, '06:20') };
  await repository.commit('Open', files);

  const first = await local('--once', '--json');
  assert.equal(await exitOf(first), 0, first.output());
  const result = JSON.parse(first.output()) as { commits: { seconds: number }[] };
  const [{ seconds, ...figures } = { seconds: -1 }] = result.commits;
  assert.ok(seconds >= 0);
  const sha = await repository.git('rev-parse', 'HEAD');
  const done = { sha, subject: 'Open', orders: 1, runs: 1, succeeded: 1, failed: 0, unchanged: 0 };
  assert.deepEqual({ ...result, commits: [figures] }, { commits: [done], clusters: 1, lost: 0, repeated: 0 });

  await repository.commit('Fail', { 'tides/Pulumi.yaml': 'name: tides\nruntime: yaml\noutputs: ["no"]\n' });
  const failing = await local('--once');
  assert.equal(await exitOf(failing), 1, failing.output());
  assert.match(failing.output(), /port\/tides +Failed/);

  await repository.commit('Mend', { ...files, 'broken.yaml': 'apiVersion: towline.dev/v1\nkind: Stak\n' });
  const refused = await local('--once');
  assert.equal(await exitOf(refused), 2, refused.output());
  assert.match(refused.output(), /broken\.yaml:\d+: /);
  assert.match(refused.output(), /port\/tides +Succeeded/);
});

test('follow: commits run, a new cluster gets its agent, killed parts come back, one signal ends all', async (context) => {
  const { repository, state, data, local } = await makeBed(context);
  await repository.commit('Open', { 'fleet.yaml': cluster('quay'), ...stack('tides', state, '06:20') });
  const fleet = await local();
  await until('the first run', () => lines(fleet, /quay +port\/tides +Succeeded/) === 1, SLOW);

  await repository.commit('Grow', { 'harbour.yaml': cluster('harbour') });
  await until('the new cluster’s run', () => lines(fleet, /harbour +port\/tides +Succeeded/) === 1, SLOW);
  assert.equal(lines(fleet, /quay +port\/tides +Succeeded/), 1);

  const known = await processes(data);
  assert.deepEqual(known.map(({ name }) => name).sort(), ['agent-harbour', 'agent-quay', 'hub', 'nats']);
  for (const { pid } of known) process.kill(pid, 'SIGKILL');
  await repository.commit('Change', stack('tides', state, '06:50'));
  await until('both runs', () => lines(fleet, /port\/tides +Succeeded/) === 4, SLOW);
  assert.equal(lines(fleet, /was ended by SIGKILL; it starts again/), 4);

  const second = await local('--once');
  assert.equal(await exitOf(second), 2);
  assert.match(second.output(), /another “towline local”/);

  const last = await processes(data);
  fleet.signal('SIGTERM');
  assert.equal(await exitOf(fleet), 0, fleet.output());
  for (const { pid } of last) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  assert.deepEqual(await processes(data), []);
});

test('a part that cannot run ends the fleet with its own words, and the others with it', async (context) => {
  const { repository, state, data, local } = await makeBed(context);
  await repository.commit('Open', { 'fleet.yaml': cluster('quay'), ...stack('tides', state, '06:20') });
  const fleet = await local('--listen', 'no address');
  assert.equal(await exitOf(fleet), 1, fleet.output());
  assert.match(
    fleet.output(),
    /hub ended with exit code \d+ at every start; the end of .*hub\.log:\n.*no address/s,
  );
  assert.deepEqual(await processes(data), []);
});

test('the demo comes out as scripted', async (context) => {
  const folder = await tempFolder(context, 'demo');
  await chmod(folder, 0o755);
  const demo = await startLocal(context, '--demo', '--once', '--json', '--data', join(folder, 'data'));
  assert.equal(await exitOf(demo), 0, demo.output());
  const { commits, ...rest } = JSON.parse(demo.output()) as { commits: Record<string, unknown>[] };
  assert.deepEqual(rest, { clusters: 2, lost: 0, repeated: 0 });
  assert.deepEqual(
    commits.map(({ orders, runs, succeeded, failed, unchanged }) => [
      orders,
      runs,
      succeeded,
      failed,
      unchanged,
    ]),
    [
      [7, 7, 7, 0, 0],
      [2, 2, 2, 0, 5],
      [4, 4, 4, 0, 3],
      [0, 0, 0, 0, 7],
      [2, 2, 0, 2, 5],
      [2, 2, 2, 0, 5],
    ],
  );
  assert.match(await readFile(join(folder, 'data/signs/quay/notice.txt'), 'utf8'), /^~~ PORT ~~\n/);
});
