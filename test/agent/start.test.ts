import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { AgentConfig } from '../../agent/config.ts';
import type { Executor } from '../../agent/executor.ts';
import { startAgent, type Agent } from '../../agent/start.ts';
import { makeLog } from '../../shared/log.ts';
import { hubSubjects } from '../../shared/subjects.ts';
import { beatSchema, decode } from '../../shared/wire.ts';
import { watchLeaks } from '../harness/leaks.ts';
import { atEnd } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { until } from '../harness/until.ts';
import { startHubSide, type HubSide } from './hubside.ts';
import { CLUSTER, digest, endOf, INCARNATION, orderOf, stack, successOf } from './samples.ts';
import { makeScripted, makeWorld } from './scripted.ts';

const log = makeLog({ name: 'test', level: process.env['TEST_LOG'] ?? 'silent' });

interface Launch {
  readonly hub: HubSide;
  readonly executor: Executor;
  readonly dataDir: string;
  readonly config?: Partial<AgentConfig>;
}

async function launch(context: TestContext, { hub, executor, dataDir, config }: Launch): Promise<Agent> {
  const keyFile = join(dataDir, 'agent.seed');
  await writeFile(keyFile, hub.seed, { mode: 0o600 });
  const agent = await startAgent(
    {
      cluster: CLUSTER,
      account: CLUSTER,
      name: 'agent-1',
      nats: [hub.server.url],
      keyFile,
      dataDir,
      incarnation: INCARNATION,
      maxRuns: Infinity,
      allowEnv: [],
      allowFiles: [],
      runUser: undefined,
      pulumi: 'pulumi',
      onStop: 'leave',
      stopTimeoutMs: 1_000,
      httpPort: undefined,
      logLevel: 'silent',
      ...config,
    },
    { log, executor: () => executor },
  );
  atEnd(context, async () => void (await agent.stop()));
  return agent;
}

async function scene(context: TestContext): Promise<{ hub: HubSide; dataDir: string }> {
  watchLeaks(context);
  return { hub: await startHubSide(context), dataDir: await tempFolder(context, 'agent') };
}

test('an order becomes a run, a report, a run record and a log; the message is acknowledged', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await hub.publish(orderOf());
  const report = await hub.phase('web', 'Succeeded', 10);
  assert.equal(report.agent, 'agent-1');
  const [run] = await until('the record', async () =>
    (await hub.runs()).length > 0 ? hub.runs() : undefined,
  );
  assert.deepEqual([run?.runId, run?.result], [world.starts[0]?.runId, 'succeeded']);
  const logs = await until('the log', async () =>
    (await hub.logs()).at(-1)?.last === true ? hub.logs() : undefined,
  );
  assert.deepEqual(
    logs.flatMap(({ lines }) => lines),
    [`run ${run?.runId}`],
  );
  await until('the acknowledgement', async () => (await hub.unacknowledged()) === 0);
});

test('the newest report wins on its subject, whoever wrote there before', async (context) => {
  const { hub, dataDir } = await scene(context);
  await hub.jets.js.publish(hubSubjects.report(CLUSTER, stack), 'something older');
  await launch(context, { hub, dataDir, executor: makeScripted(makeWorld()) });
  await hub.publish(orderOf());
  await hub.phase('web', 'Succeeded');
});

test('the policy of the cluster bounds its runs', async (context) => {
  const { hub, dataDir } = await scene(context);
  const agent = await launch(context, { hub, dataDir, executor: makeScripted(makeWorld()) });
  await hub.policy(3, { maxConcurrentRuns: 2 });
  await until('two slots', () => agent.conductor.freeSlots === 2);
});

test('redelivery of everything costs nothing', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  const agent = await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await hub.publish(orderOf());
  await hub.phase('web', 'Succeeded');
  const { revision } = await until('the acknowledgement', () => {
    const entry = agent.ledger.entries.get('apps/web');
    return entry?.acked !== undefined && entry.records.length === 0 && { revision: agent.ledger.revision };
  });
  const { config } = await hub.jets.jsm.consumers.info(CLUSTER, 'agent');
  await hub.jets.jsm.consumers.delete(CLUSTER, 'agent');
  await hub.jets.jsm.consumers.add(CLUSTER, config);
  await until('the redelivery', async () => (await hub.unacknowledged()) === 0);
  assert.equal(agent.ledger.revision, revision);
  assert.equal(world.starts.length, 1);
});

