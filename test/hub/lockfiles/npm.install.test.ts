import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { npmLock } from '../../../hub/lockfiles/npm.ts';
import type { Lockfile, Slice } from '../../../hub/lockfiles/lockfile.ts';
import { cutRootManifest } from '../../../hub/lockfiles/rootmanifest.ts';
import { layOut, managersOf } from '../../harness/managers.ts';
import type { Owner } from '../../harness/owned.ts';
import { startRegistry, type Registry } from '../../harness/registry.ts';
import { tempFolder } from '../../harness/temp.ts';
import { manifest, PACKAGES, program, type Files } from './packages.ts';
import { workspacesIn } from './yarnproject.ts';

const REPOSITORY: Files = {
  'package.json': manifest({
    name: 'root',
    private: true,
    workspaces: ['apps/*', 'libs/*'],
    devDependencies: { tool: '1.0.0' },
    overrides: { third: '1.0.0' },
  }),
  'apps/s/package.json': manifest({
    name: '@x/s',
    dependencies: { a: '^1.0.0', lib: '^1.0.0', boxed: 'file:../../vendor/boxed' },
    devDependencies: { peered: '1.0.0', '@scope/one': '1.0.0' },
    optionalDependencies: { foreign: '1.0.0', extra: '1.0.0' },
  }),
  'apps/s/index.js': program('s', ['a', 'lib', 'boxed', 'peered', 'foreign', 'extra', 'third']),
  'libs/lib/package.json': manifest({ name: 'lib', dependencies: { deep: '*' } }),
  'libs/lib/index.js': program('the workspace lib', ['deep']),
  'libs/deep/package.json': manifest({ name: 'deep', dependencies: { leaf: '^2.0.0', optionally: '1.0.0' } }),
  'libs/deep/index.js': program('the workspace deep', ['leaf', 'optionally']),
  'vendor/boxed/package.json': manifest({ name: 'boxed', dependencies: { leaf: '1.1.0' } }),
  'vendor/boxed/index.js': program('boxed', ['leaf']),
  'apps/t/package.json': manifest({
    name: 't',
    dependencies: { other: '1.0.0', third: '1.0.0', a: '^1.0.0', 'renamed-leaf': 'npm:leaf@1.0.0' },
  }),
};
const PRINTED =
  's(a 1.1.0(leaf 1.1.0))(the workspace lib(the workspace deep(leaf 2.0.0)(optionally 1.0.0(no absent))))' +
  '(boxed(leaf 1.1.0))(peered 1.0.0(a 1.1.0(leaf 1.1.0)))(no foreign)(extra 1.0.0(leaf 2.0.0))(no third)\n';

interface Npm {
  readonly registry: Registry;
  lock(files: Files, ...args: readonly string[]): Promise<string>;
  /** Installs an artifact with npm and prints what the program of a folder prints. */
  start(artifact: Files, folder: string, ...args: readonly string[]): Promise<string>;
}

async function npmOf(owner: Owner): Promise<Npm> {
  const registry = await startRegistry(owner, PACKAGES);
  const run = await managersOf(owner, registry);
  return {
    registry,
    lock: async (files, ...args) => {
      const folder = await tempFolder(owner, 'npm');
      await layOut(folder, files);
      await run(folder, 'npm', 'install', '--package-lock-only', ...args);
      return readFile(join(folder, 'package-lock.json'), 'utf8');
    },
    start: async (artifact, folder, ...args) => {
      const root = await tempFolder(owner, 'artifact');
      await layOut(root, artifact);
      await run(root, 'npm', 'ci', ...args);
      return run(root, 'node', join(folder, 'index.js'));
    },
  };
}

function readLock(text: string): Lockfile {
  const read = npmLock.parse(Buffer.from(text));
  if (read.kind === 'whole') throw new Error(read.why);
  return read.lockfile;
}

