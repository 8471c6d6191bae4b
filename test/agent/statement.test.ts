import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saysTheSame, statementOf, viewOf, type View, type Voice } from '../../agent/statement.ts';
import { attemptOf, endingOf, entryOf, noChanges, orderOf, successOf } from './samples.ts';

const voice: Voice = { cluster: 'dev', agent: 'a', epoch: 3, seq: 9, now: 50 };
const failed: View = { phase: 'Failed', reason: { code: 'RunFailed', text: 'no' } };

test('a settled report shows how the attempt for its generation ended', () => {
  const last = endingOf({ tail: ['x'], changes: noChanges, pendingCreates: ['urn'], lock: { holder: 'me' } });
  const report = statementOf(entryOf({ last, lastSuccess: successOf() }), failed, voice);
  assert.deepEqual(
    [
      report.runId,
      report.attempt,
      report.failure,
      report.tail,
      report.changes,
      report.pendingCreates,
      report.lock,
    ],
    ['r1', 1, 'Program', ['x'], noChanges, ['urn'], { holder: 'me' }],
  );
  assert.deepEqual([report.ledger, report.seq, report.at, report.lastSuccess], [3, 9, 50, successOf()]);
});

test('a report for a newer generation shows nothing of the attempt before', () => {
  const report = statementOf(entryOf({ order: orderOf({ gen: 11 }), last: endingOf() }), failed, voice);
  assert.deepEqual([report.runId, report.attempt, report.failure], [undefined, 0, undefined]);
});

test('a run for the newest order is Running; for an older one the newest waits', () => {
  const running = attemptOf(orderOf());
  const current = viewOf(entryOf({ running }), { kind: 'follow' });
  assert.deepEqual([current?.phase, current?.run?.runId], ['Running', 'r1']);
  const behind = viewOf(entryOf({ running, order: orderOf({ gen: 11 }) }), { kind: 'follow' });
  assert.deepEqual([behind?.phase, behind?.next], ['Waiting', { kind: 'run', blockedBy: 'r1' }]);
});

test('only what a person can see makes a report new', () => {
  const report = statementOf(entryOf(), failed, voice);
  assert.equal(report.unclean, undefined);
  assert.equal(statementOf(entryOf({ unclean: true }), failed, voice).unclean, true);
  assert.equal(saysTheSame(undefined, report), false);
  assert.equal(saysTheSame(report, { ...report, seq: 10, at: 60, ledger: 4 }), true);
  assert.equal(saysTheSame(report, { ...report, gen: 11 }), false);
  assert.equal(saysTheSame(report, { ...report, reason: { ...report.reason, text: 'else' } }), false);
});
