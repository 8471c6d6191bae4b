import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { charge, freshBudget, quieted, take, type Budget } from '../../../hub/git/budget.ts';

const BOUNDS = { connections: 4, requestsPerMinute: 60 };
/** Ten seconds' worth. */
const CAPACITY = 10;

test('a host that was quiet takes ten seconds’ worth at once, then an even pace', () => {
  let budget = freshBudget(BOUNDS, 0);
  for (let n = 0; n < CAPACITY; n++) {
    const taken = take(budget, BOUNDS, 0);
    assert.ok(taken.kind === 'taken');
    budget = taken.budget;
  }
  assert.deepEqual(take(budget, BOUNDS, 0), { kind: 'wait', until: 1_000 });
  assert.equal(take(budget, BOUNDS, 1_000).kind, 'taken');
});

test('what a fetch took beyond its poll is made up for', () => {
  const drained = charge(freshBudget(BOUNDS, 0), CAPACITY + 2);
  assert.deepEqual(take(drained, BOUNDS, 0), { kind: 'wait', until: 3_000 });
});

test('the longest wish for quiet counts, and nothing is asked before its end', () => {
  const budget = quieted(quieted(freshBudget(BOUNDS, 0), 60_000), 30_000);
  assert.deepEqual(take(budget, BOUNDS, 59_999), { kind: 'wait', until: 60_000 });
  assert.equal(take(budget, BOUNDS, 60_000).kind, 'taken');
});

test('a clock that goes back gives nothing away', () => {
  const drained = charge(freshBudget(BOUNDS, 100_000), CAPACITY);
  const back = take(drained, BOUNDS, 50_000);
  assert.equal(back.kind, 'wait');
});

const step = fc.oneof(
  fc.record({ pass: fc.nat({ max: 20_000 }) }),
  fc.record({ charge: fc.nat({ max: 3 }) }),
  fc.record({ quiet: fc.nat({ max: 30_000 }) }),
);

test('never more than the pace and what was saved up, and whoever waits until told to gets one', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 1_000 }), (steps, rate) => {
      const bounds = { connections: 1, requestsPerMinute: rate };
      let now = 0;
      let used = 0;
      let budget: Budget = freshBudget(bounds, now);
      for (const one of steps) {
        if ('pass' in one) now += one.pass;
        else if ('charge' in one) {
          budget = charge(budget, one.charge);
          used += one.charge;
        } else budget = quieted(budget, now + one.quiet);
        const taken = take(budget, bounds, now);
        if (taken.kind === 'taken') {
          used += 1;
          budget = taken.budget;
          assert.ok(now >= budget.quietUntil);
          const saved = Math.max(1, rate / 6) + (now * rate) / 60_000;
          // What was charged may run into debt; what was taken may not.
          assert.ok(used <= saved + 0.001, `${used} of ${saved}`);
        } else {
          assert.ok(taken.until > now);
          assert.equal(take(budget, bounds, taken.until).kind, 'taken');
        }
      }
    }),
    { numRuns: 3_000 },
  );
});