function shipped(files: Files, folder: string, slice: Slice): Files {
  const wanted = [folder, ...slice.workspaces, ...slice.paths];
  const kept = Object.entries(files).filter(([path]) =>
    wanted.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  return {
    ...Object.fromEntries(kept),
    'package.json': cutRootManifest(files['package.json'] ?? '', { folder, slice }).text,
    'package-lock.json': slice.text(),
  };
}

const WORKSPACE = ['-w', 'apps/s', '--include-workspace-root'];
for (const [what, lockArgs, ciArgs] of [
  ['version 3', [], WORKSPACE],
  ['version 3, as a whole', [], []],
  ['version 2', ['--lockfile-version', '2'], WORKSPACE],
  ['version 3, nested', ['--install-strategy', 'nested'], WORKSPACE],
] as const)
  test(`npm ci installs a workspace from its slice alone: ${what}`, async (t) => {
    const npm = await npmOf(t);
    const lock = readLock(await npm.lock(REPOSITORY, ...lockArgs));
    const slice = lock.slice('apps/s', workspacesIn(REPOSITORY));
    assert.deepEqual(slice.problems, []);
    assert.deepEqual(slice.workspaces, ['libs/deep', 'libs/lib']);
    assert.deepEqual(slice.paths, ['vendor/boxed']);
    assert.equal(await npm.start(shipped(REPOSITORY, 'apps/s', slice), 'apps/s', ...ciArgs), PRINTED);
  });

test('what another workspace depends on changes no byte, and the artifact installs from the cache', async (t) => {
  const npm = await npmOf(t);
  const artifactOf = async (other: object): Promise<Files> => {
    const files = { ...REPOSITORY, 'apps/t/package.json': manifest({ name: 't', ...other }) };
    const slice = readLock(await npm.lock(files)).slice('apps/s', workspacesIn(files));
    return shipped(files, 'apps/s', slice);
  };
  const before = await artifactOf({ dependencies: { other: '1.0.0', third: '1.0.0' } });
  assert.equal(await npm.start(before, 'apps/s', ...WORKSPACE), PRINTED);
  const asked = npm.registry.requests.length;
  const after = await artifactOf({
    dependencies: { other: '2.0.0', peered: '1.0.0' },
    devDependencies: { extra: '1.0.0' },
  });
  assert.deepEqual(after, before);
  const during = npm.registry.requests.length;
  assert.ok(during > asked);
  assert.equal(await npm.start(after, 'apps/s', ...WORKSPACE, '--offline'), PRINTED);
  assert.equal(npm.registry.requests.length, during);
});

test('a hoist that moves is a change', async (t) => {
  const npm = await npmOf(t);
  const keyOf = async (leaf: string): Promise<string> => {
    const root = { name: 'root', workspaces: ['apps/*', 'libs/*'], devDependencies: { leaf } };
    const files = { ...REPOSITORY, 'package.json': manifest(root) };
    return readLock(await npm.lock(files))
      .slice('apps/s', workspacesIn(files))
      .text();
  };
  const [one, two] = [await keyOf('^1.0.0'), await keyOf('2.0.0')];
  assert.ok(!one.includes('"node_modules/a/node_modules/leaf"'));
  assert.ok(two.includes('"node_modules/a/node_modules/leaf"'));
});

test('a public package in place of the workspace of its name is refused', async (t) => {
  const npm = await npmOf(t);
  const app = manifest({ name: '@x/s', dependencies: { lib: '^9.0.0' } });
  const files = { ...REPOSITORY, 'apps/s/package.json': app };
  const slice = readLock(await npm.lock(files)).slice('apps/s', workspacesIn(files));
  assert.deepEqual(slice.workspaces, []);
  assert.match(
    slice.problems.join(),
    /apps\/s depends on lib@\^9\.0\.0, and lib is the workspace libs\/lib, but/,
  );
});

test('a project at the root installs the workspaces that it holds, and no other', async (t) => {
  const npm = await npmOf(t);
  const files = {
    ...REPOSITORY,
    'index.js': program('root', ['tool', 't', 'lib']),
    'apps/t/index.js': program('t', ['third', 'other']),
  };
  const slice = readLock(await npm.lock(files)).slice('.', workspacesIn(files), ['apps/t']);
  assert.deepEqual(slice.workspaces, ['apps/t']);
  const {
    'apps/s/package.json': _s,
    'libs/lib/package.json': _lib,
    ...artifact
  } = shipped(files, '.', slice);
  const all = { ...files, ...artifact };
  assert.equal(
    await npm.start(all, '.'),
    'root(tool 1.0.0(leaf 1.1.0))(t(third 1.0.0)(other 1.0.0(leaf 1.1.0)))(no lib)\n',
  );
});
