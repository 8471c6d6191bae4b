import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plan, printPlan } from '../../hub/plan.ts';
import { golden } from '../harness/golden.ts';
import {
  inForce,
  makeOrder,
  makePlacement,
  makePlanInput,
  makeRemoval,
  makeWanted,
  NOW,
  type PlanStory,
} from './make.ts';

const web = makeWanted({ name: 'web' });
const origin = web.placement.origin;
const moved = makePlacement({ name: 'web' });
const elsewhere = {
  inputs: { ...moved.inputs, pulumiStack: 'organization/web/new' },
  claim: 'file:///state organization/web/new',
};
const suspended = { suspended: { code: 'Suspended', text: 'Stack shop/web: freeze' } } as const;
const invalid = { code: 'Invalid', text: 'fleet:stacks/web/stack.yaml:7: unknown field “replicsa”' } as const;

/** Each story: what is wanted, what is in force; the golden text says what comes of it. */
const stories: Readonly<Record<string, PlanStory>> = {
  'a new placement': { wanted: [web] },
  'nothing changed': { wanted: [web], inForce: inForce(makeOrder(web)) },
  'a file changed': {
    wanted: [makeWanted({ name: 'web', content: 'two' })],
    inForce: inForce(makeOrder(web)),
    knownFiles: () =>
      new Map([
        ['stacks/web/Pulumi.yaml', '100644 old'],
        ['stacks/web/gone.ts', '100644 old'],
      ]),
  },
  'a config value changed': {
    wanted: [
      makeWanted(
        { name: 'web', content: 'two' },
        { inputs: { ...moved.inputs, config: { 'web:replicas': '6' } } },
      ),
    ],
    inForce: inForce(makeOrder(web)),
    knownFiles: () =>
      new Map(web.files.map((file) => [file.path, `100644 ${makeWanted({ content: 'two' }).files[0]?.id}`])),
  },
  'files changed, their old list is not kept': {
    wanted: [makeWanted({ name: 'web', content: 'two' })],
    inForce: inForce(makeOrder(web)),
  },
  'only policy changed': { wanted: [{ ...web, policyDigest: 'other' }], inForce: inForce(makeOrder(web)) },
  'a run is requested': {
    wanted: [makeWanted({}, { runRequest: 'INC-42' })],
    inForce: inForce(makeOrder(web)),
  },
  suspended: { wanted: [makeWanted({}, suspended)], inForce: inForce(makeOrder(web)) },
  'suspended while everything is frozen': {
    wanted: [makeWanted({}, suspended), makeWanted({ name: 'new' }, suspended)],
    inForce: inForce(makeOrder(web)),
    frozen: { code: 'Invalid', text: 'fleet:fleet.yaml:2: the Fleet document cannot be read' },
  },
  'suspended, and it would leave its Pulumi stack': {
    wanted: [makeWanted({}, { ...elsewhere, ...suspended })],
    inForce: inForce(makeOrder(web)),
  },
  'its manifest moved to another file': {
    wanted: [makeWanted({}, { origin: { ...origin, path: 'stacks/all.yaml' } })],
    inForce: inForce(makeOrder(web)),
  },
  'its manifest moved down in its file': {
    wanted: [makeWanted({}, { origin: { ...origin, line: 9 } })],
    inForce: inForce(makeOrder(web)),
  },
  'its repository bears another name now, and was not read since start': {
    inForce: inForce(makeOrder(web)),
    repositories: new Set(['shop']),
    unread: new Map([['shop', 'Hydrating']]),
  },
  'its repository is not configured any more': {
    inForce: inForce(makeOrder(web)),
    repositories: new Set(['shop']),
  },
  'suspended before its first order': { wanted: [makeWanted({}, suspended)] },
  'suspended, and its files changed': {
    wanted: [makeWanted({ content: 'two' }, suspended)],
    inForce: inForce(makeOrder(web, { action: 'hold', reasons: [suspended.suspended] })),
  },
  'no longer suspended': {
    wanted: [web],
    inForce: inForce(makeOrder(web, { action: 'hold', reasons: [suspended.suspended] })),
  },
  'its manifest is gone': { inForce: inForce(makeOrder(web)) },
  'its manifest is gone for long': {
    inForce: inForce(makeOrder(web, { action: 'hold', reasons: [{ code: 'Orphaned', text: 'gone' }] })),
  },
  'its manifest came back': {
    wanted: [web],
    inForce: inForce(makeOrder(web, { action: 'hold', reasons: [{ code: 'Orphaned', text: 'gone' }] })),
  },
  'gone, and a removal lets go of it': {
    inForce: inForce(makeOrder(web)),
    removals: [makeRemoval('shop/web')],
  },
  'gone, and the removal has expired': {
    inForce: inForce(makeOrder(web)),
    removals: [makeRemoval('shop/web', { expires: new Date(NOW - 1).toISOString() })],
  },
  'gone, and the removal is for another cluster': {
    inForce: inForce(makeOrder(web)),
    removals: [makeRemoval('shop/web', { clusters: ['quay'] })],
  },
  'gone, and a removal of another repository that is not the fleet’s': {
    inForce: inForce(makeOrder(web)),
    removals: [makeRemoval('shop/web')].map((removal) => ({
      ...removal,
      origin: { ...removal.origin, repository: 'other' },
    })),
  },
  'refused, and the agent lacks the order in force': {
    wanted: [makeWanted({ content: 'two' }, elsewhere)],
    inForce: inForce(makeOrder(web)),
    republish: new Map([['harbour/shop/web', 'the agent has generation 0 only']]),
  },
  'let go of already': {
    inForce: inForce(makeOrder(web, { action: 'forget', reasons: [{ code: 'Removed', text: 'let go' }] })),
  },
  'let go of, and wanted again': { wanted: [web], inForce: inForce(makeOrder(web, { action: 'forget' })) },
  'its document is refused': {
    inForce: inForce(makeOrder(web)),
    refused: [{ stack: web.placement.stack, origin, reason: invalid }],
  },
  'a new document is refused for one cluster': {
    refused: [{ stack: web.placement.stack, cluster: 'harbour', origin, reason: invalid }],
  },
  'its file cannot be read': {
    inForce: inForce(makeOrder(web)),
    unreadable: [{ file: origin, text: 'fleet:stacks/web/stack.yaml:3: not YAML', mentions: ['Stack'] }],
  },
  'another file cannot be read': {
    inForce: inForce(makeOrder(web)),
    unreadable: [
      {
        file: { ...origin, path: 'stacks/other.yaml' },
        text: 'fleet:stacks/other.yaml:3: not YAML',
        mentions: ['Stack'],
      },
    ],
  },
  'the file that may hold its cluster cannot be read': {
    inForce: inForce(makeOrder(web)),
    clusters: new Set(),
    unreadable: [
      {
        file: { ...origin, path: 'clusters.yaml' },
        text: 'fleet:clusters.yaml:3: not YAML',
        mentions: ['Cluster'],
      },
    ],
  },
  'its cluster is gone': { inForce: inForce(makeOrder(web)), clusters: new Set() },
  'its cluster is refused': {
    inForce: inForce(makeOrder(web)),
    clusters: new Set(),
    refusedClusters: new Map([['harbour', 'fleet:clusters.yaml:4: unknown field “lables”']]),
  },
  'its repository was not read since start': {
    inForce: inForce(makeOrder(web)),
    unread: new Map([['fleet', 'Unreachable: connection refused']]),
  },
  'a document that decides about all cannot be read': {
    wanted: [makeWanted({ content: 'two' }), makeWanted({ name: 'new' })],
    inForce: inForce(makeOrder(web)),
    frozen: { code: 'Invalid', text: 'fleet:fleet.yaml:2: the Fleet document cannot be read' },
  },
  'two new placements on one Pulumi stack': {
    wanted: [web, makeWanted({ name: 'shop' }, { claim: web.placement.claim })],
  },
  'a newcomer on a Pulumi stack that is taken': {
    wanted: [web, makeWanted({ name: 'shop' }, { claim: web.placement.claim })],
    inForce: inForce(makeOrder(web)),
  },
  'a renamed stack claims what the orphan owns': {
    wanted: [makeWanted({ name: 'site' }, { claim: web.placement.claim })],
    inForce: inForce(makeOrder(web)),
  },
  'it would leave its Pulumi stack': {
    wanted: [makeWanted({ content: 'two' }, elsewhere)],
    inForce: inForce(makeOrder(web)),
  },
  'it would leave its Pulumi stack, and says so': {
    wanted: [makeWanted({ content: 'two' }, { ...elsewhere, leaves: web.placement.claim })],
    inForce: inForce(makeOrder(web)),
  },
  'the agent lacks the order': {
    wanted: [web],
    inForce: inForce(makeOrder(web)),
    republish: new Map([['harbour/shop/web', 'the agent has generation 0 only']]),
  },
  'the streams went back in time': {
    wanted: [web],
    inForce: inForce(makeOrder(web)),
    seenGen: new Map([['harbour/shop/web', NOW + 5_000]]),
  },
  'an orphan whose order the agent lacks': {
    inForce: inForce(makeOrder(web, { action: 'hold', reasons: [{ code: 'Orphaned', text: 'gone' }] })),
    republish: new Map([['harbour/shop/web', 'the agent has generation 0 only']]),
  },
  'a suspended placement whose order the agent lacks': {
    wanted: [makeWanted({}, suspended)],
    inForce: inForce(makeOrder(web, { action: 'hold', reasons: [suspended.suspended] })),
    republish: new Map([['harbour/shop/web', 'the agent has generation 0 only']]),
  },
  'an order too large': {
    wanted: [makeWanted({}, { inputs: { ...moved.inputs, config: { 'web:blob': 'x'.repeat(600_000) } } })],
    inForce: inForce(makeOrder(web)),
  },
};

