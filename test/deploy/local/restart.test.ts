import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterEnd, endingText, type Ending } from '../../../deploy/local/restart.ts';

const exit: Ending = { kind: 'exit', code: 1 };
const killed: Ending = { kind: 'signal', signal: 'SIGKILL' };

const cases = [
  { what: 'the first exit', ending: exit, aliveMs: 0, inARow: 0, delayMs: 250 },
  { what: 'the fifth exit in a row', ending: exit, aliveMs: 0, inARow: 4, delayMs: 4_000 },
  { what: 'the sixth exit in a row', ending: exit, aliveMs: 0, inARow: 5, delayMs: undefined },
  { what: 'an exit after a healthy life', ending: exit, aliveMs: 30_000, inARow: 5, delayMs: 250 },
  {
    what: 'a program that is not there',
    ending: { kind: 'notStarted', error: 'ENOENT' },
    aliveMs: 0,
    inARow: 5,
  },
  { what: 'killed again and again', ending: killed, aliveMs: 0, inARow: 50, delayMs: 10_000 },
] satisfies { what: string; ending: Ending; aliveMs: number; inARow: number; delayMs?: number | undefined }[];

for (const { what, ending, aliveMs, inARow, delayMs } of cases)
  test(`${what}: ${delayMs === undefined ? 'given up' : `again after ${delayMs} ms`}`, () => {
    const next = afterEnd(ending, { aliveMs, inARow });
    assert.equal(next.kind === 'restart' ? next.delayMs : undefined, delayMs);
  });

test('an ending is told in words', () => {
  assert.equal(endingText(exit), 'ended with exit code 1');
  assert.equal(endingText(killed), 'was ended by SIGKILL');
  assert.equal(endingText({ kind: 'notStarted', error: 'ENOENT' }), 'could not be started: ENOENT');
});
