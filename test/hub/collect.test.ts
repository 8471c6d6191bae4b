import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { startCollector, type BoardChange, type Collector } from '../../hub/collect.ts';
import type { Dropped } from '../../hub/intake.ts';
import { ensureAccount } from '../../hub/streams.ts';
import { makeLog } from '../../shared/log.ts';
import { hubSubjects, streams } from '../../shared/subjects.ts';
import { encode, WIRE_VERSION, type Beat, type Report } from '../../shared/wire.ts';
import { startNats, type NatsServer } from '../harness/nats.ts';
import { atEnd } from '../harness/owned.ts';
import { until } from '../harness/until.ts';
import { brokerOf, type Broker } from './broker.ts';
import { makeOrder, makeReport, makeWanted } from './make.ts';

const HARBOUR = { cluster: 'harbour.one', account: 'harbour_one' };
const ISLAND = { cluster: 'island', account: 'island' };
const quiet = makeLog({ name: 'test', level: 'silent' });
const beat: Beat = {
  v: WIRE_VERSION,
  agent: 'agent-1',
  version: '0.1.0',
  free: 2,
  running: [],
  settledHash: '',
  at: 1,
};

const reportOf = (cluster: string, name: string, change: Partial<Report> = {}): Report =>
  makeReport(makeOrder(makeWanted({ cluster, name })), change);

interface Fixture extends Broker {
  readonly collector: Collector;
  readonly changes: BoardChange[];
  readonly dropped: Dropped[];
  /** Clusters of which a state stream was said to be lost. */
  readonly lost: string[];
  readonly server: NatsServer;
}

async function collecting(t: TestContext): Promise<Fixture> {
  const server = await startNats(t);
  const broker = await brokerOf(t, server);
  for (const { account } of [HARBOUR, ISLAND]) await ensureAccount(broker.jets, account);
  const changes: BoardChange[] = [];
  const dropped: Dropped[] = [];
  const lost: string[] = [];
  const collector = startCollector({
    ...broker,
    now: Date.now,
    log: quiet,
    onChange: (change) => changes.push(change),
    onLost: (cluster) => lost.push(cluster),
    onDrop: (one) => dropped.push(one),
  });
  atEnd(t, () => collector.close());
  return { ...broker, collector, changes, dropped, lost, server };
}

async function publish({ jets }: Broker, { account }: typeof ISLAND, report: Report): Promise<void> {
  await jets.js.publish(hubSubjects.report(account, report.stack), encode(report));
}

const phaseOf = (collector: Collector, key: string): string | undefined =>
  collector.board.reports.get(key)?.phase;
const complete = (collector: Collector): Promise<unknown> =>
  until('the board to be complete', () => collector.gap ?? 'complete', {
    accept: (gap) => gap === 'complete',
  });

test('what the streams hold at start is on the board when it says to be complete', async (t) => {
  const fixture = await collecting(t);
  const { collector } = fixture;
  for (let n = 0; n < 300; n += 1) await publish(fixture, ISLAND, reportOf('island', `stack-${n}`));
  await publish(fixture, HARBOUR, reportOf('harbour.one', 'web', { phase: 'Failed' }));
  collector.setClusters([HARBOUR, ISLAND]);
  assert.match(collector.gap ?? '', /harbour\.one, island were not read/);
  await complete(collector);
  assert.equal(collector.board.reports.size, 301);
  assert.equal(phaseOf(collector, 'harbour.one/shop/web'), 'Failed');
});

test('later reports and clusters come while it runs, older reports change nothing', async (t) => {
  const fixture = await collecting(t);
  const { collector, changes } = fixture;
  collector.setClusters([HARBOUR]);
  await complete(collector);
  await publish(fixture, HARBOUR, reportOf('harbour.one', 'web', { seq: 5, phase: 'Running' }));
  await until('the report', () => phaseOf(collector, 'harbour.one/shop/web') === 'Running');
  await publish(fixture, HARBOUR, reportOf('harbour.one', 'web', { seq: 4, phase: 'Pending' }));
  await publish(fixture, HARBOUR, reportOf('harbour.one', 'api', { seq: 6 }));
  await until('the next report', () => phaseOf(collector, 'harbour.one/shop/api'));
  assert.equal(phaseOf(collector, 'harbour.one/shop/web'), 'Running');
  assert.deepEqual(changes.at(-1)?.reports, ['harbour.one/shop/api']);
  await publish(fixture, ISLAND, reportOf('island', 'web'));
  collector.setClusters([HARBOUR, ISLAND]);
  assert.notEqual(collector.gap, undefined);
  await until('the new cluster', () => phaseOf(collector, 'island/shop/web'));
  collector.setClusters([ISLAND]);
  assert.deepEqual([...collector.board.reports.keys()], ['island/shop/web']);
  await complete(collector);
});

