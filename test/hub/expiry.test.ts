import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalog } from '../../hub/catalog/read.ts';
import { changesAt } from '../../hub/expiry.ts';
import { NOW } from './make.ts';

const catalogOf = (spec: string): ReturnType<typeof readCatalog> => {
  const content = Buffer.from(
    `apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: harbour}\nspec: ${spec}\n`,
  );
  return readCatalog([{ repository: 'fleet', trust: 'fleet', path: 'a.yaml', content }], NOW);
};

const iso = (ms: number): string => new Date(ms).toISOString();

test('the next time that a manifest names is the one that counts', () => {
  const ends = catalogOf(`{suspend: {until: "${iso(NOW + 5_000)}"}}`);
  assert.equal(changesAt(ends, NOW), NOW + 5_000);
  assert.equal(changesAt(ends, NOW + 5_000), Infinity);
});

test('there may be more times than a call takes arguments', () => {
  const manifest = catalogOf('{}').clusters[0]!;
  const times = Array.from({ length: 300_000 }, (_, n) => ({ until: iso(NOW + 1 + n) }));
  const catalog = { ...catalogOf('{}'), clusters: [{ ...manifest, written: times }] };
  assert.equal(changesAt(catalog, NOW), NOW + 1);
});
