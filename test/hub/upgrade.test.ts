/** Orders under an older version of the digest: what means the same runs nothing, what does not is found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepted } from '../../agent/ledger/entry.ts';
import type { ProjectFile } from '../../hub/catalog/catalog.ts';
import { detectAll } from '../../hub/detect.ts';
import { digestV1 } from '../../hub/digest/v1.ts';
import { digestV2, filesDigest } from '../../hub/digest/v2.ts';
import type { Tree } from '../../hub/git/source.ts';
import { infer } from '../../hub/inputs/runtimes.ts';
import { makeSelections, type Selected } from '../../hub/inputs/selections.ts';
import { wholeLockfile } from '../../hub/inputs/whole.ts';
import { makeOrder } from '../../hub/order.ts';
import { placementKey, type Placement, type Wanted } from '../../hub/placement.ts';
import { plan } from '../../hub/plan.ts';
import { withEquals, type Commit } from '../../hub/upgrade.ts';
import type { Order } from '../../shared/wire.ts';
import { artifact, entryOf, successOf } from '../agent/samples.ts';
import { contentsOf, entriesOf, type Files } from './inputs/tree.ts';
import { makePlacement } from './make.ts';

const PROGRAM = 'resources: {}\noutputs: {text: {fn::readFile: ../../libs/text}}\n';
const FIRST: Files = {
  'stacks/web/Pulumi.yaml': `name: web\nruntime: yaml\n${PROGRAM}`,
  'stacks/web/note': 'one',
  'libs/text': 'one',
  README: 'one',
};

function commitOf(files: Files, id: string): Commit {
  const contents = contentsOf(files);
  const tree: Tree = {
    repository: 'fleet',
    ref: 'refs/heads/main',
    commit: { id, subject: '', author: '', time: 0 },
    entries: async () => entriesOf(files),
    blob: async (blob) => contents.get(blob) ?? assert.fail(`no object ${blob}`),
  };
  const projects = Object.keys(files).flatMap((path): [string, ProjectFile][] => {
    if (!path.endsWith('/Pulumi.yaml')) return [];
    const folder = path.slice(0, -'/Pulumi.yaml'.length);
    const project = { repository: 'fleet', folder, file: 'Pulumi.yaml', name: 'web', runtime: 'yaml' };
    return [[`fleet:${folder}`, project]];
  });
  return { tree, projects: new Map(projects), documents: new Map() };
}

async function selectedOf(placement: Placement, commit: Commit, how: typeof infer): Promise<Selected> {
  const { tree, projects, documents } = commit;
  const request = { placement, projects, documents, infer: how };
  const selected = await makeSelections(filesDigest).selectAll(tree, new Map([['one', request]]));
  return selected.get('one') ?? assert.fail('nothing was selected');
}

async function wantedAt(placement: Placement, commit: Commit): Promise<Wanted> {
  const { files, made, large, filesDigest: digest } = await selectedOf(placement, commit, infer);
  const inputDigest = digestV2(placement.inputs, digest);
  return { placement, inputDigest, policyDigest: 'p', files, made, large };
}

/** The order as the version before has made it. */
async function orderAt(placement: Placement, commit: Commit): Promise<Order> {
  const { files } = await selectedOf(placement, commit, wholeLockfile);
  const wanted = await wantedAt(placement, commit);
  const step = { ...placement, action: 'run' as const, gen: 7, wanted, reasons: [] };
  const order = makeOrder(step, { term: 1, now: 1, tree: commit.tree, artifact });
  return { ...order, inputDigest: digestV1(placement.inputs, files) };
}

interface Row {
  readonly name: string;
  readonly now: Files;
  readonly config?: string;
  /** The commit of the order cannot be read any more. */
  readonly gone?: true;
  readonly same: boolean;
}

const ROWS: readonly Row[] = [
  { name: 'nothing changed', now: FIRST, same: true },
  { name: 'something else changed', now: { ...FIRST, README: 'two' }, same: true },
  { name: 'a file of the project changed', now: { ...FIRST, 'stacks/web/note': 'two' }, same: false },
  { name: 'its config changed', now: FIRST, config: '4', same: false },
  {
    name: 'a file changed that only the new version sees, and nobody has run it',
    now: { ...FIRST, 'libs/text': 'two' },
    same: false,
  },
  { name: 'the commit is gone, and nothing changed', now: FIRST, gone: true, same: true },
  {
    name: 'the commit is gone, and a file changed',
    now: { ...FIRST, 'stacks/web/note': 'two' },
    gone: true,
    same: false,
  },
];

const placement = makePlacement({ name: 'web' });

