import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnbuildableError } from '../../hub/artifact.ts';
import { carryOut, type CarryEdges } from '../../hub/carry.ts';
import type { Tree } from '../../hub/git/source.ts';
import { placementKey, type Placement } from '../../hub/placement.ts';
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
    ...{ trees: new Map([['fleet', tree]]), documents: new Map(), term: 1, now: NOW },
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
    documents: new Map(),
    term: 1,
    now: NOW,
  };
  const { orders } = await carryOut(edges, { ...planned, steps });
  assert.deepEqual(orders[0]?.reasons, [
    { code: 'InputChanged', text: text.slice(0, 1_000), inputs: [], inputCount: 20 },
  ]);
});

/** The order of the placement `bad` in a tree of these paths, with the files that its artifact was made of. */
async function carriedFrom(paths: readonly string[], change: Partial<Placement['source']> = {}) {
  const entries = paths.map((path) => ({ path, mode: '100644', id: 'a'.repeat(40) }) as const);
  const wanted = makeWanted({ name: 'bad' });
  const source = { ...wanted.placement.source, ...change };
  const built: (readonly string[])[] = [];
  const { orders } = await carry(
    { ...wanted, placement: { ...wanted.placement, source } },
    {
      trees: new Map([['fleet', { ...tree, entries: async () => entries }]]),
      documents: new Map([['fleet', new Map([['stacks/bad/stack.yaml', 'only']])]]),
      build: async (_tree, _wanted, files) => {
        built.push(files.map(({ path }) => path));
        return seal(Buffer.from(JSON.stringify(files)), Buffer.alloc(32));
      },
    },
  );
  return { order: orders.find(({ stack }) => stack.name === 'bad'), files: built[0] };
}

const OWN = ['stacks/bad/Pulumi.yaml', 'stacks/bad/stack.yaml'];

test('an order tells what lies around its artifact, and a new neighbour changes nothing but that', async () => {
  const before = await carriedFrom(['a.md', ...OWN, 'stacks/good/Pulumi.yaml']);
  assert.deepEqual(before.order?.surroundings, {
    'stacks/bad': { withheld: ['stack.yaml'] },
    stacks: { undeclared: ['good/'] },
    '.': { undeclared: ['a.md'] },
  });
  const after = await carriedFrom(['a.md', 'b.md', ...OWN, 'stacks/good/Pulumi.yaml']);
  assert.deepEqual(after.order?.surroundings?.['.'], { undeclared: ['a.md', 'b.md'] });
  assert.equal(after.order?.inputDigest, before.order?.inputDigest);
  assert.deepEqual(after.order?.artifact, before.order?.artifact);
});

test('a stack that is not hermetic gets the whole tree, and nothing lies around it', async () => {
  const { order, files } = await carriedFrom(['a.md', ...OWN], { hermetic: false });
  assert.deepEqual(files, ['a.md', ...OWN]);
  assert.equal(order?.surroundings, undefined);
  assert.equal(order?.inputDigest, makeWanted({ name: 'bad' }).inputDigest);
});

test('inputs that are parts of more folders than an order can tell are refused', async () => {
  const folders = Array.from({ length: 3_000 }, (_, n) => `libs/${String(n).padStart(20, '0')}`);
  const entries = folders.flatMap((folder) => [`${folder}/a`, `${folder}/b`]);
  const id = 'a'.repeat(40);
  const wanted = {
    ...bad,
    files: folders.map((folder) => ({ path: `${folder}/a`, mode: '100644', id }) as const),
  };
  const whole = entries.map((path) => ({ path, mode: '100644', id }) as const);
  const trees = new Map([['fleet', { ...tree, entries: async () => whole }]]);
  const { refused } = await carry(wanted, { trees });
  assert.match(refused?.reasons[0]?.text ?? '', /parts of 3000 folders.*include whole folders/);
});
