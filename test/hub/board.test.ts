import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  compareReports,
  EMPTY_BOARD,
  foldBeat,
  foldReports,
  forgetCluster,
  listening,
} from '../../hub/board.ts';
import { WIRE_VERSION, type Beat, type Report } from '../../shared/wire.ts';
import { makeOrder, makeReport, makeWanted } from './make.ts';

const beat: Beat = {
  v: WIRE_VERSION,
  agent: 'a',
  version: '1',
  free: 1,
  running: [],
  settledHash: '',
  at: 1,
};
const reportOf = (name: string, change: Partial<Report>): Report =>
  makeReport(makeOrder(makeWanted({ name })), change);

const anyReport = fc
  .record({
    name: fc.constantFrom('web', 'api'),
    ledger: fc.integer({ min: 1, max: 3 }),
    seq: fc.integer({ min: 1, max: 4 }),
    at: fc.integer({ min: 1, max: 2 }),
    commit: fc.constantFrom('a', 'b'),
  })
  .map(({ name, ...change }) => reportOf(name, change));

test('any order of arrival and any duplication converge', () => {
  const messages = fc.array(anyReport, { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(messages, messages, (sent, again) => {
      const duplicates = again.map((_, n) => sent[n % sent.length]!);
      const straight = foldReports(EMPTY_BOARD, sent).board.reports;
      let shuffled = EMPTY_BOARD;
      for (const report of [...duplicates, ...sent.toReversed(), ...duplicates])
        shuffled = foldReports(shuffled, [report]).board;
      assert.deepEqual(
        [...shuffled.reports].sort(([a], [b]) => (a < b ? -1 : 1)),
        [...straight].sort(([a], [b]) => (a < b ? -1 : 1)),
      );
    }),
  );
});

test('the greatest (ledger, seq) holds, whatever its clock says', () => {
  const restored = reportOf('web', { ledger: 2, seq: 1, at: 5 });
  const late = reportOf('web', { ledger: 1, seq: 900, at: 9 });
  const { board } = foldReports(EMPTY_BOARD, [late, restored, late]);
  assert.equal(board.reports.get('harbour/shop/web'), restored);
  assert.ok(compareReports(restored, late) > 0);
});

test('no change gives the same board', () => {
  const report = reportOf('web', { seq: 3 });
  const { board, changed } = foldReports(EMPTY_BOARD, [report]);
  assert.deepEqual(changed, ['harbour/shop/web']);
  assert.equal(foldReports(board, [{ ...report }]).board, board);
  assert.deepEqual(foldReports(board, [reportOf('web', { seq: 2 })]).changed, []);
  assert.deepEqual(foldReports(board, [reportOf('web', { seq: 4 }), reportOf('api', {})]).changed, [
    'harbour/shop/web',
    'harbour/shop/api',
  ]);
});

test('the beat heard last holds', () => {
  const board = foldBeat(EMPTY_BOARD, 'harbour', { beat, heardAt: 20 });
  assert.equal(foldBeat(board, 'harbour', { beat, heardAt: 10 }), board);
  assert.equal(foldBeat(board, 'harbour', { beat, heardAt: 30 }).beats.get('harbour')?.heardAt, 30);
});

test('a cluster that is gone takes its reports and beats with it', () => {
  const own = makeReport(makeOrder(makeWanted({ cluster: 'island' })));
  const heard = foldBeat(foldReports(EMPTY_BOARD, [own, reportOf('web', {})]).board, 'island', {
    beat,
    heardAt: 1,
  });
  const board = forgetCluster(listening(heard, 5), 'island');
  assert.deepEqual([...board.reports.keys()], ['harbour/shop/web']);
  assert.equal(board.beats.size, 0);
  assert.equal(board.listeningSince, 5);
  assert.equal(listening(board, undefined).listeningSince, undefined);
});
