import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextPoll } from '../../../hub/git/schedule.ts';
import { limits } from '../../../shared/limits.ts';

const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const interval = fc.integer({ min: 1_000, max: 3_600_000 });

test('after a success the next slot comes within one interval, always in the same phase', () => {
  fc.assert(
    fc.property(time, fc.string(), interval, (now, name, intervalMs) => {
      const outcome = { name, intervalMs, failures: 0, random: 0 };
      const next = nextPoll(now, outcome);
      assert.ok(next > now && next <= now + intervalMs);
      assert.equal(nextPoll(next, outcome), next + intervalMs);
    }),
  );
});

test('after failures the pause grows, stays below its bound and never undercuts what the remote asked for', () => {
  const failing = fc.record({
    failures: fc.integer({ min: 1, max: 100 }),
    random: fc.double({ min: 0, max: 0.999, noNaN: true }),
  });
  fc.assert(
    fc.property(time, failing, fc.integer({ min: 0, max: 10_000_000 }), (now, failed, retryAfterMs) => {
      const outcome = { name: 'r', intervalMs: 15_000, ...failed };
      const pause = nextPoll(now, outcome) - now;
      const full = Math.min(limits.pollBackoffMaxMs, 15_000 * 2 ** (failed.failures - 1));
      assert.ok(pause >= full / 2 && pause <= full);
      const asked = nextPoll(now, { ...outcome, retryAfterMs }) - now;
      assert.ok(asked >= Math.min(retryAfterMs, limits.retryAfterMaxMs) && asked >= pause);
      assert.ok(asked <= Math.max(limits.retryAfterMaxMs, pause));
    }),
  );
});

test('a thousand repositories are spread over the interval', () => {
  const slots = new Map<number, number>();
  for (let n = 0; n < 1_000; n++) {
    const next = nextPoll(0, { name: `repository-${n}`, intervalMs: 10_000, failures: 0, random: 0 });
    const slot = Math.floor(next / 1_000);
    slots.set(slot, (slots.get(slot) ?? 0) + 1);
  }
  assert.ok([...slots.values()].every((count) => count < 200));
});
