import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { admit, AGED_MS, slotsOf, URGENCIES, type Active, type Candidate } from '../../agent/admit.ts';

const candidate = (key: string, more: Partial<Candidate> = {}): Candidate => ({
  key,
  weight: 1,
  priority: 0,
  urgency: 'commit',
  since: 0,
  group: undefined,
  ...more,
});
const active = (key: string, more: Partial<Active> = {}): Active => ({
  key,
  weight: 1,
  group: undefined,
  ...more,
});
const started = (queue: Candidate[], running: Active[], at: { slots: number; now?: number }) =>
  admit(queue, running, { limits: { slots: at.slots }, now: at.now ?? 1_000 }).start;

const ORDERS: readonly (readonly [string, Candidate[], string[]])[] = [
  ['the older first', [candidate('b', { since: 2 }), candidate('a', { since: 1 })], ['a', 'b']],
  ['the more important first', [candidate('a'), candidate('b', { priority: 5 })], ['b', 'a']],
  [
    'a commit before a retry, that before a dependent, that before drift',
    [...URGENCIES]
      .reverse()
      .map((urgency) => candidate(urgency, { urgency, priority: urgency === 'drift' ? 9 : 0 })),
    [...URGENCIES],
  ],
  [
    'whoever waited too long before all others, oldest first',
    [
      candidate('new', { since: AGED_MS, priority: 9 }),
      candidate('old', { since: 1_000, urgency: 'drift' }),
      candidate('older', { since: 0, urgency: 'drift', priority: -9 }),
    ],
    ['older', 'old', 'new'],
  ],
];
for (const [name, queue, expected] of ORDERS)
  test(`admit: ${name}`, () =>
    assert.deepEqual(
      started(queue, [], { slots: 9, now: name.includes('too long') ? AGED_MS + 1_000 : 1_000 }),
      expected,
    ));

test('admit: weights fill the slots, and what is lighter goes past what does not fit', () => {
  const queue = [candidate('heavy', { weight: 3 }), candidate('light', { since: 1 })];
  assert.deepEqual(started(queue, [active('x')], { slots: 3 }), ['light']);
  assert.deepEqual(started(queue, [], { slots: 3 }), ['heavy']);
});

test('admit: nothing goes past what has waited too long', () => {
  const queue = [candidate('heavy', { weight: 3 }), candidate('light', { since: AGED_MS })];
  assert.deepEqual(started(queue, [active('x')], { slots: 3, now: AGED_MS }), []);
  assert.deepEqual(started(queue, [], { slots: 3, now: AGED_MS }), ['heavy']);
});

test('admit: heavier than all slots runs alone', () => {
  assert.deepEqual(started([candidate('huge', { weight: 100 })], [], { slots: 2 }), ['huge']);
  assert.deepEqual(started([candidate('huge', { weight: 100 })], [active('x')], { slots: 2 }), []);
});

test('admit: one of a group at a time, the others say whom they wait for', () => {
  const queue = [
    candidate('a', { group: 'aws' }),
    candidate('b', { group: 'aws', since: 1 }),
    candidate('c', { since: 2 }),
  ];
  const admission = admit(queue, [], { limits: { slots: 9 }, now: 3 });
  assert.deepEqual(admission.start, ['a', 'c']);
  assert.deepEqual(admission.waiting, [
    {
      key: 'b',
      position: 1,
      reason: { code: 'NoSlot', text: 'waits for a, which runs in the same concurrency group “aws”' },
      blockedBy: 'a',
    },
  ]);
});

test('admit: whoever waits has a place and a reason', () => {
  const queue = [candidate('a'), candidate('b', { since: 1 })];
  const { waiting } = admit(queue, [active('x'), active('y')], { limits: { slots: 2 }, now: 2 });
  assert.deepEqual(
    waiting.map(({ key, position, reason }) => [key, position, reason.code, reason.text]),
    [
      ['a', 1, 'NoSlot', 'waits for 1 of 2 slots'],
      ['b', 2, 'NoSlot', 'waits for 1 of 2 slots'],
    ],
  );
});

const candidates = fc.uniqueArray(
  fc.record({
    key: fc.stringMatching(/^[a-z]{1,3}$/),
    weight: fc.integer({ min: 1, max: 6 }),
    priority: fc.integer({ min: -5, max: 5 }),
    urgency: fc.constantFrom(...URGENCIES),
    since: fc.integer({ min: 0, max: 2 * AGED_MS }),
    group: fc.constantFrom(undefined, 'g1', 'g2'),
  }),
  { selector: ({ key }) => key, maxLength: 20 },
);

test('admit: slots are never exceeded, groups never shared, nobody is left without a word', () => {
  fc.assert(
    fc.property(candidates, fc.integer({ min: 1, max: 8 }), fc.nat(20), (all, slots, split) => {
      const running: Active[] = [];
      for (const { key, weight, group } of admit(all.slice(0, split), [], {
        limits: { slots },
        now: AGED_MS,
      }).start.map((key) => all.find((one) => one.key === key)!))
        running.push({ key, weight, group });
      const queue = all.slice(split);
      const { start, waiting } = admit(queue, running, { limits: { slots }, now: 2 * AGED_MS });
      const now = [...running, ...queue.filter(({ key }) => start.includes(key))];
      assert.ok(now.reduce((sum, { weight }) => sum + slotsOf(weight, slots), 0) <= slots);
      const groups = now.flatMap(({ group }) => group ?? []);
      assert.equal(new Set(groups).size, groups.length);
      assert.deepEqual(
        [...start, ...waiting.map(({ key }) => key)].sort(),
        queue.map(({ key }) => key).sort(),
      );
    }),
  );
});

test('admit: nothing starves while more important and lighter work keeps coming', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(
        fc.record({ weight: fc.integer({ min: 1, max: 3 }), length: fc.integer({ min: 1, max: 5 }) }),
        {
          minLength: 1,
          maxLength: 10,
        },
      ),
      (slots, weight, stream) => {
        const victim = candidate('victim', { weight, urgency: 'drift', priority: -100 });
        const minute = 60_000;
        let running: (Active & { until: number })[] = [];
        for (let n = 0; n < 60; n += 1) {
          const now = n * minute;
          running = running.filter(({ until }) => until > now);
          const kind = stream[n % stream.length]!;
          const fresh = [1, 2, 3].map((k) =>
            candidate(`n${n}.${k}`, { weight: kind.weight, priority: 9, since: now }),
          );
          const { start } = admit([...fresh, victim], running, { limits: { slots }, now });
          if (start.includes('victim')) return;
          for (const key of start)
            running.push({ ...active(key, { weight: kind.weight }), until: now + kind.length * minute });
        }
        assert.fail('it never started');
      },
    ),
  );
});
