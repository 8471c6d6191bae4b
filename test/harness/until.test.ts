import assert from 'node:assert/strict';
import test from 'node:test';
import { GiveUp, until } from './until.ts';

test('until returns the first accepted value', async () => {
  let looks = 0;
  assert.equal(await until('three looks', () => ++looks, { accept: (n) => n === 3, everyMs: 1 }), 3);
  const values = [undefined, null, false, 0];
  assert.equal(await until('something', () => values.shift(), { everyMs: 1 }), 0);
});

test('until takes a failing look for "not yet"', async () => {
  let looks = 0;
  const value = await until(
    'a look that works',
    () => {
      if (++looks < 3) throw new Error('not yet');
      return 'there';
    },
    { everyMs: 1 },
  );
  assert.equal(value, 'there');
});

test('until says at the deadline what it waited for and what it saw last', async () => {
  await assert.rejects(
    until('the board', () => ({ runs: 2 }), { accept: ({ runs }) => runs === 3, deadlineMs: 5, everyMs: 1 }),
    { message: 'waited 5 ms for the board; last seen: { runs: 2 }' },
  );
  const failing = (): never => {
    throw new Error('no such run');
  };
  await assert.rejects(until('a run', failing, { deadlineMs: 5, everyMs: 1 }), (error: Error) => {
    assert.equal(error.message, 'waited 5 ms for a run; the last look failed: no such run');
    assert.equal((error.cause as Error).message, 'no such run');
    return true;
  });
});

test('until ends at once when a look gives up', async () => {
  const hopeless = (): never => {
    throw new GiveUp('the server ended');
  };
  await assert.rejects(until('a server', hopeless), { message: 'the server ended' });
});
