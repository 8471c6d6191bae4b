import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { applyEdit, differences, expected, PLACEMENTS, STEPS } from '../../../../deploy/local/demo/script.ts';

const sample = join(import.meta.dirname, '../../../../deploy/local/demo/port');

test('the figures follow from the stacks that a step names', () => {
  assert.deepEqual(
    STEPS.map(expected).map(({ orders, runs, succeeded, failed, unchanged }) => [
      orders,
      runs,
      succeeded,
      failed,
      unchanged,
    ]),
    [
      [7, 7, 7, 0, 0],
      [2, 2, 2, 0, 5],
      [4, 4, 4, 0, 3],
      [0, 0, 0, 0, 7],
      [2, 2, 0, 2, 5],
      [2, 2, 2, 0, 5],
    ],
  );
});

test('each difference is told', () => {
  const [first, second] = STEPS.map(expected);
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(differences(first, first), []);
  assert.deepEqual(differences(second, first)[0], 'orders should be 2, not 7');
});

test('the edits of all steps fit the sample', async () => {
  const texts = new Map<string, string>();
  for (const edit of STEPS.flatMap((step) => step.edits)) {
    const before = texts.get(edit.path) ?? (await readFile(join(sample, edit.path), 'utf8'));
    texts.set(edit.path, applyEdit(before, edit));
    assert.notEqual(texts.get(edit.path), before);
  }
});

test('an edit that does not fit is refused', () => {
  assert.throws(() => applyEdit('a', { path: 'x', from: 'b', to: 'c' }), /0 times in x/);
  assert.throws(() => applyEdit('bb', { path: 'x', from: 'b', to: 'c' }), /2 times in x/);
});

test('the script knows the clusters and stacks of the sample', async () => {
  const documents = parseAllDocuments(await readFile(join(sample, 'fleet.yaml'), 'utf8'));
  const clusters = documents
    .map((document) => document.toJS() as { kind: string; metadata: { name: string } })
    .filter(({ kind }) => kind === 'Cluster');
  assert.deepEqual(
    clusters.map(({ metadata }) => metadata.name),
    [...new Set(Object.values(PLACEMENTS).flat())],
  );
});

test('the lockfile of the sample names no registry', async () => {
  assert.doesNotMatch(await readFile(join(sample, 'apps/package-lock.json'), 'utf8'), /"resolved"/);
});