test('an older order is refused, and the hub hears what was there and what came', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await hub.publish(orderOf());
  await hub.phase('web', 'Succeeded');
  await hub.publish(orderOf({ gen: 9, inputDigest: digest('b') }));
  const report = await until('the refusal', async () =>
    (await hub.reports()).find(({ stale }) => stale !== undefined),
  );
  assert.deepEqual([report.stale, report.gen, report.phase], [{ have: 10, got: 9 }, 10, 'Succeeded']);
  assert.equal(report.reason.code, 'StaleOrder');
  await hub.publish(orderOf({ gen: 11, inputDigest: digest('b') }));
  assert.equal((await hub.phase('web', 'Succeeded', 11)).stale, undefined);
  assert.deepEqual(
    world.starts.map(({ gen }) => gen),
    [10, 11],
  );
});

const seed = [{ stack, gen: 30, lastSuccess: successOf() }];

test('a new ledger of the same cluster takes what the board knows: zero runs', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  hub.answer = ({ ledger }) => ({ epoch: 7, ...(ledger === 0 ? { seed } : {}) });
  await hub.publish(orderOf({ gen: 29 }));
  const agent = await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await until('the seed', () => agent.ledger.entries.get('apps/web')?.gen === 30);
  await hub.publish(orderOf({ gen: 31 }));
  const report = await hub.phase('web', 'Succeeded', 31);
  assert.equal(report.reason.code, 'AlreadyApplied');
  assert.ok(report.ledger > 7);
  assert.equal(world.starts.length, 0);
});

test('a ledger that has an epoch takes no seed, and goes above the board', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  const first = await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await hub.publish(orderOf());
  await hub.phase('web', 'Succeeded');
  const own = first.ledger.header.epoch;
  await first.stop();
  hub.answer = () => ({ epoch: own + 5, seed: [{ ...seed[0]!, gen: 99 }] });
  const second = await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await until('the report under the new epoch', async () => (await hub.reports())[0]?.ledger === own + 6);
  assert.equal(second.ledger.entries.get('apps/web')?.gen, 10);
  assert.equal(world.starts.length, 1);
});

test('a new ledger starts nothing until the hub has answered', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  hub.answer = () => undefined;
  const agent = await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await hub.publish(orderOf());
  await until('the order to be recorded', () => agent.ledger.entries.has('apps/web'));
  await until('a hello', () => hub.hellos.length > 0);
  assert.equal(world.starts.length, 0);
  hub.answer = () => ({});
  await hub.phase('web', 'Succeeded');
});

test('a known ledger starts as soon as its orders are read, without any hub', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  const first = await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await until('an epoch', () => first.ledger.header.epoch > 0);
  await first.stop();
  hub.answer = () => undefined;
  await hub.publish(orderOf());
  await launch(context, { hub, dataDir, executor: makeScripted(world) });
  await hub.phase('web', 'Succeeded');
});

test('hello says what is held, gives the list when it is asked, and sends again what the hub lacks', async (context) => {
  const { hub, dataDir } = await scene(context);
  await launch(context, { hub, dataDir, executor: makeScripted(makeWorld()) });
  await hub.publish(orderOf());
  const { seq } = await hub.phase('web', 'Succeeded');
  await hub.jets.jsm.streams.purge(`STATE_${CLUSTER}`);
  hub.answer = ({ list }) => (list === undefined ? { needList: true } : { resend: [stack] });
  await hub.server.stop();
  await hub.server.start();
  await hub.phase('web', 'Succeeded');
  const { list } = hub.hellos.at(-1)!;
  assert.deepEqual(list, [{ ...stack, gen: 10, seq, says: `run ${digest('a')}` }]);
});

test('a hello is repeated when the answer asks for it', async (context) => {
  const { hub, dataDir } = await scene(context);
  hub.answer = () => (hub.hellos.length < 3 ? { againMs: 20 } : {});
  await launch(context, { hub, dataDir, executor: makeScripted(makeWorld()) });
  await until('three hellos', () => hub.hellos.length === 3);
});

test('a beat says what is free and what runs', async (context) => {
  const { hub, dataDir } = await scene(context);
  await launch(context, { hub, dataDir, executor: makeScripted(makeWorld()) });
  const bytes = await until('a beat', () => hub.beats[0]);
  const beat = decode(beatSchema, bytes);
  assert.equal(beat.kind, 'message');
  if (beat.kind === 'message')
    assert.deepEqual([beat.message.agent, beat.message.free, beat.message.running], ['agent-1', 4, []]);
});

