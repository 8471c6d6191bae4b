import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PHASES, SETTLED } from '../../shared/outcome.ts';
import { hashesOf, type Held } from '../../shared/resync.ts';

const held = (name: string, more: Partial<Held> = {}): Held => ({
  stack: { namespace: 'apps', name },
  gen: 7,
  says: 'run v1:a',
  seq: 3,
  phase: 'Succeeded',
  ...more,
});

test('equal knowledge in any order gives equal hashes', () => {
  assert.deepEqual(hashesOf([held('a'), held('b')]), hashesOf([held('b'), held('a')]));
});

test('what is on its way does not count', () => {
  assert.deepEqual(hashesOf([held('a'), held('b', { phase: 'Running' })]), hashesOf([held('a')]));
});

test('a generation changes the first hash only, a report the second only', () => {
  const base = hashesOf([held('a')]);
  const order = hashesOf([held('a', { gen: 8 })]);
  const report = hashesOf([held('a', { seq: 4 })]);
  assert.notEqual(hashesOf([held('a', { says: 'run v1:b' })]).orders, base.orders);
  assert.notEqual(order.orders, base.orders);
  assert.equal(order.reports, base.reports);
  assert.equal(report.orders, base.orders);
  assert.notEqual(report.reports, base.reports);
});

const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const placements = fc.uniqueArray(
  fc.record<Held>({
    stack: fc.record({ namespace: label, name: label }),
    gen: fc.nat(),
    says: fc.constantFrom('', 'run v1:a', 'hold v1:a'),
    seq: fc.nat(),
    phase: fc.constantFrom(...PHASES),
  }),
  { selector: ({ stack }) => `${stack.namespace}/${stack.name}`, minLength: 1 },
);

test('one side that lacks any settled placement, or has an older one, is found out', () => {
  fc.assert(
    fc.property(placements, fc.nat(), (all, pick) => {
      const settled = all.filter(({ phase }) => SETTLED.has(phase));
      const lost = settled[pick % Math.max(1, settled.length)];
      if (lost === undefined) return;
      const rest = all.filter((one) => one !== lost);
      const whole = hashesOf(all);
      assert.notEqual(hashesOf(rest).orders, whole.orders);
      assert.notEqual(hashesOf(rest).reports, whole.reports);
      assert.notEqual(hashesOf([...rest, { ...lost, gen: lost.gen + 1 }]).orders, whole.orders);
      assert.notEqual(hashesOf([...rest, { ...lost, seq: lost.seq + 1 }]).reports, whole.reports);
    }),
  );
});
