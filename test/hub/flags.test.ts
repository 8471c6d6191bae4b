import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_BOARD, foldBeat, listening, type Board } from '../../hub/board.ts';
import type { DecidedAt, Decision } from '../../hub/decision.ts';
import { flagsOf, shownAs } from '../../hub/flags.ts';
import { livenessOf, type Liveness } from '../../hub/liveness.ts';
import type { Row } from '../../hub/view.ts';
import { limits } from '../../shared/limits.ts';
import type { Phase, ReasonCode } from '../../shared/outcome.ts';
import { WIRE_VERSION } from '../../shared/wire.ts';
import { makeOrder, makeReport, makeWanted, NOW } from './make.ts';

const beat = {
  v: WIRE_VERSION,
  agent: 'a',
  version: '1',
  free: 1,
  running: [],
  settledHash: '',
  at: 1,
} as const;
const heard = (at: number): Board =>
  foldBeat(listening(EMPTY_BOARD, 0), 'harbour', { beat: { ...beat, running: [] }, heardAt: at });

const lives: readonly { name: string; board: Board; now: number; expected: Liveness }[] = [
  { name: 'heard a moment ago', board: heard(100), now: 144, expected: { state: 'Online', since: 100 } },
  { name: 'silent for the limit', board: heard(100), now: 145, expected: { state: 'Offline', since: 100 } },
  {
    name: 'never heard, the hub has just started',
    board: listening(EMPTY_BOARD, 100),
    now: 144,
    expected: { state: 'Unheard', since: 100 },
  },
  {
    name: 'never heard although the hub listened long enough',
    board: listening(EMPTY_BOARD, 100),
    now: 145,
    expected: { state: 'Offline', since: 100 },
  },
  {
    name: 'the hub has lost the broker: silence says nothing about the agent',
    board: listening(heard(100), undefined),
    now: 9_000,
    expected: { state: 'Unheard', since: 100 },
  },
  {
    name: 'the hub listens again since a moment',
    board: listening(heard(100), 8_990),
    now: 9_000,
    expected: { state: 'Unheard', since: 100 },
  },
];
for (const { name, board, now, expected } of lives) {
  test(`liveness: ${name}`, () => {
    assert.deepEqual(livenessOf(board, 'harbour', { now, offlineAfterMs: 45 }), expected);
  });
}

const online: Liveness = { state: 'Online', since: NOW };
const offline: Liveness = { state: 'Offline', since: NOW - 60_000 };
const order = makeOrder(makeWanted({}));

function rowOf(phase: Phase, change: Partial<Row> = {}): Row {
  const report = makeReport(order, { phase });
  return {
    key: 'harbour/shop/web',
    cluster: 'harbour',
    stack: order.stack,
    labels: {},
    order,
    report,
    phase,
    phaseSince: report.at,
    search: '',
    ...change,
  };
}

const decided = (verdict: Decision['verdict'], code: ReasonCode): DecidedAt => ({
  decision: { cluster: 'harbour', stack: order.stack, verdict, reasons: [{ code, text: '' }] },
  commit: 'c',
  at: NOW - 5,
});
const behind = { since: NOW - 7 };

const statuses: readonly { name: string; row: Row; agent?: Liveness; status: string; since: number }[] = [
  { name: 'all well', row: rowOf('Succeeded'), status: 'Succeeded', since: NOW },
  { name: 'a silent agent', row: rowOf('Succeeded'), agent: offline, status: 'Offline', since: NOW - 60_000 },
  {
    name: 'a silent agent at work',
    row: rowOf('Running'),
    agent: offline,
    status: 'Offline',
    since: NOW - 60_000,
  },
  {
    name: 'an agent not heard yet',
    row: rowOf('Succeeded'),
    agent: { state: 'Unheard', since: NOW - 3 },
    status: 'Unknown',
    since: NOW - 3,
  },
  { name: 'a newer order', row: rowOf('Succeeded', { behind }), status: 'Pending', since: NOW - 7 },
  { name: 'at work on the older order', row: rowOf('Running', { behind }), status: 'Running', since: NOW },
  {
    name: 'a manifest that cannot be planned',
    row: rowOf('Succeeded', { decided: decided('refused', 'Invalid') }),
    status: 'Invalid',
    since: NOW - 5,
  },
  {
    name: 'a manifest of which something was not read yet',
    row: rowOf('Succeeded', {
      refused: {
        ...{ stack: { namespace: 'shop', name: 'web' }, cluster: 'harbour' },
        ...{ origin: { repository: 'fleet', path: 'a.yaml', line: 1 } },
        reason: { code: 'SourceUnavailable', text: 'not read' },
      },
    }),
    status: 'Succeeded',
    since: NOW,
  },
  {
    name: 'a hold of the hub',
    row: rowOf('Succeeded', { decided: decided('hold', 'StackIdentityChanged') }),
    status: 'Waiting',
    since: NOW - 5,
  },
  {
    name: 'orphaned, before the agent says so',
    row: rowOf('Succeeded', { decided: decided('hold', 'Orphaned') }),
    status: 'Orphaned',
    since: NOW - 5,
  },
  {
    name: 'unchanged',
    row: rowOf('Failed', { decided: decided('unchanged', 'Unchanged') }),
    status: 'Failed',
    since: NOW,
  },
];
for (const { name, row, agent = online, status, since } of statuses) {
  test(`shown: ${name}`, () => assert.deepEqual(shownAs(row, agent), { status, since }));
}

test('flags stand beside the phase, each with its age', () => {
  const row = rowOf('Running', { behind: { since: NOW - 7, commits: 3 } });
  const due =
    NOW + order.policy.timeoutMs + limits.stopGraceMs + limits.stopSecondGraceMs + limits.offlineAfterMs;
  assert.deepEqual(
    flagsOf(row, offline, due).map(({ text: _, ...flag }) => flag),
    [
      { flag: 'Offline', since: NOW - 60_000 },
      { flag: 'Stale', since: due },
      { flag: 'Behind', since: NOW - 7, commits: 3 },
    ],
  );
  assert.deepEqual(
    flagsOf(row, online, due - 1).map(({ flag }) => flag),
    ['Behind'],
  );
  assert.deepEqual(flagsOf(rowOf('Succeeded'), online, due * 2), []);
});
