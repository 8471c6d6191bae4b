import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accept, decide, type Decision } from '../../agent/decide.ts';
import type { PlacementEntry } from '../../agent/ledger/ledger.ts';
import { limits } from '../../shared/limits.ts';
import type { ClusterPolicy } from '../../shared/wire.ts';
import { attemptOf, digest, endingOf, entryOf, INCARNATION, orderOf, stack, successOf } from './samples.ts';

const NOW = 1_000_000;
const policy: ClusterPolicy = { maxConcurrentRuns: 4 };
const decided = (
  entry: PlacementEntry,
  more: { policy?: ClusterPolicy; incarnation?: string; now?: number } = {},
) => decide(entry, { now: NOW, incarnation: INCARNATION, policy, ...more });

/** A decision in one line: what, and why. */
function line(decision: Decision): string {
  switch (decision.kind) {
    case 'run': {
      const marks = [decision.first ? 'first' : '', decision.refresh ? 'refresh' : ''].filter(Boolean);
      return ['run', `${decision.number}`, decision.reason.code, ...marks].join(' ');
    }
    case 'wait':
    case 'skip':
      return `${decision.kind} ${decision.phase} ${decision.reason.code}`;
    case 'forget':
      return `forget ${decision.reason.code}`;
    case 'none':
    case 'follow':
      return decision.kind;
  }
}

const reason = (
  code: 'Orphaned' | 'Suspended' | 'OnlyPolicyChanged' | 'InputChanged' | 'ClusterRebuilt',
) => ({
  code,
  text: code,
});
const lost = { failure: 'Lost', result: 'failed', reason: { code: 'RunFailed', text: 'killed' } } as const;
const locked = {
  failure: 'Locked',
  result: 'failed',
  reason: { code: 'Locked', text: 'the stack is locked by somebody' },
} as const;
const clear = { ...orderOf().policy, pendingCreates: 'clear' } as const;
const applied = successOf();

const TABLE: readonly (readonly [string, PlacementEntry, string])[] = [
  ['nothing was ever applied', entryOf(), 'run 1 NewPlacement first'],
  [
    'the hub says why',
    entryOf({ order: orderOf({ reasons: [reason('InputChanged')] }) }),
    'run 1 InputChanged first',
  ],
  ['the same inputs are applied', entryOf({ lastSuccess: applied }), 'skip Succeeded AlreadyApplied'],
  [
    'other inputs are applied',
    entryOf({ lastSuccess: successOf({ inputDigest: digest('b') }) }),
    'run 1 InputChanged',
  ],
  [
    'it moved to another Pulumi stack',
    entryOf({ lastSuccess: successOf({ inputDigest: digest('b'), claim: 'file:///state elsewhere' }) }),
    'run 1 InputChanged first',
  ],
  [
    'an older version of the digest means the same',
    entryOf({ lastSuccess: successOf({ inputDigest: 'v0:x' }), order: orderOf({ equals: ['v0:x'] }) }),
    'skip Succeeded AlreadyApplied',
  ],
  [
    'only the policy changed',
    entryOf({ lastSuccess: applied, order: orderOf({ reasons: [reason('OnlyPolicyChanged')] }) }),
    'skip Succeeded OnlyPolicyChanged',
  ],
  [
    'a failed update may have changed something, so the revert runs',
    entryOf({ lastSuccess: applied, unclean: true, last: endingOf({ gen: 9, inputDigest: digest('b') }) }),
    'run 1 LastAttemptFailed',
  ],
  [
    'an attempt that never began changed nothing, so the revert runs nothing',
    entryOf({ lastSuccess: applied, last: endingOf({ gen: 9, failure: 'Config' }) }),
    'skip Succeeded AlreadyApplied',
  ],
  [
    'a run is asked for',
    entryOf({ lastSuccess: applied, order: orderOf({ runRequest: 'now' }) }),
    'run 1 RunRequested',
  ],
  [
    'a run request was consumed',
    entryOf({ lastSuccess: applied, consumedRunRequest: 'now', order: orderOf({ runRequest: 'now' }) }),
    'skip Succeeded AlreadyApplied',
  ],
  [
    'the cluster was rebuilt',
    entryOf({ lastSuccess: successOf({ incarnation: 'older' }) }),
    'run 1 ClusterRebuilt refresh',
  ],
  [
    'the cluster was rebuilt, and its backend with it',
    entryOf({
      lastSuccess: successOf({ incarnation: 'older' }),
      order: orderOf({ inputs: { ...orderOf().inputs, backend: { scope: 'cluster' } } }),
    }),
    'run 1 ClusterRebuilt first refresh',
  ],
  [
    'the cluster was rebuilt after this generation had succeeded',
    entryOf({ lastSuccess: successOf({ incarnation: 'older' }), last: endingOf({ result: 'succeeded' }) }),
    'run 1 ClusterRebuilt refresh',
  ],
  [
    'the hub says that the cluster was rebuilt',
    entryOf({ order: orderOf({ reasons: [reason('ClusterRebuilt')] }) }),
    'run 1 ClusterRebuilt first refresh',
  ],
  [
    'this generation succeeded',
    entryOf({
      lastSuccess: applied,
      last: endingOf({ result: 'succeeded', reason: { code: 'RunSucceeded', text: '' } }),
    }),
    'skip Succeeded RunSucceeded',
  ],
  ['this generation failed', entryOf({ unclean: true, last: endingOf() }), 'skip Failed RunFailed'],
  [
    'this generation needs a person',
    entryOf({ last: endingOf({ result: 'held', reason: { code: 'WouldDelete', text: '' } }) }),
    'skip Stalled WouldDelete',
  ],
  ['cut off once', entryOf({ unclean: true, last: endingOf(lost) }), 'run 2 Interrupted first'],
  [
    'cut off twice',
    entryOf({ unclean: true, last: endingOf({ ...lost, number: 2 }) }),
    'skip Failed AlreadyAttempted',
  ],
  [
    'stopped with the agent, any number of times',
    entryOf({ unclean: true, last: endingOf({ ...lost, failure: 'Cancelled', number: 3 }) }),
    'run 4 Interrupted first',
  ],
  [
    'locked out a moment ago',
    entryOf({ unclean: true, last: endingOf({ ...locked, finishedAt: NOW - limits.lockRetryMs + 1 }) }),
    'wait Waiting Locked',
  ],
  [
    'locked out a while ago, as often as it takes',
    entryOf({
      unclean: true,
      last: endingOf({ ...locked, number: 7, finishedAt: NOW - limits.lockRetryMs }),
    }),
    'run 8 Locked first',
  ],
  [
    'cut off while creating',
    entryOf({ unclean: true, last: endingOf({ ...lost, pendingCreates: ['urn:a'] }) }),
    'skip Stalled PendingCreates',
  ],
  [
    'stopped after its time limit, while creating',
    entryOf({ unclean: true, last: endingOf({ failure: 'Timeout', pendingCreates: ['urn:a'] }) }),
    'skip Stalled PendingCreates',
  ],
  [
    'cut off while creating, and pending creates are to be cleared',
    entryOf({
      unclean: true,
      order: orderOf({ policy: clear }),
      last: endingOf({ ...lost, pendingCreates: ['urn:a'] }),
    }),
    'run 2 Interrupted first',
  ],
  [
    'cut off while creating, and a newer order came',
    entryOf({
      unclean: true,
      order: orderOf({ gen: 11 }),
      last: endingOf({ ...lost, pendingCreates: ['urn:a'] }),
    }),
    'run 1 LastAttemptFailed first',
  ],
  ['an attempt is recorded', entryOf({ running: attemptOf(orderOf()) }), 'follow'],
  [
    'an attempt is recorded, whatever is wanted by now',
    entryOf({ running: attemptOf(orderOf()), order: orderOf({ gen: 11, action: 'forget' }) }),
    'follow',
  ],
  [
    'suspended',
    entryOf({ order: orderOf({ action: 'hold', reasons: [reason('Suspended')] }) }),
    'wait Suspended Suspended',
  ],
  [
    'orphaned',
    entryOf({ order: orderOf({ action: 'hold', reasons: [reason('InputChanged'), reason('Orphaned')] }) }),
    'wait Orphaned Orphaned',
  ],
  ['held without a reason', entryOf({ order: orderOf({ action: 'hold' }) }), 'wait Suspended Suspended'],
  ['forgotten', entryOf({ order: orderOf({ action: 'forget' }) }), 'forget Removed'],
  ...(['preview', 'refresh', 'destroy'] as const).map(
    (action) =>
      [
        `${action} is not built`,
        entryOf({ order: orderOf({ action }) }),
        'wait Invalid NotYetSupported',
      ] as const,
  ),
  ['no order and nothing to say', { stack, gen: 10, records: [] }, 'none'],
  [
    'the first order could not be read',
    { stack, gen: 10, records: [], refused: { code: 'Invalid', text: 'no' } },
    'wait Invalid Invalid',
  ],
  [
    'the newest order could not be read, and the one in force is done',
    entryOf({ lastSuccess: applied, refused: { code: 'Invalid', text: 'no' } }),
    'wait Invalid Invalid',
  ],
  [
    'the newest order could not be read, and the one in force is not done',
    entryOf({ refused: { code: 'Invalid', text: 'no' } }),
    'run 1 NewPlacement first',
  ],
];