test('whoever answers a hello hears a beat at once', async (context) => {
  const { hub, dataDir } = await scene(context);
  hub.answer = () => (hub.hellos.length < 4 ? { againMs: 20 } : {});
  await launch(context, { hub, dataDir, executor: makeScripted(makeWorld()) });
  await until('a beat at the start and one a hello', () => hub.beats.length >= 5, { deadlineMs: 10_000 });
});

test('with the broker away a run goes on, and its report arrives later, also over a restart of the agent', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  const executor = makeScripted(world, { run: () => undefined });
  const first = await launch(context, { hub, dataDir, executor });
  await hub.publish(orderOf());
  await until('the run', () => world.starts.length === 1);
  await hub.phase('web', 'Running');
  await hub.server.stop();
  world.going.get(world.starts[0]!.runId)!(endOf());
  await until(
    'the result to be recorded',
    () => first.ledger.entries.get('apps/web')?.lastSuccess !== undefined,
  );
  await first.stop();
  const second = await launch(context, { hub, dataDir, executor });
  await hub.server.start();
  await hub.phase('web', 'Succeeded', 10);
  await until(
    'everything to be acknowledged',
    () => second.ledger.entries.get('apps/web')?.records.length === 0,
  );
  assert.equal((await hub.runs()).length, 1);
  assert.equal(world.starts.length, 1);
});

test('a run that goes on when the agent is stopped is the next agent’s', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  const executor = makeScripted(world, { run: () => undefined });
  const first = await launch(context, { hub, dataDir, executor });
  await hub.publish(orderOf());
  await hub.phase('web', 'Running');
  assert.deepEqual(await first.stop(), { left: true });
  await launch(context, { hub, dataDir, executor });
  world.going.get(world.starts[0]!.runId)!(endOf());
  await hub.phase('web', 'Succeeded');
  assert.equal(world.starts.length, 1);
});

test('with “finish”, a stop waits for runs', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  const executor = makeScripted(world, { run: () => undefined });
  const config = { onStop: 'finish', stopTimeoutMs: 60_000 } as const;
  const agent = await launch(context, { hub, dataDir, executor, config });
  await hub.publish(orderOf());
  await hub.phase('web', 'Running');
  const stopped = agent.stop();
  world.going.get(world.starts[0]!.runId)!(endOf());
  assert.deepEqual(await stopped, { left: false });
  assert.equal((await hub.phase('web', 'Succeeded')).gen, 10);
});

test('with “cancel”, a stop ends runs, and they start again with the next agent', async (context) => {
  const { hub, dataDir } = await scene(context);
  const world = makeWorld();
  const executor = makeScripted(world, { run: () => undefined });
  const first = await launch(context, { hub, dataDir, executor, config: { onStop: 'cancel' } });
  await hub.publish(orderOf());
  await hub.phase('web', 'Running');
  assert.deepEqual(await first.stop(), { left: false });
  await launch(context, { hub, dataDir, executor: makeScripted(world) });
  assert.equal((await hub.phase('web', 'Succeeded')).attempt, 2);
});

test('health, readiness and metrics are served', async (context) => {
  const { hub, dataDir } = await scene(context);
  const httpPort = 20_000 + (process.pid % 20_000);
  await launch(context, { hub, dataDir, executor: makeScripted(makeWorld()), config: { httpPort } });
  await hub.publish(orderOf());
  await hub.phase('web', 'Succeeded');
  const get = async (path: string): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${httpPort}${path}`, { headers: { connection: 'close' } });
    return [response.status, await response.text()];
  };
  assert.equal((await get('/healthz'))[0], 200);
  assert.equal((await get('/readyz'))[0], 200);
  assert.equal((await get('/other'))[0], 404);
  const [, metrics] = await get('/metrics');
  assert.match(metrics, /towline_agent_orders_total\{verdict="accepted"\} 1/);
  assert.match(metrics, /towline_agent_runs_total\{result="succeeded"\} 1/);
  assert.match(metrics, /towline_agent_placements\{phase="Succeeded"\} 1/);
  assert.doesNotMatch(metrics, /apps\/web|"web"/);
});
