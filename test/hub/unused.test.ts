import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lookAtArtifacts, usedArtifacts, type UnusedSince } from '../../hub/unused.ts';
import { limits } from '../../shared/limits.ts';
import { makeOrder, makeReport, makeWanted, NOW } from './make.ts';

const DAY = limits.artifactKeepMs;
const none: UnusedSince = new Map();

test('orders in force and last successes are in use', () => {
  const order = makeOrder(makeWanted({}));
  const applied = { ...order.artifact, name: 'f'.repeat(64) };
  const report = makeReport(order, {
    lastSuccess: {
      ...{
        incarnation: 'i',
        inputDigest: order.inputDigest,
        commit: 'c',
        pulumiStack: 's',
        claim: 'c s',
        at: NOW,
      },
      artifact: applied,
    },
  });
  assert.deepEqual([...usedArtifacts([order], [report])].sort(), [order.artifact.name, applied.name].sort());
});

test('an artifact goes after a day without use, not before', () => {
  const first = lookAtArtifacts(['a', 'b'], new Set(['a']), { before: none, now: NOW });
  assert.deepEqual(first.expired, []);
  const early = lookAtArtifacts(['a', 'b'], new Set(['a']), { before: first.since, now: NOW + DAY - 1 });
  assert.deepEqual(early.expired, []);
  const late = lookAtArtifacts(['a', 'b'], new Set(['a']), { before: early.since, now: NOW + DAY });
  assert.deepEqual(late.expired, ['b']);
});

test('whatever was used at one look begins its day anew', () => {
  const looks = fc.array(fc.record({ used: fc.boolean(), hours: fc.integer({ min: 1, max: 30 }) }), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(looks, (history) => {
      let since = none;
      let now = NOW;
      let unusedFrom: number | undefined;
      for (const { used, hours } of history) {
        now += hours * 3_600_000;
        unusedFrom = used ? undefined : (unusedFrom ?? now);
        const look = lookAtArtifacts(['a'], new Set(used ? ['a'] : []), { before: since, now });
        assert.equal(look.expired.length > 0, unusedFrom !== undefined && now - unusedFrom >= DAY);
        if (look.expired.length > 0) return;
        since = look.since;
      }
    }),
  );
});
