import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalog } from '../../hub/catalog/read.ts';
import type { CatalogFile } from '../../hub/catalog/catalog.ts';
import { mistakesOf } from '../../hub/mistakes.ts';
import { plan } from '../../hub/plan.ts';
import { locatedReason, printProblem } from '../../hub/problem.ts';
import { resolve } from '../../hub/resolve.ts';
import type { Done } from '../../hub/poll.ts';
import type { Wanted } from '../../hub/placement.ts';
import { makeOrder, makeWanted, NOW } from './make.ts';

const fileOf = (path: string, text: string): CatalogFile => ({
  ...{ repository: 'fleet', trust: 'fleet', path },
  content: Buffer.from(text),
});

const HEAD = 'apiVersion: towline.dev/v1\n';
const HARBOUR = fileOf('harbour.yaml', `${HEAD}kind: Cluster\nmetadata: {name: harbour}\n`);

interface Input {
  readonly files?: readonly CatalogFile[];
  readonly wanted?: readonly Wanted[];
  readonly inForce?: readonly Wanted[];
  readonly measured?: Partial<Done['measured']>;
}

/** The mistakes of a pass as lines. */
function linesOf({ files = [], wanted = [], inForce = [], measured = {} }: Input): readonly string[] {
  const catalog = readCatalog([HARBOUR, ...files], NOW);
  const resolution = resolve(catalog, NOW);
  const orders = inForce.map((one) => [`${one.placement.cluster}/shop/${one.placement.stack.name}`, one]);
  const planned = plan({
    ...{ wanted, refused: [], unreadable: [], clusters: new Set(['harbour']), refusedClusters: new Map() },
    ...{
      unread: new Map(),
      repositories: new Set(['fleet']),
      fleetRepositories: new Set(['fleet']),
      removals: [],
      seenGen: new Map(),
      republish: new Map(),
      now: NOW,
    },
    ...(resolution.frozen === undefined ? {} : { frozen: resolution.frozen }),
    inForce: new Map(orders.map(([key, one]) => [key as string, makeOrder(one as Wanted)])),
    changes: new Map(
      wanted.map(({ placement }) => [
        `harbour/shop/${placement.stack.name}`,
        { kind: 'unchanged', reasons: [{ code: 'Unchanged', text: '' }] },
      ]),
    ),
  });
  const done: Done = {
    ...{ now: NOW, views: [], catalog, resolution, plan: planned, orders: [] },
    measured: { wanted, refused: [], warnings: [], ...measured },
  };
  return mistakesOf(done).map(printProblem);
}

const stackAt = (name: string, spec: string): CatalogFile =>
  fileOf(`${name}.yaml`, `${HEAD}kind: Stack\nmetadata: {name: ${name}, namespace: shop}\nspec:\n${spec}`);

test('a stack that no project belongs to stands at its field, though it has no placement', () => {
  assert.deepEqual(
    linesOf({ files: [stackAt('web', '  clusters: {all: true}\n  source: {dir: ../..}\n')] }),
    ['fleet:web.yaml:6: error Invalid: Stack shop/web: spec.source.dir “../..” leads out of the repository'],
  );
});

test('a document that is refused is told once, field by field', () => {
  const lines = linesOf({ files: [stackAt('web', '  clusters: {all: true}\n  sauce: {}\n  paralel: 1\n')] });
  assert.deepEqual(
    lines.map((line) => line.split(': ').slice(0, 2).join(': ')),
    ['fleet:web.yaml:6: error Invalid', 'fleet:web.yaml:7: error Invalid'],
  );
});

test('what reading the files finds out is told once for all clusters', () => {
  const { placement } = makeWanted({});
  const refused = {
    ...placement,
    reason: locatedReason(placement.origin, { code: 'Invalid', text: 'the symlink a leads out' }),
  };
  assert.deepEqual(linesOf({ measured: { refused: [refused, { ...refused, cluster: 'quay' }] } }), [
    'fleet:stacks/web/stack.yaml:1: error Invalid: Stack shop/web: the symlink a leads out',
  ]);
});

test('a repository that is not read yet is no mistake of a stack', () => {
  const { placement } = makeWanted({});
  const refused = { ...placement, reason: { code: 'SourceUnavailable', text: 'not read' } as const };
  assert.deepEqual(linesOf({ measured: { refused: [refused] } }), []);
});

test('what only the plan finds out: claims and moves', () => {
  const web = makeWanted({ name: 'web' });
  const twin = makeWanted({ name: 'twin' }, { claim: web.placement.claim });
  const moved = makeWanted({ name: 'web' }, { claim: 'file:///elsewhere organization/web/harbour' });
  const codes = (lines: readonly string[]): (string | undefined)[] =>
    lines.map((line) => /^(\S+: error \w+): Stack/.exec(line)?.[1]);
  assert.deepEqual(codes(linesOf({ wanted: [web, twin], inForce: [web] })), [
    'fleet:stacks/twin/stack.yaml:1: error ClaimConflict',
  ]);
  assert.deepEqual(codes(linesOf({ wanted: [moved], inForce: [web] })), [
    'fleet:stacks/web/stack.yaml:1: error StackIdentityChanged',
  ]);
});

test('a Fleet that cannot be read is one mistake, not one of each stack', () => {
  const fleet = fileOf('all.yaml', `${HEAD}kind: Fleet\nmetadata: {name: all}\nspec: {suspendd: {}}\n`);
  const lines = linesOf({
    files: [fleet],
    wanted: [makeWanted({ name: 'web' }), makeWanted({ name: 'shop' })],
  });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^fleet:all\.yaml:4: error Invalid: Fleet all: /);
});
