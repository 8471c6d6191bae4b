import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeGatekeeper, type Gatekeeper } from '../../agent/gatekeeper.ts';
import { atEnd, type Owner } from '../harness/owned.ts';

const HOUR = 3_600_000;
const unexpected = (): Promise<void> => Promise.reject(new Error('late'));

const patient = { limitMs: HOUR, late: unexpected };

function gatekeeper(owner: Owner, isNew: boolean, limit = patient): Gatekeeper {
  const made = makeGatekeeper(isNew, limit);
  atEnd(owner, () => made.close());
  return made;
}

/** Whether a promise is resolved by now. */
const isOpen = async (promise: Promise<void>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);

test('a known ledger starts when its orders are read', async (context) => {
  const keeper = gatekeeper(context, false);
  assert.equal(await isOpen(keeper.open), false);
  keeper.drained();
  assert.equal(await isOpen(keeper.open), true);
});

test('a new ledger waits for the hub’s answer', async (context) => {
  const keeper = gatekeeper(context, true);
  keeper.drained();
  assert.equal(await isOpen(keeper.open), false);
  keeper.answered();
  assert.equal(await isOpen(keeper.open), true);
});

test('without hub and broker it starts when the time is over, after what must be done then', async (context) => {
  let done = false;
  const keeper = gatekeeper(context, true, { limitMs: 1, late: async () => void (done = true) });
  await keeper.open;
  assert.equal(done, true);
});

test('what could not be done then is tried again, and nothing starts before', async (context) => {
  let tries = 0;
  const late = async (): Promise<void> => {
    tries += 1;
    if (tries < 3) throw new Error('the disk is full');
  };
  const keeper = gatekeeper(context, true, { limitMs: 1, late });
  await keeper.open;
  assert.equal(tries, 3);
});
