import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnbuildableError } from '../../hub/artifact.ts';
import { carryOut, type CarryEdges } from '../../hub/carry.ts';
import type { Tree } from '../../hub/git/source.ts';
import { placementKey } from '../../hub/placement.ts';
import { plan } from '../../hub/plan.ts';
import { seal } from '../../shared/seal.ts';
import { makePlanInput, makeWanted, NOW } from './make.ts';

const tree: Tree = {
  repository: 'fleet',
  ref: 'refs/heads/main',
  commit: { id: 'c'.repeat(40), subject: 'one', author: 'Ada', time: NOW },
  entries: async () => [],
  blob: async () => Buffer.alloc(0),
};

/** What comes of two new placements, `bad` and `good`. */
async function carry(bad: ReturnType<typeof makeWanted>, change: Partial<CarryEdges> = {}) {
  const planned = plan(makePlanInput({ wanted: [bad, makeWanted({ name: 'good' })] }));
  const edges: CarryEdges = {
    build: async () => seal(Buffer.from('tar'), Buffer.alloc(32)),
    upload: async () => undefined,
    ...{ trees: new Map([['fleet', tree]]), term: 1, now: NOW },
    ...change,
  };
  const carried = await carryOut(edges, planned);
  const refused = carried.plan.decisions.find(({ stack }) => stack.name === 'bad');
  return { ...carried, refused };
}

const failing = (error: Error): Partial<CarryEdges> => ({
  build: async (_tree, { placement }) => {
    if (placement.stack.name === 'bad') throw error;
    return seal(Buffer.from('tar'), Buffer.alloc(32));
  },
});

const bad = makeWanted({ name: 'bad' });
const long = 'x'.repeat(600_000);
const TABLE: readonly (readonly [string, typeof bad, Partial<CarryEdges>, string, RegExp])[] = [
  ['whose files cannot be read', bad, failing(new Error('object is missing')), 'waiting', /^Source.*missing/],
  [
    'whose files are too large',
    bad,
    failing(new UnbuildableError('300 MiB')),
    'refused',
    /^Invalid.*300 MiB/,
  ],
  [
    'whose order is too large',
    makeWanted({ name: 'bad' }, { runRequest: long }),
    {},
    'refused',
    /^OrderTooLarge/,
  ],
  [
    'whose order no agent could read',
    makeWanted({ name: 'bad' }, { policy: { ...bad.placement.policy, timeoutMs: 1e30 } }),
    {},
    'refused',
    /^Invalid.*policy\.timeoutMs/,
  ],
];

for (const [what, wanted, change, verdict, said] of TABLE)
  test(`a placement ${what} is ${verdict}, and the others get their orders`, async () => {
    const { orders, plan: carried, refused, unread } = await carry(wanted, change);
    assert.deepEqual(orders.map(placementKey), ['harbour/shop/good']);
    assert.deepEqual(carried.steps.map(placementKey), ['harbour/shop/good']);
    assert.equal(refused?.verdict, verdict);
    assert.match(refused?.reasons.map(({ code, text }) => `${code} ${text}`).join() ?? '', said);
    assert.equal(unread, verdict === 'waiting');
  });

test('a broker that takes no artifact ends the pass', async () => {
  const upload = (): Promise<void> => Promise.reject(new Error('no answer'));
  await assert.rejects(carry(bad, { upload }), /no answer/);
});

test('an order carries its reasons cut, the decision has them whole', async () => {
  const text = 'y'.repeat(5_000);
  const planned = plan(makePlanInput({ wanted: [makeWanted({ name: 'good' })] }));
  const inputs = Array.from({ length: 20 }, (_, n) => ({ path: `${n}${text}` }));
  const steps = planned.steps.map((step) => ({
    ...step,
    reasons: [{ code: 'InputChanged' as const, text, inputs, inputCount: 20 }],
  }));
  const build: CarryEdges['build'] = async () => seal(Buffer.from('tar'), Buffer.alloc(32));
  const edges = {
    build,
    upload: async () => undefined,
    trees: new Map([['fleet', tree]]),
    term: 1,
    now: NOW,
  };
  const { orders } = await carryOut(edges, { ...planned, steps });
  assert.deepEqual(orders[0]?.reasons, [
    { code: 'InputChanged', text: text.slice(0, 1_000), inputs: [], inputCount: 20 },
  ]);
});
