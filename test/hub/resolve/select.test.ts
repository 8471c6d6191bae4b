/** Which clusters a selection takes. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ClusterSelection } from '../../../crds/fields.ts';
import { choose, selectionFault } from '../../../hub/resolve/select.ts';

const candidates = {
  clusters: [
    { name: 'dev', labels: {} },
    { name: 'eu', labels: { tier: 'prod', region: 'eu' } },
    { name: 'us', labels: { tier: 'prod', region: 'us' } },
  ],
  refused: new Map([['sick', 'Cluster sick is refused']]),
};

const CHOSEN: readonly (readonly [
  selection: ClusterSelection,
  chosen: readonly string[],
  refused: readonly string[],
])[] = [
  [{ all: true }, ['dev', 'eu', 'us'], ['sick']],
  [{ all: true, exclude: ['sick', 'dev'] }, ['eu', 'us'], []],
  [{ names: ['us', 'dev', 'us'] }, ['dev', 'us'], []],
  [{ names: ['us', 'sick', 'uss'] }, ['us'], ['sick', 'uss']],
  [{ names: ['us', 'dev'], exclude: ['dev'] }, ['us'], []],
  [{ selector: { matchLabels: { tier: 'prod' } } }, ['eu', 'us'], []],
  [{ selector: { matchLabels: { tier: 'prod', region: 'eu' } } }, ['eu'], []],
  [
    { selector: { matchExpressions: [{ key: 'region', operator: 'NotIn', values: ['eu'] }] } },
    ['dev', 'us'],
    [],
  ],
  [
    {
      selector: { matchExpressions: [{ key: 'region', operator: 'In', values: ['eu', 'us'] }] },
      exclude: ['us'],
    },
    ['eu'],
    [],
  ],
  [{ selector: { matchExpressions: [{ key: 'region', operator: 'Exists' }] } }, ['eu', 'us'], []],
  [
    { selector: { matchLabels: {}, matchExpressions: [{ key: 'region', operator: 'DoesNotExist' }] } },
    ['dev'],
    [],
  ],
  [{ selector: { matchLabels: { tier: 'test' } } }, [], []],
];
for (const [selection, chosen, refused] of CHOSEN) {
  test(`${JSON.stringify(selection)} → ${chosen.join(' ')}`, () => {
    const choice = choose(selection, candidates);
    assert.equal(choice.kind, 'chosen');
    assert.deepEqual(
      choice.clusters.map(({ name }) => name),
      chosen,
    );
    assert.deepEqual(
      choice.refused.map(({ cluster }) => cluster),
      refused,
    );
    assert.equal(choice.warnings.length, chosen.length + refused.length === 0 ? 1 : 0);
  });
}

const FAULTS: readonly ClusterSelection[] = [
  {},
  { names: [] },
  { all: false },
  { selector: {} },
  { selector: { matchLabels: {}, matchExpressions: [] } },
  { exclude: ['dev'] },
  { names: ['dev'], all: true },
  { names: ['dev'], selector: { matchLabels: { a: 'b' } } },
];
for (const selection of FAULTS) {
  test(`${JSON.stringify(selection)} means nothing definite`, () => {
    assert.notEqual(selectionFault(selection), undefined);
    assert.equal(choose(selection, candidates).kind, 'fault');
  });
}

test('a misspelt exclusion selects nothing rather than too much', () => {
  assert.equal(choose({ all: true, exclude: ['devv'] }, candidates).kind, 'fault');
});
