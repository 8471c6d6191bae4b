import assert from 'node:assert/strict';
import { test } from 'node:test';
import { releasesContested } from '../../hub/claims.ts';
import { plan } from '../../hub/plan.ts';
import { inForce, makeOrder, makePlanInput, makeRemoval, makeWanted, type PlanStory } from './make.ts';

const owner = makeWanted({ name: 'web' });
const { claim } = owner.placement;
const newcomer = makeWanted({ name: 'new' }, { claim });
const moved = makeWanted({ name: 'web', content: 'two' }, { claim: 'file:///state other', leaves: claim });

/** Whether the plan has to be made again after its steps are published. */
const TABLE: readonly (readonly [string, PlanStory, boolean])[] = [
  ['the owner stays', { wanted: [owner, newcomer], inForce: inForce(makeOrder(owner)) }, false],
  ['the owner moves away', { wanted: [moved, newcomer], inForce: inForce(makeOrder(owner)) }, true],
  ['the owner moves away, and nobody waits', { wanted: [moved], inForce: inForce(makeOrder(owner)) }, false],
  [
    'a removal lets go of the owner',
    { wanted: [newcomer], inForce: inForce(makeOrder(owner)), removals: [makeRemoval('shop/web')] },
    true,
  ],
];

for (const [what, story, again] of TABLE)
  test(`a claim when ${what}: ${again ? 'planned again' : 'at rest'}`, () => {
    const input = makePlanInput(story);
    assert.equal(releasesContested({ ...plan(input), inForce: input.inForce }), again);
  });
