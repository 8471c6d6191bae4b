import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_BOARD, foldReports } from '../../hub/board.ts';
import type { PlannedCommit } from '../../hub/decision.ts';
import type { SourceView } from '../../hub/git/source.ts';
import { addPlanned, EMPTY_HISTORY } from '../../hub/history.ts';
import { joinRows, refreshRows, type ViewInput } from '../../hub/view.ts';
import { inForce, makeOrder, makePlacement, makeReport, makeWanted, NOW } from './make.ts';

const order = makeOrder(makeWanted({}), { gen: 5 });
const source: SourceView = {
  name: 'fleet',
  url: '/repo',
  ref: 'refs/heads/main',
  trust: 'fleet',
  manifests: [],
  state: 'Ready',
  since: 1,
  checkedAt: 2,
};

const input = (change: Partial<ViewInput> = {}): ViewInput => ({
  placements: [],
  refused: [],
  orders: new Map(),
  board: EMPTY_BOARD,
  sources: [source],
  history: EMPTY_HISTORY,
  ...change,
});

const planned = (id: string): PlannedCommit => ({
  repository: 'fleet',
  ref: 'refs/heads/main',
  commit: { id, subject: id, author: 'someone', time: 1 },
  plannedAt: NOW,
  decisions: [],
  orders: 0,
});

test('whatever is wanted, ordered, decided or reported has a row', () => {
  const decision = {
    cluster: 'harbour',
    stack: { namespace: 'shop', name: 'decided' },
    verdict: 'hold' as const,
    reasons: [],
  };
  const view = joinRows(
    input({
      placements: [makePlacement({ name: 'wanted' })],
      refused: [
        {
          cluster: 'harbour',
          stack: { namespace: 'shop', name: 'refused' },
          origin: { repository: 'fleet', path: 'x.yaml', line: 3 },
          reason: { code: 'Invalid', text: 'no' },
        },
      ],
      orders: inForce(makeOrder(makeWanted({ name: 'ordered' }))),
      board: foldReports(EMPTY_BOARD, [makeReport(makeOrder(makeWanted({ name: 'reported' })))]).board,
      history: addPlanned(EMPTY_HISTORY, { ...planned('a'), decisions: [decision] }),
    }),
  );
  assert.deepEqual(
    view.rows.map((row) => row.stack.name),
    ['decided', 'ordered', 'refused', 'reported', 'wanted'],
  );
  assert.equal(view.rows[4]?.phase, 'Unknown');
  view.rows.forEach((row, at) => assert.equal(view.index.get(row.key), at));
});

test('a placement that was only ever decided about has no row once the newest pass does not know it', () => {
  const stack = { namespace: 'shop', name: 'refused' };
  const decision = { cluster: 'harbour', stack, verdict: 'refused' as const, reasons: [] };
  const history = addPlanned(EMPTY_HISTORY, { ...planned('a'), decisions: [decision] });
  const names = (known: readonly string[]): readonly string[] =>
    joinRows(input({ history, planned: new Set(known) })).rows.map((row) => row.key);
  assert.deepEqual(names(['harbour/shop/refused']), ['harbour/shop/refused']);
  assert.deepEqual(names([]), []);
});

test('a refused stack without a cluster stands on each row that it has', () => {
  const refused = { stack: order.stack, origin: { repository: 'fleet', path: 'x.yaml', line: 3 } };
  const view = joinRows(
    input({
      refused: [{ ...refused, reason: { code: 'Invalid', text: 'no' } }],
      orders: inForce(
        order,
        makeOrder(makeWanted({ cluster: 'island' })),
        makeOrder(makeWanted({ name: 'api' })),
      ),
    }),
  );
  assert.deepEqual(
    view.rows.map((row) => [row.key, row.refused !== undefined]),
    [
      ['harbour/shop/api', false],
      ['harbour/shop/web', true],
      ['island/shop/web', true],
    ],
  );
});

test('a report about an older order is behind, by commits where they are kept', () => {
  const board = foldReports(EMPTY_BOARD, [makeReport(order, { gen: 4, commit: 'b' })]).board;
  const history = ['a', 'b', 'c', 'd'].reduce((so, id) => addPlanned(so, planned(id)), EMPTY_HISTORY);
  const behind = (found: Partial<ViewInput>): unknown =>
    joinRows(input({ orders: inForce(order), ...found })).rows[0]?.behind;
  assert.deepEqual(behind({ board, history }), { since: order.issuedAt, commits: 2 });
  assert.deepEqual(behind({ board }), { since: order.issuedAt });
  assert.deepEqual(behind({}), { since: order.issuedAt });
  assert.equal(behind({ board: foldReports(EMPTY_BOARD, [makeReport(order)]).board }), undefined);
});

test('of two repositories the one that is not well is shown', () => {
  const placement = makePlacement(
    {},
    { source: { repository: 'programs', project: '.', include: [], inferInputs: true } },
  );
  const bad: SourceView = { ...source, name: 'programs', state: 'Unreachable', since: 77 };
  const sourceOf = (sources: readonly SourceView[]): unknown =>
    joinRows(input({ placements: [placement], sources })).rows[0]?.source;
  assert.deepEqual(sourceOf([source, bad]), { repository: 'programs', state: 'Unreachable', since: 77 });
  assert.deepEqual(sourceOf([source, { ...bad, state: 'Ready' }]), {
    repository: 'fleet',
    state: 'Ready',
    since: 1,
  });
  assert.equal(sourceOf([]), undefined);
});

const phases = [
  { phase: 'Running', startedAt: 10, finishedAt: undefined, since: 10 },
  { phase: 'Succeeded', startedAt: 10, finishedAt: 20, since: 20 },
  { phase: 'Waiting', startedAt: 10, finishedAt: 20, since: NOW },
] as const;
for (const { phase, startedAt, finishedAt, since } of phases) {
  test(`${phase} is as old as ${since}`, () => {
    const times = { startedAt, ...(finishedAt === undefined ? {} : { finishedAt }) };
    const board = foldReports(EMPTY_BOARD, [makeReport(order, { phase, ...times })]).board;
    assert.equal(joinRows(input({ board })).rows[0]?.phaseSince, since);
  });
}

test('refreshed rows are those of a whole join', () => {
  const names = Array.from({ length: 40 }, (_, n) => `stack-${n}`);
  const orders = inForce(...names.map((name) => makeOrder(makeWanted({ name }))));
  const before = input({ orders, placements: names.map((name) => makePlacement({ name })) });
  const view = joinRows(before);
  const folded = foldReports(EMPTY_BOARD, [
    makeReport(makeOrder(makeWanted({ name: 'stack-7' })), { phase: 'Failed' }),
  ]);
  const after = { ...before, board: folded.board };
  const refreshed = refreshRows(view, after, folded.changed);
  assert.deepEqual(refreshed, joinRows(after));
  assert.equal(refreshed.index, view.index, 'the order of rows is the same object: sorted lists stay valid');
  assert.equal(refreshed.rows[0], view.rows[0]);
  assert.equal(refreshRows(view, after, []), view);
  const stranger = foldReports(after.board, [makeReport(makeOrder(makeWanted({ name: 'new' })))]);
  const wider = { ...before, board: stranger.board };
  assert.deepEqual(refreshRows(refreshed, wider, stranger.changed), joinRows(wider));
});