for (const [name, entry, expected] of TABLE)
  test(`decide: ${name}`, () => assert.equal(line(decided(entry)), expected));

test('a suspended cluster starts nothing, and shows what is up to date as it is', () => {
  const suspended = { policy: { maxConcurrentRuns: 4, suspend: { reason: 'freeze', until: NOW + 1_000 } } };
  assert.deepEqual(decided(entryOf(), suspended), {
    kind: 'wait',
    phase: 'Suspended',
    reason: { code: 'Suspended', text: 'the cluster is suspended: freeze' },
    until: NOW + 1_000,
  });
  assert.equal(line(decided(entryOf({ lastSuccess: applied }), suspended)), 'skip Succeeded AlreadyApplied');
  assert.equal(line(decided(entryOf(), { ...suspended, now: NOW + 1_000 })), 'run 1 NewPlacement first');
});

test('the reason of a run names the commits that were skipped before it', () => {
  const decision = decided(entryOf({ superseded: [{ gen: 8, commit: 'deadbeefdeadbeef' }] }));
  assert.equal(
    decision.kind === 'run' && decision.reason.text,
    'nothing was applied yet; skipped, since replaced before they started: deadbeefdead',
  );
});

test('accept: greater is newer, equal is known, smaller is stale', () => {
  assert.deepEqual(accept(undefined, 1), { kind: 'accept' });
  assert.deepEqual(accept({ gen: 5 }, 6), { kind: 'accept' });
  assert.deepEqual(accept({ gen: 5 }, 5), { kind: 'duplicate' });
  assert.deepEqual(accept({ gen: 5 }, 4), { kind: 'stale', have: 5, got: 4 });
});

test('accept: in any order, with any repetition and loss, the highest generation that came is in force', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (gens) => {
      let gen = 0;
      for (const next of gens) if (accept({ gen }, next).kind === 'accept') gen = next;
      assert.equal(gen, Math.max(...gens));
    }),
  );
});
