/** A shared lockfile runs those whose packages it changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blobId } from '../../../../hub/inputs/blob.ts';
import { inferNodejs } from '../../../../hub/inputs/nodejs.ts';
import { ask, readingOf } from '../tree.ts';
import { found, projectIn, textsOf, type Tree } from './found.ts';

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

/** Whether what was asked in one tree is so in the other one, and whether the answers are equal. */
function compare(before: Tree, after: Tree, folder = 'stacks/a'): { asked: boolean; equal: boolean } {
  const infer = (reading: ReturnType<typeof readingOf>, tree: Tree) =>
    ask(reading, textsOf(tree), (look) => ({
      inferred: inferNodejs(projectIn(folder), look),
      notes: look.notes,
    }));
  const old = readingOf(textsOf(before));
  const first = infer(old, before);
  const now = readingOf(textsOf(after), old);
  let holds = now.holds(first.notes);
  for (; holds === 'unknown'; holds = now.holds(first.notes)) infer(now, after);
  const second = infer(readingOf(textsOf(after)), after);
  const plain = ({ inferred }: typeof first) => ({
    ...inferred,
    made: inferred.made.map(({ path, id }) => [path, id]),
  });
  let equal = true;
  try {
    assert.deepEqual(plain(second), plain(first));
  } catch {
    equal = false;
  }
  return { asked: !holds, equal };
}

describe('a lockfile that stacks share', () => {
  it('is shipped without what others install, under the id that Git would give it', () => {
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
    const reading = readingOf(textsOf(tree));
    const { made } = ask(reading, textsOf(tree), (look) => inferNodejs(projectIn('stacks/a'), look));
    const ids = Object.fromEntries(made.map(({ path, id }) => [path, id]));
    assert.equal(ids['package-lock.json'], blobId(Buffer.from(lockfile)));
  });
  const rows: Readonly<Record<string, { before?: Tree; after: Tree; asked: boolean }>> = {
    'a bump of a package of another stack asks and changes nothing': {
      after: shared({ q: '1.0.1' }),
      asked: false,
    },
    'a bump of its own package is a change': { after: shared({ p: '1.0.1' }), asked: true },
    'another package.json asks and changes nothing': {
      after: { ...shared(), 'libs/y/package.json': { name: '@acme/y', version: '2.0.0' } },
      asked: false,
    },
    'a new workspace asks and changes nothing': {
      after: { ...shared(), 'libs/z/package.json': { name: '@acme/z' } },
      asked: false,
    },
    'a description of the root asks and changes nothing': {
      after: {
        ...shared(),
        'package.json': { ...(shared()['package.json'] as object), description: 'yours' },
      },
      asked: false,
    },
    'a file of another stack asks and changes nothing': {
      after: { ...shared(), 'stacks/b/index.ts': 'import "../a/index"', 'README.md': '' },
      asked: false,
    },
    'settings of the package manager are a change': { after: { ...shared(), '.npmrc': '' }, asked: true },
    'engines of the root are a change': {
      after: {
        ...shared(),
        'package.json': { ...(shared()['package.json'] as object), engines: { node: '24' } },
      },
      asked: true,
    },
  };
  for (const [name, { before = shared(), after, asked }] of Object.entries(rows))
    it(name, () => {
      assert.deepEqual(compare(before, after), { asked, equal: !asked });
    });
  it('must not take a workspace from a registry', () => {
    const seen = found(
      shared({ x: { resolved: 'https://registry.example/x.tgz', link: false, version: '9.9.9' } }),
    );
    assert.match(seen.problems.join('\n'), /@acme\/x/);
  });
});
