/** Which files of a repository are read. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FileMode, TreeEntry } from '../../../hub/git/source.ts';
import { catalogPaths, manifestPaths, projectPaths } from '../../../hub/catalog/paths.ts';

const entry = (path: string, mode: FileMode = '100644'): TreeEntry => ({ path, mode, id: '0'.repeat(40) });
const TREE = [
  entry('README.md'),
  entry('apps/web/Pulumi.prod.yaml'),
  entry('apps/web/Pulumi.yaml'),
  entry('apps/web/index.ts'),
  entry('apps/web/towline.yaml'),
  entry('fleet/Prod.YAML'),
  entry('fleet/clusters.yml', '100755'),
  entry('fleet/extra.json'),
  entry('fleet/link.yaml', '120000'),
  entry('fleet/old/a.yaml'),
  entry('py/Pulumi.json'),
  entry('vendor.yaml', '160000'),
];
const paths = (entries: readonly TreeEntry[]): string[] => entries.map(({ path }) => path);

const PATTERNS: readonly (readonly [patterns: readonly string[], expected: readonly string[]])[] = [
  [[], ['apps/web/Pulumi.prod.yaml', 'apps/web/towline.yaml', 'fleet/clusters.yml', 'fleet/old/a.yaml']],
  [
    ['fleet/**', '**/towline.yaml'],
    ['apps/web/towline.yaml', 'fleet/clusters.yml', 'fleet/old/a.yaml'],
  ],
  [['/fleet/*.yml'], ['fleet/clusters.yml']],
  [['fleet/**', '!fleet/old/**'], ['fleet/clusters.yml']],
  [
    ['fleet/**', 'fleet/*.json'],
    ['fleet/clusters.yml', 'fleet/extra.json', 'fleet/old/a.yaml'],
  ],
  [['nothing/**'], []],
];
for (const [patterns, expected] of PATTERNS) {
  test(`manifests: ${JSON.stringify(patterns)}`, () => {
    assert.deepEqual(paths(manifestPaths(TREE, patterns)), expected);
  });
}

test('project files are read wherever they are, also of repositories whose manifests are not', () => {
  assert.deepEqual(paths(projectPaths(TREE)), ['apps/web/Pulumi.yaml', 'py/Pulumi.json']);
  assert.deepEqual(paths(catalogPaths(TREE, { trust: 'sources', manifests: [] })), [
    'apps/web/Pulumi.yaml',
    'py/Pulumi.json',
  ]);
  assert.deepEqual(paths(catalogPaths(TREE, { trust: 'stacks', manifests: ['fleet/*.yml'] })), [
    'apps/web/Pulumi.yaml',
    'fleet/clusters.yml',
    'py/Pulumi.json',
  ]);
});

test('manifests in a submodule were committed to another repository, so none is read; its projects are', () => {
  const entries = ['v', 'v/Pulumi.yaml', 'v/towline.yaml', 'vv/towline.yaml'].map((path) =>
    entry(path, path === 'v' ? '160000' : '100644'),
  );
  const read = catalogPaths(entries, { trust: 'fleet', manifests: ['**/*.yaml'] });
  assert.deepEqual(paths(read), ['v/Pulumi.yaml', 'vv/towline.yaml']);
});
