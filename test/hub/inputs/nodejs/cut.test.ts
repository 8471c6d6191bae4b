/** A shared lockfile runs those whose packages it changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { blobId } from '../../../../hub/inputs/blob.ts';
import { inferNodejs } from '../../../../hub/inputs/nodejs.ts';
import { inferOn } from '../views.ts';
import { found, holds, projectIn, textsOf, type Tree } from './found.ts';

/** Two stacks and two libraries in one npm workspace; each stack has a library and a package of its own. */
function shared({ p = '1.0.0', q = '1.0.0', x = {} }: { p?: string; q?: string; x?: object } = {}): Tree {
  const root = { name: 'root', private: true, description: 'ours', workspaces: ['stacks/*', 'libs/*'] };
  const a = { name: 'a', dependencies: { '@acme/x': '*', p: '*' } };
  const b = { name: 'b', dependencies: { '@acme/y': '*', q: '*' } };
  const at = (name: string, version: string): object => ({
    version,
    resolved: `https://registry.example/${name}/-/${name}-${version}.tgz`,
    integrity: `sha512-${name}${version}`,
  });
  return {
    'package.json': root,
    'package-lock.json': {
      name: 'root',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': root,
        'libs/x': { name: '@acme/x' },
        'libs/y': { name: '@acme/y' },
        'node_modules/@acme/x': { resolved: 'libs/x', link: true, ...x },
        'node_modules/@acme/y': { resolved: 'libs/y', link: true },
        'node_modules/a': { resolved: 'stacks/a', link: true },
        'node_modules/b': { resolved: 'stacks/b', link: true },
        'node_modules/p': at('p', p),
        'node_modules/q': at('q', q),
        'stacks/a': a,
        'stacks/b': b,
      },
    },
    'stacks/a/Pulumi.yaml': 'name: a\nruntime: nodejs\n',
    'stacks/a/package.json': a,
    'stacks/a/index.ts': 'import "@acme/x"; import "p";',
    'stacks/b/Pulumi.yaml': 'name: b\nruntime: nodejs\n',
    'stacks/b/package.json': b,
    'libs/x/package.json': { name: '@acme/x' },
    'libs/y/package.json': { name: '@acme/y' },
  };
}

/** Whether the answer is the same; whoever asked once is asked again exactly when it is not. */
function isSame(before: Tree, after: Tree): boolean {
  const answer = (tree: Tree): unknown => {
    const { made, ...rest } = inferOn(inferNodejs, projectIn('stacks/a'), textsOf(tree));
    return { ...rest, made: made.map(({ path, id }) => [path, id]) };
  };
  const same = isDeepStrictEqual(answer(before), answer(after));
  assert.equal(holds(before, after), same);
  return same;
}

describe('a lockfile that stacks share', () => {
  it('is shipped without what others install', () => {
    const tree = shared();
    const seen = found(tree);
    const lockfile = seen.made['package-lock.json'] ?? '';
    assert.deepEqual(Object.keys((JSON.parse(lockfile) as { packages: object }).packages), [
      '',
      'libs/x',
      'node_modules/@acme/x',
      'node_modules/a',
      'node_modules/p',
      'stacks/a',
    ]);
    assert.deepEqual(JSON.parse(seen.made['package.json'] ?? ''), {
      name: 'root',
      private: true,
      workspaces: ['libs/x', 'stacks/a'],
    });
    assert.deepEqual(seen.folders, ['libs/x']);
    assert.deepEqual(seen.problems, []);
    assert.deepEqual(seen.warnings, []);
  });
  it('is named by the id that Git would give it, and so is each file beside it, for each stack', () => {
    const tree = shared();
    for (const folder of ['stacks/a', 'stacks/b']) {
      const { made } = inferOn(inferNodejs, projectIn(folder), textsOf(tree));
      const ids = Object.fromEntries(made.map(({ path, id }) => [path, id]));
      const contents = Object.entries(found(tree, folder).made);
      assert.deepEqual(
        ids,
        Object.fromEntries(contents.map(([path, text]) => [path, blobId(Buffer.from(text))])),
      );
    }
  });
  const rows: Readonly<Record<string, { after: Tree; same: boolean }>> = {
    'a bump of a package of another stack changes nothing': {
      after: shared({ q: '1.0.1' }),
      same: true,
    },
    'a bump of its own package is a change': { after: shared({ p: '1.0.1' }), same: false },
    'another package.json changes nothing': {
      after: { ...shared(), 'libs/y/package.json': { name: '@acme/y', version: '2.0.0' } },
      same: true,
    },
    'a new workspace changes nothing': {
      after: { ...shared(), 'libs/z/package.json': { name: '@acme/z' } },
      same: true,
    },
    'a description of the root changes nothing': {
      after: {
        ...shared(),
        'package.json': { ...(shared()['package.json'] as object), description: 'yours' },
      },
      same: true,
    },
    'a file of another stack changes nothing': {
      after: { ...shared(), 'stacks/b/index.ts': 'import "../a/index"', 'README.md': '' },
      same: true,
    },
    'settings of the package manager are a change': { after: { ...shared(), '.npmrc': '' }, same: false },
    'engines of the root are a change': {
      after: {
        ...shared(),
        'package.json': { ...(shared()['package.json'] as object), engines: { node: '24' } },
      },
      same: false,
    },
  };
  for (const [name, { after, same }] of Object.entries(rows))
    it(name, () => {
      assert.equal(isSame(shared(), after), same);
    });
  it('comes with the patches of patch-package that are for its packages', () => {
    const root = shared()['package.json'] as object;
    const patched = {
      ...shared(),
      'package.json': { ...root, scripts: { postinstall: 'patch-package' } },
      'patches/p+1.0.0.patch': 'p',
      'patches/q+1.0.0.patch': 'q',
    };
    assert.deepEqual(found(patched).files, ['patches/p+1.0.0.patch']);
    assert.equal(isSame(patched, { ...patched, 'patches/q+1.0.0.patch': 'r' }), true);
    assert.equal(isSame(patched, { ...patched, 'patches/p+1.0.0+002+more.patch': '' }), false);
  });
  it('must not take a workspace from a registry', () => {
    const seen = found(
      shared({ x: { resolved: 'https://registry.example/x.tgz', link: false, version: '9.9.9' } }),
    );
    assert.match(seen.problems.join('\n'), /@acme\/x/);
  });
});

