import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldReports } from '../../hub/board.ts';
import { makeMetrics, runEnd } from '../../hub/metrics.ts';
import { makeOrder, makeReport, makeWanted, NOW } from './make.ts';
import { makeWorld, modelOf } from './api/fixture.ts';

const order = makeOrder(makeWanted({}));
const ended = { runId: 'r1', startedAt: NOW - 10, finishedAt: NOW };

const ends = [
  { name: 'a run that ended well', report: makeReport(order, ended), result: 'succeeded' },
  {
    name: 'a run that failed',
    report: makeReport(order, { ...ended, phase: 'Failed', failure: 'Program' }),
    result: 'failed',
  },
  {
    name: 'a run at work',
    report: makeReport(order, { runId: 'r1', startedAt: NOW, phase: 'Running' }),
    result: undefined,
  },
  { name: 'no run', report: makeReport(order), result: undefined },
  {
    name: 'the same run again',
    report: makeReport(order, { ...ended, seq: 2, gen: 300 }),
    before: makeReport(order, ended),
    result: undefined,
  },
  {
    name: 'the next run',
    report: makeReport(order, { ...ended, runId: 'r2' }),
    before: makeReport(order, ended),
    result: 'succeeded',
  },
] as const;
for (const one of ends) {
  test(`${one.name} counts as ${one.result ?? 'nothing'}`, () => {
    assert.equal(runEnd(one.report, 'before' in one ? one.before : undefined), one.result);
  });
}

test('figures say what happened and what is', async () => {
  const metrics = makeMetrics();
  metrics.ordered({ action: 'run' });
  metrics.planned(300);
  metrics.committed(4_000);
  metrics.dropped('foreign');
  metrics.resynced(3);
  metrics.reported(makeReport(order, ended), undefined);
  const { type, text } = await metrics.expose(modelOf(makeWorld()));
  assert.match(type, /^text\/plain/);
  for (const line of [
    'towline_orders_total{action="run"} 1',
    'towline_plan_seconds_count 1',
    'towline_commit_lag_seconds_sum 4',
    'towline_dropped_messages_total{cause="foreign"} 1',
    'towline_dropped_messages_total{cause="malformed"} 0',
    'towline_resyncs_total 3',
    'towline_runs_total{result="succeeded"} 1',
    'towline_poll_age_seconds{repository="fleet"} 1',
    'towline_source_state{repository="fleet",state="Unreachable"} 1',
    'towline_placements{status="Succeeded"} 1',
    'towline_held{code="Invalid"} 1',
    'towline_agents{state="Online"} 1',
    'towline_agents{state="Offline"} 1',
    'towline_agent_age_max_seconds 2',
    'towline_catalog_problems{severity="error"} 1',
    'towline_ready 1',
  ])
    assert.ok(text.split('\n').includes(line), `${line}\n${text}`);
});

test('the number of lines does not grow with the fleet', async () => {
  const lines = async (clusters: number): Promise<number> => {
    const world = makeWorld();
    const reports = Array.from({ length: clusters }, (_, n) =>
      makeReport(makeOrder(makeWanted({ cluster: `cluster-${n}`, name: `stack-${n}` }))),
    );
    world.board = foldReports(world.board, reports).board;
    return (await makeMetrics().expose(modelOf(world))).text.split('\n').length;
  };
  assert.equal(await lines(200), await lines(1));
});
