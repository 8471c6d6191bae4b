import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atRest,
  exitCodeOf,
  figuresOf,
  isDone,
  isRecorded,
  lost,
  repeated,
  type CommitRow,
  type PlacementRow,
  type RunRow,
} from '../../../deploy/local/standing.ts';

const web = { cluster: 'quay', namespace: 'port', name: 'web' };
const wanted = { gen: 5, digest: 'v1:b', commit: 'c' };
const row = (change: Partial<PlacementRow>): PlacementRow => ({
  ...web,
  phase: 'Succeeded',
  agent: 'Online',
  reason: '',
  standing: 'planned',
  ...change,
});
const run = (change: Partial<RunRow>): RunRow => ({
  ...web,
  runId: 'r',
  kind: 'update',
  gen: 5,
  digest: 'v1:b',
  trigger: 'InputChanged',
  result: 'succeeded',
  startedAt: 0,
  finishedAt: 12_340,
  ...change,
});
const commit: CommitRow = {
  sha: 'c',
  subject: 'Change web',
  plannedAt: 10_000,
  decisions: [{ ...web, verdict: 'run', gen: 5, reasons: [] }],
  unchanged: 3,
};

const cases: readonly [string, Partial<PlacementRow>, { rest: boolean; done: boolean; lost: boolean }][] = [
  ['no order and no reason', {}, { rest: false, done: false, lost: false }],
  ['no order, held', { standing: 'held' }, { rest: true, done: false, lost: false }],
  ['an order without a report', { wanted }, { rest: false, done: false, lost: false }],
  [
    'a report of an older order',
    { wanted, reported: { gen: 4, digest: 'v1:a' } },
    { rest: false, done: false, lost: false },
  ],
  [
    'running',
    { wanted, phase: 'Running', reported: { gen: 5, digest: 'v1:b' } },
    { rest: false, done: false, lost: false },
  ],
  ['succeeded', { wanted, reported: { gen: 5, digest: 'v1:b' } }, { rest: true, done: true, lost: false }],
  [
    'succeeded, but its agent is not there',
    { wanted, agent: 'Offline', reported: { gen: 5, digest: 'v1:b' } },
    { rest: false, done: true, lost: false },
  ],
  [
    'failed',
    { wanted, phase: 'Failed', reported: { gen: 5, digest: 'v1:b' } },
    { rest: true, done: true, lost: false },
  ],
  [
    'at rest with another digest',
    { wanted, reported: { gen: 6, digest: 'v1:a' } },
    { rest: true, done: true, lost: true },
  ],
];

for (const [what, change, expected] of cases)
  test(`${what}: ${JSON.stringify(expected)}`, () => {
    const rows = [row(change)];
    assert.deepEqual(
      { rest: rows.every(atRest), done: isDone(commit, rows), lost: lost(rows).length > 0 },
      expected,
    );
  });

test('a commit without orders is done at once, and takes until it was planned', () => {
  const quiet = { ...commit, decisions: [{ ...web, verdict: 'unchanged', reasons: [] }] };
  assert.equal(isDone(quiet, []), true);
  assert.deepEqual(figuresOf(quiet, [], { runs: [], since: 9_000 }), {
    sha: 'c',
    subject: 'Change web',
    orders: 0,
    runs: 0,
    succeeded: 0,
    failed: 0,
    unchanged: 3,
    seconds: 1,
  });
});

const failedRow = row({ wanted, phase: 'Failed', reported: { gen: 5, digest: 'v1:b', finishedAt: 11_000 } });
const ends: readonly [string, readonly PlacementRow[], readonly RunRow[], number[]][] = [
  [
    'a run, and others that are not of the commit',
    [],
    [run({ gen: 4 }), run({}), run({ name: 'other' })],
    [1, 1, 0, 3.3],
  ],
  [
    'a run that was cut off, and its second start',
    [],
    [run({ result: 'failed' }), run({ startedAt: 1 })],
    [2, 1, 0, 3.3],
  ],
  ['a preview alone, then nothing could be started', [failedRow], [run({ kind: 'preview' })], [0, 0, 1, 2]],
  ['nothing had to be started', [row({ wanted, reported: { gen: 5, digest: 'v1:b' } })], [], [0, 1, 0, 1]],
  ['a later order came first', [row({ wanted, reported: { gen: 6, digest: 'v1:c' } })], [], [0, 0, 0, 1]],
];

for (const [what, rows, runs, expected] of ends)
  test(`figures of an order: ${what}`, () => {
    const figures = figuresOf(commit, rows, { runs, since: 9_000 });
    assert.equal(figures.orders, 1);
    assert.deepEqual([figures.runs, figures.succeeded, figures.failed, figures.seconds], expected);
  });

test('a run counts once its record is there', () => {
  const reported = { gen: 5, digest: 'v1:b', runId: 'r', finishedAt: 1 };
  const rows = [row({ wanted, reported }), row({ name: 'other', wanted })];
  assert.equal(isRecorded(rows, []), false);
  assert.equal(isRecorded(rows, [run({})]), true);
});

const sequences: readonly [string, readonly Partial<RunRow>[], number][] = [
  ['A, B, A', [{ digest: 'a' }, { digest: 'b' }, { digest: 'a' }], 0],
  ['A, A', [{ digest: 'a' }, { digest: 'a' }], 1],
  ['A, A with a new order', [{ digest: 'a' }, { digest: 'a', gen: 9 }], 1],
  ['A failed, A', [{ digest: 'a', result: 'failed' }, { digest: 'a' }], 0],
  ['A, A as somebody asked', [{ digest: 'a' }, { digest: 'a', trigger: 'RunRequested' }], 0],
  ['A previewed, A', [{ digest: 'a', kind: 'preview' }, { digest: 'a' }], 0],
  ['A here, A elsewhere', [{ digest: 'a' }, { digest: 'a', cluster: 'harbour' }], 0],
];

for (const [what, changes, count] of sequences)
  test(`${what}: ${count} repeated`, () => {
    const runs = changes.map((change, n) => run({ ...change, startedAt: n }));
    assert.equal(repeated(runs.toReversed()).length, count);
  });

const exits: readonly [string, readonly Partial<PlacementRow>[], number, number][] = [
  ['all succeeded', [{}], 0, 0],
  ['one is suspended', [{}, { phase: 'Suspended', standing: 'held' }], 0, 0],
  ['one failed', [{}, { phase: 'Failed' }], 0, 1],
  ['one waits for a person', [{ phase: 'Stalled' }], 0, 1],
  ['one was refused', [{ standing: 'refused' }], 0, 2],
  ['a manifest has an error', [{}], 1, 2],
  ['one failed and a manifest has an error', [{ phase: 'Failed' }], 1, 1],
];

for (const [what, changes, problems, code] of exits)
  test(`${what}: exit code ${code}`, () => assert.equal(exitCodeOf(changes.map(row), problems), code));
