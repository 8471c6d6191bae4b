import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { Lockfile, Slice } from '../../../hub/lockfiles/lockfile.ts';
import { pnpmLock } from '../../../hub/lockfiles/pnpm.ts';
import { cutPnpmWorkspace } from '../../../hub/lockfiles/pnpmworkspace.ts';
import { cutRootManifest } from '../../../hub/lockfiles/rootmanifest.ts';
import { layOut, managersOf } from '../../harness/managers.ts';
import type { Owner } from '../../harness/owned.ts';
import { startRegistry, tarballOf, type Registry } from '../../harness/registry.ts';
import { tempFolder } from '../../harness/temp.ts';
import { made, manifest, PACKAGES, program, type Files } from './packages.ts';
import { workspacesIn } from './yarnproject.ts';

type Contents = Readonly<Record<string, string | Uint8Array>>;

const PATCHED = made('patched', '1.0.0').files?.['index.js'] ?? '';
const patchOf = (file: string, from: string, to: string): string => {
  const lines = file.trimEnd().split('\n');
  const changed = lines.flatMap((line) =>
    line.includes(from) ? [`-${line}`, `+${line.replace(from, to)}`] : [` ${line}`],
  );
  const range = `1,${lines.length}`;
  return `diff --git a/index.js b/index.js\n--- a/index.js\n+++ b/index.js\n@@ -${range} +${range} @@\n${changed.join('\n')}\n`;
};

const SETTINGS = (more = ''): string => `# what the workspaces share
packages: [apps/*, libs/*]
catalog:
  a: ^1.0.0
  other: ${more === '' ? '1.0.0' : '2.0.0'}
catalogs:
  two: { leaf: 2.0.0 }
overrides:
  third: 1.0.0
  a>leaf: 1.0.0
patchedDependencies:
  patched@1.0.0: patches/patched.patch
${more}`;

const REPOSITORY: Files = {
  'package.json': manifest({ name: 'root', private: true, devDependencies: { tool: '1.0.0' } }),
  'pnpm-workspace.yaml': SETTINGS(),
  'patches/patched.patch': patchOf(PATCHED, 'patched 1.0.0', 'patched by hand'),
  'patches/other.patch': patchOf(made('other', '2.0.0').files?.['index.js'] ?? '', 'other 2.0.0', 'another'),
  'apps/s/package.json': manifest({
    name: '@x/s',
    dependencies: {
      a: 'catalog:',
      lib: 'workspace:*',
      boxed: 'file:../../vendor/boxed',
      archived: 'file:../../vendor/archived.tgz',
      patched: '1.0.0',
      inj: 'workspace:*',
      alias: 'npm:leaf@1.0.0',
    },
    devDependencies: { peered: '1.0.0', leaf: 'catalog:two' },
    optionalDependencies: { foreign: '1.0.0', extra: '1.0.0' },
    dependenciesMeta: { inj: { injected: true } },
  }),
  'apps/s/index.js': program('s', [
    ...[
      'a',
      'lib',
      'boxed',
      'archived',
      'patched',
      'inj',
      'alias',
      'peered',
      'leaf',
      'foreign',
      'extra',
      'third',
    ],
  ]),
  'libs/lib/package.json': manifest({ name: 'lib', dependencies: { deep: 'workspace:^' } }),
  'libs/lib/index.js': program('the workspace lib', ['deep']),
  'libs/deep/package.json': manifest({ name: 'deep', dependencies: { leaf: '^2.0.0' } }),
  'libs/deep/index.js': program('the workspace deep', ['leaf']),
  'libs/inj/package.json': manifest({
    name: 'inj',
    dependencies: { deep: 'workspace:*' },
    peerDependencies: { a: '*' },
  }),
  'libs/inj/index.js': program('injected', ['deep', 'a']),
  'vendor/boxed/package.json': manifest({ name: 'boxed', dependencies: { leaf: '1.1.0' } }),
  'vendor/boxed/index.js': program('boxed', ['leaf']),
  'apps/t/package.json': manifest({ name: 't', dependencies: { other: 'catalog:', third: '1.0.0' } }),
};
const DEEP = '(the workspace deep(leaf 2.0.0))';
const A = '(a 1.1.0(leaf 1.0.0))';
const PRINTED =
  `s${A}(the workspace lib${DEEP})(boxed(leaf 1.1.0))(archived)(patched by hand)(injected${DEEP}${A})` +
  `(leaf 1.0.0)(peered 1.0.0${A})(leaf 2.0.0)(no foreign)(extra 1.0.0(leaf 2.0.0))(no third)\n`;

interface Pnpm {
  readonly registry: Registry;
  lock(files: Contents): Promise<string>;
  /** Installs an artifact and resolves to what the program of a folder prints. */
  start(artifact: Contents, folder: string, ...args: readonly string[]): Promise<string>;
}

const archive = async (): Promise<Contents> => ({
  'vendor/archived.tgz': await tarballOf({
    'package.json': manifest({ name: 'archived' }),
    'index.js': program('archived', []),
  }),
});

async function pnpmOf(owner: Owner): Promise<Pnpm> {
  const registry = await startRegistry(owner, PACKAGES);
  const run = await managersOf(owner, registry);
  return {
    registry,
    lock: async (files) => {
      const folder = await tempFolder(owner, 'pnpm');
      await layOut(folder, files);
      await run(folder, 'pnpm', 'install', '--lockfile-only', '--no-frozen-lockfile');
      return readFile(join(folder, 'pnpm-lock.yaml'), 'utf8');
    },
    start: async (artifact, folder, ...args) => {
      const root = await tempFolder(owner, 'artifact');
      await layOut(root, artifact);
      await run(root, 'pnpm', 'install', '--frozen-lockfile', ...args);
      return run(root, 'node', join(folder, 'index.js'));
    },
  };
}