for (const { name, now, config, gone, same } of ROWS)
  test(`${name}: ${same ? 'nothing runs' : 'it runs'}`, async () => {
    const [then, newest] = [commitOf(FIRST, 'a'), commitOf(now, 'b')];
    const order = await orderAt(placement, then);
    const changed =
      config === undefined
        ? placement
        : { ...placement, inputs: { ...placement.inputs, config: { 'web:replicas': config } } };
    const wanted = await wantedAt(changed, newest);
    const inForce = new Map([[placementKey(placement), order]]);
    const commits = { newest: () => newest, older: async () => (gone ? undefined : then) };
    const [found] = await withEquals([wanted], inForce, commits);
    assert.deepEqual(found?.equals ?? [], same ? [order.inputDigest] : []);
    const change = detectAll([found ?? wanted], inForce, () => undefined).get(placementKey(placement));
    assert.equal(change?.kind, same ? 'policy' : 'changed');
  });

for (const { name, now, config, same } of ROWS.filter(({ gone }) => gone === undefined))
  test(`after a newer hub: ${name}: ${same ? 'nothing runs' : 'it runs'}`, async () => {
    const [then, newest] = [commitOf(FIRST, 'a'), commitOf(now, 'b')];
    const order = { ...(await orderAt(placement, then)), inputDigest: `v3:${'0'.repeat(64)}` };
    const inputs =
      config === undefined ? placement.inputs : { ...placement.inputs, config: { 'web:replicas': config } };
    const wanted = await wantedAt({ ...placement, inputs }, newest);
    const inForce = new Map([[placementKey(placement), order]]);
    const [found] = await withEquals([wanted], inForce, { newest: () => newest, older: async () => then });
    const change = detectAll([found ?? wanted], inForce, () => undefined).get(placementKey(placement));
    assert.equal(change?.kind, same ? 'policy' : 'changed');
  });

test('an order that something else than its commit went into is compared by the old digest', async () => {
  const [then, newest] = [commitOf(FIRST, 'a'), commitOf({ ...FIRST, 'libs/text': 'two' }, 'b')];
  const order = await orderAt({ ...placement, source: { ...placement.source, include: ['/README'] } }, then);
  const wanted = await wantedAt(placement, newest);
  const inForce = new Map([[placementKey(placement), order]]);
  const [found] = await withEquals([wanted], inForce, { newest: () => newest, older: async () => then });
  assert.equal(found?.equals, undefined);
});

test('ten thousand placements under the old digest: each gets its order again, and no agent runs one', async () => {
  const all = Array.from({ length: 10_000 }, (_, n) => makePlacement({ name: 'web', cluster: `c${n}` }));
  const [then, newest] = [commitOf(FIRST, 'a'), commitOf({ ...FIRST, README: 'two' }, 'b')];
  const { files } = await selectedOf(placement, then, wholeLockfile);
  const [base, sample] = [await orderAt(placement, then), await wantedAt(placement, newest)];
  const orders = all.map((one): Order => ({
    ...base,
    cluster: one.cluster,
    inputs: one.inputs,
    claim: one.claim,
    inputDigest: digestV1(one.inputs, files),
  }));
  const inForce = new Map(orders.map((order) => [placementKey(order), order]));
  const digest = filesDigest(sample.files);
  const wanted = all.map((one) => ({ ...sample, placement: one, inputDigest: digestV2(one.inputs, digest) }));
  const found = await withEquals(wanted, inForce, { newest: () => newest, older: async () => then });
  const planned = plan({
    wanted: found,
    ...{ refused: [], unreadable: [], removals: [], refusedClusters: new Map(), unread: new Map() },
    ...{ clusters: new Set(all.map(({ cluster }) => cluster)), seenGen: new Map(), republish: new Map() },
    ...{ repositories: new Set(['fleet']), fleetRepositories: new Set(['fleet']) },
    inForce,
    changes: detectAll(found, inForce, () => undefined),
    now: 1,
  });
  assert.deepEqual(new Set(planned.decisions.map(({ verdict }) => verdict)), new Set(['policy']));
  assert.equal(planned.steps.length, all.length);
  for (const step of planned.steps) {
    const order = makeOrder(step, { term: 1, now: 1, tree: newest.tree, artifact });
    const before = inForce.get(placementKey(order));
    const entry = entryOf({
      order: before,
      lastSuccess: successOf({ inputDigest: before?.inputDigest ?? '' }),
    });
    assert.equal(
      accepted(entry, order, { now: 1, replaces: false }).lastSuccess?.inputDigest,
      order.inputDigest,
    );
  }
});

test('a later order for the same inputs says again what an agent may have missed', async () => {
  const commit = commitOf(FIRST, 'a');
  const wanted = await wantedAt(placement, commit);
  const base = { ...(await orderAt(placement, commit)), inputDigest: wanted.inputDigest, equals: ['v1:old'] };
  const step = { ...placement, action: 'run' as const, gen: 9, wanted, base, reasons: [] };
  const order = makeOrder(step, { term: 1, now: 1, tree: commit.tree, artifact });
  assert.deepEqual(order.equals, ['v1:old']);
});
