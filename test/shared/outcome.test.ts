import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FAILURE_CLASSES,
  mayFollow,
  PHASES,
  REASON_CODES,
  SETTLED,
  TRANSITIONS,
  type Phase,
} from '../../shared/outcome.ts';

const HOLDS: readonly Phase[] = ['Suspended', 'Orphaned', 'Invalid'];

function reachableFrom(start: Phase): ReadonlySet<Phase> {
  const seen = new Set<Phase>([start]);
  for (const phase of seen) for (const next of TRANSITIONS[phase]) seen.add(next);
  return seen;
}

for (const phase of PHASES) {
  test(`${phase} is no dead end: a good end can follow`, () => {
    assert.ok(reachableFrom(phase).has('Succeeded'));
  });

  test(`${phase} may stay as it is, and knows each next phase once`, () => {
    assert.ok(mayFollow(phase, phase));
    assert.equal(new Set(TRANSITIONS[phase]).size, TRANSITIONS[phase].length);
  });
}

for (const phase of SETTLED) {
  test(`${phase} is left by a new order, and can be held`, () => {
    assert.ok(mayFollow(phase, 'Pending'));
    for (const hold of HOLDS) assert.ok(mayFollow(phase, hold), hold);
  });
}

test('every phase is reached from Pending, but Unknown, which no agent reports', () => {
  const reached = reachableFrom('Pending');
  assert.deepEqual(
    PHASES.filter((phase) => !reached.has(phase)),
    ['Unknown'],
  );
});

test('a hub that knows nothing believes the first report, whatever it says', () => {
  for (const phase of PHASES) assert.ok(mayFollow('Unknown', phase), phase);
});

test('work in progress is not settled, and what is settled is not work', () => {
  const moving: readonly Phase[] = [
    'Pending',
    'Waiting',
    'Preparing',
    'Running',
    'Retrying',
    'Destroying',
    'Unknown',
  ];
  assert.deepEqual(PHASES.filter((phase) => !SETTLED.has(phase)).toSorted(), moving.toSorted());
});

const never: readonly [Phase, Phase, string][] = [
  ['Succeeded', 'Failed', 'without a run in between'],
  ['Succeeded', 'Destroyed', 'without being destroyed in between'],
  ['Failed', 'Destroyed', 'on a failure'],
  ['Running', 'Destroyed', 'by an update'],
  ['Destroyed', 'Succeeded', 'without a run'],
];

for (const [from, to, why] of never) {
  test(`${from} never becomes ${to} ${why}`, () => assert.ok(!mayFollow(from, to)));
}

test('codes and classes are each named once', () => {
  for (const list of [REASON_CODES, FAILURE_CLASSES, PHASES])
    assert.equal(new Set<string>(list).size, list.length);
});