function readLock(text: string): Lockfile {
  const read = pnpmLock.parse(Buffer.from(text));
  if (read.kind === 'whole') throw new Error(read.why);
  return read.lockfile;
}

function shipped(files: Contents, folder: string, slice: Slice): Contents {
  const settings = cutPnpmWorkspace(String(files['pnpm-workspace.yaml'] ?? ''), { folder, slice });
  const wanted = [folder, ...slice.workspaces, ...slice.paths, ...settings.paths];
  const kept = Object.entries(files).filter(([path]) =>
    wanted.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  return {
    ...Object.fromEntries(kept),
    'package.json': cutRootManifest(String(files['package.json'] ?? ''), { folder, slice }).text,
    'pnpm-workspace.yaml': settings.text,
    'pnpm-lock.yaml': slice.text(),
  };
}

test('pnpm installs a workspace from its slice alone', async (t) => {
  const pnpm = await pnpmOf(t);
  const files = { ...REPOSITORY, ...(await archive()) };
  const slice = readLock(await pnpm.lock(files)).slice('apps/s', workspacesIn(REPOSITORY));
  assert.deepEqual(slice.problems, []);
  assert.deepEqual(slice.workspaces, ['libs/deep', 'libs/inj', 'libs/lib']);
  assert.deepEqual(slice.paths, ['vendor/archived.tgz', 'vendor/boxed']);
  const artifact = shipped(files, 'apps/s', slice);
  assert.ok('patches/patched.patch' in artifact);
  assert.equal(await pnpm.start(artifact, 'apps/s'), PRINTED);
});

test('what another workspace depends on changes no byte, and the artifact installs from the store', async (t) => {
  const pnpm = await pnpmOf(t);
  const artifactOf = async (settings: string, other: object): Promise<Contents> => {
    const files = {
      ...REPOSITORY,
      ...(await archive()),
      'pnpm-workspace.yaml': settings,
      'apps/t/package.json': manifest({ name: 't', ...other }),
    };
    const slice = readLock(await pnpm.lock(files)).slice('apps/s', workspacesIn(REPOSITORY));
    return shipped(files, 'apps/s', slice);
  };
  const before = await artifactOf(SETTINGS(), { dependencies: { other: 'catalog:', third: '1.0.0' } });
  assert.equal(await pnpm.start(before, 'apps/s'), PRINTED);
  const settings = SETTINGS('  other@2.0.0: patches/other.patch\n');
  const after = await artifactOf(settings, { dependencies: { other: 'catalog:', extra: '1.0.0' } });
  assert.deepEqual(after, before);
  const asked = pnpm.registry.requests.length;
  assert.equal(await pnpm.start(after, 'apps/s', '--offline'), PRINTED);
  assert.equal(pnpm.registry.requests.length, asked);
});

test('a catalog entry, an override and a patch that a workspace uses change its slice', async (t) => {
  const pnpm = await pnpmOf(t);
  const textOf = async (from: string, to: string): Promise<string> => {
    const settings = SETTINGS().replace(from, to);
    const files = { ...REPOSITORY, ...(await archive()), 'pnpm-workspace.yaml': settings };
    return readLock(await pnpm.lock(files))
      .slice('apps/s', workspacesIn(REPOSITORY))
      .text();
  };
  const before = await textOf('', '');
  assert.notEqual(await textOf('a: ^1.0.0', 'a: 1.0.0'), before);
  assert.notEqual(await textOf('a>leaf: 1.0.0', 'a>leaf: 1.1.0'), before);
  assert.notEqual(await textOf('  patched@1.0.0: patches/patched.patch', '  {}'), before);
  assert.equal(await textOf('other: 1.0.0', 'other: 2.0.0'), before);
});

test('a public package in place of the workspace of its name is refused', async (t) => {
  const pnpm = await pnpmOf(t);
  const app = manifest({ name: '@x/s', dependencies: { lib: '^9.0.0' } });
  const files = {
    ...REPOSITORY,
    'apps/s/package.json': app,
    'pnpm-workspace.yaml': 'packages: [apps/*, libs/*]\n',
  };
  const other = manifest({ name: 't' });
  const slice = readLock(await pnpm.lock({ ...files, 'apps/t/package.json': other })).slice(
    'apps/s',
    workspacesIn(files),
  );
  assert.deepEqual(slice.workspaces, []);
  assert.match(
    slice.problems.join(),
    /apps\/s depends on lib@\^9\.0\.0, and lib is the workspace libs\/lib, but/,
  );
});

test('a project at the root installs the workspaces that it holds, and no other', async (t) => {
  const pnpm = await pnpmOf(t);
  const files = {
    ...REPOSITORY,
    ...(await archive()),
    'index.js': program('root', ['tool', './apps/t', 'lib']),
    'apps/t/index.js': program('t', ['third', 'other']),
  };
  const lock = readLock(await pnpm.lock(files));
  const alone = lock.slice('.', workspacesIn(REPOSITORY));
  assert.deepEqual(alone.workspaces, []);
  assert.equal(
    await pnpm.start({ ...files, ...shipped(files, '.', alone) }, '.'),
    'root(tool 1.0.0(leaf 1.1.0))(t(no third)(no other))(no lib)\n',
  );
  const both = lock.slice('.', workspacesIn(REPOSITORY), ['apps/t']);
  assert.equal(
    await pnpm.start({ ...files, ...shipped(files, '.', both) }, '.'),
    'root(tool 1.0.0(leaf 1.1.0))(t(third 1.0.0)(other 1.0.0(leaf 1.1.0)))(no lib)\n',
  );
});