describe('the other package managers', () => {
  const beside: Tree = {
    'stacks/a/Pulumi.yaml': 'name: a\nruntime: nodejs\n',
    'stacks/a/package.json': { name: 'a', dependencies: { '@acme/x': 'workspace:*', p: '^1.0.0' } },
    'stacks/b/package.json': { name: 'b', dependencies: { q: '^1.0.0' } },
    'libs/x/package.json': { name: '@acme/x' },
  };
  const pnpm: Tree = {
    ...beside,
    'package.json': { name: 'root', private: true },
    'pnpm-workspace.yaml': 'packages:\n  - stacks/*\n  - libs/*\n',
    'pnpm-lock.yaml': [
      "lockfileVersion: '9.0'",
      'importers:',
      '  .: {}',
      '  libs/x: {}',
      "  stacks/a: {dependencies: {'@acme/x': {specifier: 'workspace:*', version: 'link:../../libs/x'}, p: {specifier: ^1.0.0, version: 1.0.0}}}",
      '  stacks/b: {dependencies: {q: {specifier: ^1.0.0, version: 1.0.0}}}',
      'packages:',
      '  p@1.0.0: {resolution: {integrity: sha512-p}}',
      '  q@1.0.0: {resolution: {integrity: sha512-q}}',
      'snapshots:',
      '  p@1.0.0: {}',
      '  q@1.0.0: {}',
      '',
    ].join('\n'),
  };
  it('pnpm has the catalogs and patches of its packages, and those that older ones read from package.json', () => {
    const catalogs =
      'catalog: {p: ^1.0.0, q: ^1.0.0}\npatchedDependencies: {p: fixes/p.patch, q: fixes/q.patch}\n';
    const seen = found({
      ...pnpm,
      'package.json': { name: 'root', pnpm: { patchedDependencies: { 'p@1.0.0': 'old/p.patch' } } },
      'pnpm-workspace.yaml': `${pnpm['pnpm-workspace.yaml'] as string}${catalogs}`,
      'pnpm-lock.yaml': (pnpm['pnpm-lock.yaml'] as string).replaceAll(
        'specifier: ^1.0.0',
        "specifier: 'catalog:'",
      ),
      ...{ 'fixes/p.patch': '', 'fixes/q.patch': '', 'old/p.patch': '' },
    });
    assert.match(seen.made['pnpm-workspace.yaml'] ?? '', /^catalog:\n {2}p: \^1\.0\.0$/m);
    assert.doesNotMatch(seen.made['pnpm-workspace.yaml'] ?? '', /q/);
    assert.deepEqual(seen.files, ['fixes/p.patch', 'old/p.patch']);
  });
  const yarn: Tree = {
    ...beside,
    'package.json': { name: 'root', private: true, workspaces: ['stacks/*', 'libs/*'] },
    'stacks/a/package.json': { name: 'a', version: '1.0.0', dependencies: { '@acme/x': '*', p: '^1.0.0' } },
    'libs/x/package.json': { name: '@acme/x', version: '1.0.0' },
    'yarn.lock': [
      '# yarn lockfile v1',
      ...['p', 'q'].map(
        (name) => `\n${name}@^1.0.0:\n  version "1.0.0"\n  resolved "https://registry.example/${name}.tgz"`,
      ),
      '',
    ].join('\n'),
  };
  for (const [name, tree, lockfile, others] of [
    ['pnpm', pnpm, 'pnpm-lock.yaml', ['package.json', 'pnpm-workspace.yaml']],
    ['yarn', yarn, 'yarn.lock', ['package.json']],
  ] as const)
    it(`${name} has its lockfile cut as well`, () => {
      const seen = found(tree);
      assert.deepEqual(Object.keys(seen.made).sort(), [...others, lockfile].sort());
      assert.match(seen.made[lockfile] ?? '', /p@/);
      assert.doesNotMatch(seen.made[lockfile] ?? '', /q@/);
      assert.deepEqual(
        { folders: seen.folders, problems: seen.problems },
        { folders: ['libs/x'], problems: [] },
      );
      const bumped = {
        ...tree,
        [lockfile]: (tree[lockfile] as string).replace('sha512-q', 'sha512-r').replace('q.tgz', 'r.tgz'),
      };
      assert.equal(isSame(tree, bumped), true);
      const own = {
        ...tree,
        [lockfile]: (tree[lockfile] as string).replace('sha512-p', 'sha512-r').replace('p.tgz', 'r.tgz'),
      };
      assert.equal(isSame(tree, own), false);
    });
});
