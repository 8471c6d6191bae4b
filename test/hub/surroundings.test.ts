import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { TreeEntry } from '../../hub/git/source.ts';
import { surroundingsOf } from '../../hub/surroundings.ts';
import { limits } from '../../shared/limits.ts';
import { isPartial, undeclaredAt, type Surroundings } from '../../shared/surroundings.ts';

const treeOf = (paths: readonly string[]): TreeEntry[] =>
  paths
    .map((path): TreeEntry => {
      const [name = '', mode = '100644'] = path.split(' ');
      return { path: name, mode: mode as TreeEntry['mode'], id: 'a'.repeat(40) };
    })
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

const around = { project: 'apps/web', isManifest: (path: string) => path.endsWith('stack.yaml') };
const look = (tree: readonly string[], files: readonly string[], project = 'apps/web'): Surroundings =>
  surroundingsOf(treeOf(tree), files, { ...around, project });

const WEB = ['apps/web/Pulumi.yaml', 'apps/web/src/index.ts'];

const TABLE: readonly (readonly [string, readonly string[], readonly string[], Surroundings])[] = [
  ['a repository that is all there', WEB, WEB, {}],
  [
    'neighbours of the project and of what is above it',
    [...WEB, 'README.md', 'apps/api/x.ts', 'apps/web-two/x.ts', 'apps/web.md', 'services/a/b.ts'],
    WEB,
    {
      '.': { undeclared: ['README.md', 'services/'] },
      apps: { undeclared: ['api/', 'web-two/', 'web.md'] },
    },
  ],
  [
    'a folder of which only one file is included',
    [...WEB, 'libs/ui/a.ts', 'libs/ui/b.ts', 'libs/ui/c/d.ts'],
    [...WEB, 'libs/ui/b.ts'],
    { 'libs/ui': { undeclared: ['a.ts', 'c/'] } },
  ],
  [
    'a project below the project',
    [...WEB, 'apps/web/nested/Pulumi.yaml'],
    WEB,
    { 'apps/web': { undeclared: ['nested/'] } },
  ],
  [
    'settings of other stacks and manifests, which nothing lacks',
    [...WEB, 'apps/web/Pulumi.dev.yaml', 'apps/web/Pulumi.prod.yaml', 'apps/web/stack.yaml', 'stack.yaml'],
    [...WEB, 'apps/web/Pulumi.dev.yaml'],
    { 'apps/web': { withheld: ['Pulumi.prod.yaml', 'stack.yaml'] }, '.': { withheld: ['stack.yaml'] } },
  ],
  [
    'what only looks like settings of a stack',
    [...WEB, 'apps/Pulumi.prod.yaml'],
    WEB,
    { apps: { undeclared: ['Pulumi.prod.yaml'] } },
  ],
  [
    'submodules and symlinks',
    [...WEB, 'link 120000', 'vendor 160000'],
    WEB,
    { '.': { undeclared: ['link', 'vendor/'] } },
  ],
  ['a name that is not UTF-8', [...WEB, 'apps/\uD800'], WEB, { apps: { closed: true } }],
];

describe('what lies around an artifact', () => {
  for (const [what, tree, files, expected] of TABLE)
    test(`is told of ${what}`, () => assert.deepEqual(look(tree, files), expected));

  test('is closed where it has too many names, but for those of tools that are there', () => {
    const many = Array.from({ length: limits.surroundingFolderNames + 1 }, (_, n) => `apps/s${n}/x`);
    const found = look([...WEB, ...many, 'apps/package.json', 'apps/.git/x'], WEB);
    assert.deepEqual(found, { apps: { closed: true, undeclared: ['package.json', '.git/'] } });
  });

  test('keeps the names of the project’s own folder where others have no room any more', () => {
    const own = Array.from({ length: 400 }, (_, n) => `apps/web/n${n}/Pulumi.yaml`);
    const folders = Array.from({ length: 10 }, (_, n) => `libs/l${n}`);
    const others = folders.flatMap((folder) => Array.from({ length: 150 }, (_, n) => `${folder}/f${n}`));
    const included = folders.map((folder) => `${folder}/f0`);
    const found = look([...WEB, ...own, ...others], [...WEB, ...included]);
    assert.equal(found['apps/web']?.undeclared?.length, 400);
    const closed = folders.filter((folder) => found[folder]?.closed === true);
    assert.deepEqual(closed, folders.slice(4));
    const names = Object.values(found).flatMap(({ undeclared = [] }) => undeclared);
    assert.ok(names.length <= limits.surroundingNames);
  });

  test('is told within its bound of bytes', () => {
    const long = Array.from({ length: 150 }, (_, n) => `apps/${String(n).repeat(120)}`);
    assert.deepEqual(look([...WEB, ...long], WEB), { apps: { closed: true } });
  });
});

const name = fc.constantFrom(
  'a',
  'b',
  'a-b',
  'a.b',
  'é',
  '\u{1F600}',
  '\uFFFD',
  'Pulumi.x.yaml',
  'package.json',
);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

/** Files of a tree: no path is a folder of another. */
const tree = fc
  .uniqueArray(path, { minLength: 1, maxLength: 40 })
  .map((paths) => paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`))));

test('every path of a tree is in the artifact or is told, and no other path is', () => {
  fc.assert(
    fc.property(tree, fc.integer({ min: 0 }), fc.array(path), (paths, seed, others) => {
      const files = paths.filter((_, n) => ((seed >> (n % 30)) & 1) === 1);
      const found = surroundingsOf(treeOf(paths), files, { project: 'a', isManifest: () => false });
      const isTold = (one: string): boolean => undeclaredAt(found, () => false, one) !== undefined;
      if (files.length > 0)
        for (const one of paths) assert.equal(isTold(one), !files.includes(one), `${one} of ${paths.join()}`);
      const below = (one: string, other: string): boolean => one === other || one.startsWith(`${other}/`);
      for (const one of others) {
        const missing = paths.filter((file) => !files.includes(file));
        const inMissing = missing.some((file) => below(file, one) || below(one, file.split('/')[0] ?? ''));
        if (!inMissing) assert.equal(isTold(one), false, one);
      }
      for (const folder of Object.keys(found)) {
        const lacks = paths.some((file) => file.startsWith(`${folder}/`) || folder === '.');
        assert.ok(lacks && (isPartial(found, folder) || found[folder]?.withheld !== undefined));
      }
    }),
  );
});