test('foreign and malformed messages are dropped and counted', async (t) => {
  const fixture = await collecting(t);
  const { collector, dropped, jets, connection } = fixture;
  collector.setClusters([ISLAND]);
  await complete(collector);
  const web = reportOf('island', 'web');
  const bad = [
    '',
    '{"stream":"STATE_island","seq":7}',
    encode(reportOf('harbour.one', 'bad-2')),
    encode(reportOf('island', 'api')),
    JSON.stringify({ ...web, v: 2 }),
  ];
  for (const [n, body] of bad.entries())
    await jets.js.publish(hubSubjects.report('island', { namespace: 'shop', name: `bad-${n}` }), body);
  connection.publish(hubSubjects.beat('stranger'), encode(beat));
  connection.publish(hubSubjects.beat('island'), '');
  await publish(fixture, ISLAND, web);
  await until('the good one', () => phaseOf(collector, 'island/shop/web'));
  await until('the drops', () => dropped.length === 7);
  assert.deepEqual(dropped.map(({ cause }) => cause).sort(), [
    'foreign',
    'foreign',
    'malformed',
    'malformed',
    'unknownAccount',
    'unknownVersion',
    'unknownVersion',
  ]);
  assert.equal(collector.board.reports.size, 1);
});

test('a beat is heard by the clock of the hub', async (t) => {
  const { collector, connection } = await collecting(t);
  collector.setClusters([HARBOUR]);
  const before = Date.now();
  await until('the beat', () => {
    connection.publish(hubSubjects.beat('harbour_one'), encode(beat));
    return collector.board.beats.get('harbour.one');
  });
  assert.ok((collector.board.beats.get('harbour.one')?.heardAt ?? 0) >= before);
});

test('a stream that is made again with lower sequences is read again', async (t) => {
  const fixture = await collecting(t);
  const { collector, jets } = fixture;
  collector.setClusters([ISLAND]);
  for (let seq = 1; seq <= 5; seq += 1) await publish(fixture, ISLAND, reportOf('island', 'web', { seq }));
  await until('the reports', () => collector.board.reports.get('island/shop/web')?.seq === 5);
  await jets.jsm.streams.delete(streams.state('island'));
  await until('the loss to be known', () => collector.gap);
  await ensureAccount(jets, 'island');
  await publish(fixture, ISLAND, reportOf('island', 'web', { seq: 6 }));
  await until('the report after it', () => collector.board.reports.get('island/shop/web')?.seq === 6);
  await complete(collector);
});

test('a broker that comes back, also with an empty store, is followed again; meanwhile silence blames nobody', async (t) => {
  const fixture = await collecting(t);
  const { collector, server, jets } = fixture;
  collector.setClusters([ISLAND]);
  await publish(fixture, ISLAND, reportOf('island', 'web', { seq: 1 }));
  await complete(collector);
  await server.stop('SIGKILL');
  await until('the loss to be known', () => collector.gap === 'the broker cannot be reached');
  assert.equal(collector.board.listeningSince, undefined);
  await server.start();
  await complete(collector);
  assert.notEqual(collector.board.listeningSince, undefined);
  await publish(fixture, ISLAND, reportOf('island', 'web', { seq: 2 }));
  await until('a report after a restart', () => collector.board.reports.get('island/shop/web')?.seq === 2);

  await server.stop('SIGKILL');
  await rm(server.storeFolder, { recursive: true });
  await server.start();
  await until('the broker to be found', () => collector.board.listeningSince);
  await ensureAccount(jets, 'island');
  await publish(fixture, ISLAND, reportOf('island', 'web', { seq: 3 }));
  await until('a report after the loss', () => collector.board.reports.get('island/shop/web')?.seq === 3);
  await complete(collector);
});

test('a state stream that is taken away is said to be lost once, and is read when it is there again', async (t) => {
  const fixture = await collecting(t);
  const { collector, jets, lost } = fixture;
  collector.setClusters([HARBOUR, ISLAND]);
  await complete(collector);
  await jets.jsm.streams.delete(streams.state(ISLAND.account));
  await until('the loss to be noticed', () => lost, { accept: (clusters) => clusters.includes('island') });
  assert.match(collector.gap ?? '', /island/);
  await ensureAccount(jets, ISLAND.account);
  await complete(collector);
  assert.deepEqual(new Set(lost), new Set(['island']));
});