test('plans read as they should', async () => {
  const texts = Object.entries(stories).map(
    ([story, change]) => `# ${story}\n${printPlan(plan(makePlanInput(change)))}`,
  );
  await golden('plan.txt', texts.join('\n'));
});

test('every order lies above whatever was seen of its placement', () => {
  const gens = fc.tuple(fc.nat(), fc.nat(), fc.nat());
  fc.assert(
    fc.property(gens, ([now, ordered, seen]) => {
      const input = makePlanInput({
        wanted: [makeWanted({ content: 'two' })],
        inForce: inForce(makeOrder(web, { gen: ordered + 1 })),
        seenGen: new Map([['harbour/shop/web', seen]]),
        now,
      });
      const [step] = plan(input).steps;
      assert.ok(step !== undefined && step.gen > now && step.gen > ordered + 1 && step.gen > seen);
    }),
  );
});

test('an order that is published again is made anew where its manifest is at hand', () => {
  const input = makePlanInput({
    wanted: [web],
    inForce: inForce(makeOrder(web)),
    republish: new Map([['harbour/shop/web', 'its artifact was gone']]),
  });
  assert.equal(plan(input).steps[0]?.wanted, web);
});

test('nothing that is absent, broken or unread ever lets go of a placement', () => {
  const absences: PlanStory[] = Object.values(stories).filter(
    ({ removals, inForce: orders }) =>
      removals === undefined && [...(orders?.values() ?? [])].every((order) => order.action !== 'forget'),
  );
  fc.assert(
    fc.property(fc.subarray(absences, { minLength: 1 }), (parts) => {
      const { steps } = plan(makePlanInput(Object.assign({}, ...parts) as PlanStory));
      for (const step of steps) {
        assert.notEqual(step.action, 'forget');
        if (step.wanted === undefined) assert.ok(step.base !== undefined);
      }
    }),
  );
});

test('the plan does not depend on the order in which things are listed', () => {
  const wanted = ['a', 'b', 'c'].map((name) =>
    makeWanted({ name }, name === 'c' ? { claim: 'file:///state x' } : {}),
  );
  const orders = [makeOrder(wanted[0]!), makeOrder(makeWanted({ name: 'gone' }))];
  const straight = plan(makePlanInput({ wanted, inForce: inForce(...orders) }));
  const turned = plan(
    makePlanInput({ wanted: wanted.toReversed(), inForce: inForce(...orders.toReversed()) }),
  );
  assert.deepEqual(turned, straight);
});
