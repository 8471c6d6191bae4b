import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detect } from '../../hub/detect.ts';
import { policyDigest } from '../../hub/digest/v1.ts';
import { makeMeasure } from '../../hub/measure.ts';
import { readCatalog } from '../../hub/catalog/read.ts';
import type { Tree } from '../../hub/git/source.ts';
import { makeOrder, makePlacement, NOW } from './make.ts';

const PROJECT = Buffer.from('name: web\nruntime: yaml\n');
const tree: Tree = {
  repository: 'fleet',
  ref: 'refs/heads/main',
  commit: { id: 'c'.repeat(40), subject: 'one', author: 'Ada', time: NOW },
  entries: async () => [{ path: 'stacks/web/Pulumi.yaml', mode: '100644', id: 'a'.repeat(40) }],
  blob: async () => PROJECT,
};

test('a switch of hermetic reaches the agent as a new order with the digest that it had', async () => {
  const file = {
    repository: 'fleet',
    trust: 'fleet',
    path: 'stacks/web/Pulumi.yaml',
    content: PROJECT,
  } as const;
  const catalog = readCatalog([file], NOW);
  const plain = makePlacement({});
  const open = { ...plain, source: { ...plain.source, hermetic: false } as const };
  const measure = makeMeasure();
  const { wanted } = await measure.all([plain, open], catalog, new Map([['fleet', tree]]));
  const [before, after] = wanted;
  assert.ok(before !== undefined && after !== undefined);
  assert.equal(after.inputDigest, before.inputDigest);
  assert.equal(before.policyDigest, policyDigest(plain.policy));
  assert.equal(detect(before, makeOrder(before), undefined).kind, 'unchanged');
  assert.equal(detect(after, makeOrder(before), undefined).kind, 'policy');
});
