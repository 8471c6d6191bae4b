import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ManifestFile } from '../../../agent/dependencies/manifests.ts';
import { planDependencies, type DependencyPlan, type Install } from '../../../agent/dependencies/plan.ts';

const lock = (packages: object = { '': {}, 'node_modules/a': { version: '1.0.0' } }): string =>
  JSON.stringify({ lockfileVersion: 3, packages });
const manifest = (fields: object = {}): string => JSON.stringify({ name: 'web', ...fields });

const plan = (files: Readonly<Record<string, string>>, project = '.'): DependencyPlan =>
  planDependencies(
    project,
    Object.entries(files).map(([path, text]): ManifestFile => ({ path, text })),
  );

function installOf(files: Readonly<Record<string, string>>, project = '.'): Install {
  const planned = plan(files, project);
  assert.ok(planned.kind !== 'none' && planned.kind !== 'unusable', JSON.stringify(planned));
  return planned;
}

const pnpmLock = (importers: object, packages: object = {}): string =>
  JSON.stringify({ lockfileVersion: '9.0', importers, packages });
const berryLock = '# made by yarn\n\n__metadata:\n  version: 8\n';
const workspaceFiles = {
  'package.json': manifest({ workspaces: ['apps/*', 'libs/*', '!libs/old'] }),
  'apps/web/package.json': manifest(),
  'libs/x/package.json': manifest({ name: 'x' }),
  'libs/old/package.json': manifest({ name: 'old' }),
};

describe('how', () => {
  const local = { '': {}, 'node_modules/lib': { link: true, resolved: 'libs/lib' } };
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['no manifest', {}, 'none'],
    ['a manifest without dependencies', { 'package.json': manifest() }, 'none'],
    ['a lockfile', { 'package.json': manifest(), 'package-lock.json': lock() }, 'link'],
    [
      'a lockfile with workspace links',
      { 'package.json': manifest(), 'package-lock.json': lock(local) },
      'copy',
    ],
    [
      'a lockfile with a packed file',
      { 'package-lock.json': lock({ 'node_modules/x': { resolved: 'file:x.tgz' } }) },
      'copy',
    ],
    [
      'scripts of the artifact at install',
      {
        'package.json': manifest({ scripts: { postinstall: 'patch-package' } }),
        'package-lock.json': lock(),
      },
      'inPlace',
    ],
    [
      'other scripts',
      { 'package.json': manifest({ scripts: { test: 'x' } }), 'package-lock.json': lock() },
      'link',
    ],
    ['no lockfile', { 'package.json': manifest({ dependencies: { a: '1' } }) }, 'unusable'],
    ['an empty lockfile of pnpm', { 'package.json': manifest(), 'pnpm-lock.yaml': '' }, 'unusable'],
    [
      'a lockfile of pnpm',
      { 'pnpm-lock.yaml': pnpmLock({ '.': { dependencies: { a: { version: '1' } } } }) },
      'link',
    ],
    [
      'one with links',
      { 'pnpm-lock.yaml': pnpmLock({ web: { dependencies: { x: { version: 'link:../libs/x' } } } }) },
      'copy',
    ],
    [
      'one with a link that leaves the folder',
      { 'pnpm-lock.yaml': pnpmLock({ '.': { dependencies: { x: { version: 'link:../libs/x' } } } }) },
      'inPlace',
    ],
    [
      'one with a copy of a folder',
      {
        'pnpm-lock.yaml': pnpmLock({}, { 'x@file:x': { resolution: { directory: 'x', type: 'directory' } } }),
      },
      'copy',
    ],
    ['a lockfile of yarn 1', { 'package.json': manifest(), 'yarn.lock': '# yarn lockfile v1\n' }, 'link'],
    ['one with workspaces', { ...workspaceFiles, 'yarn.lock': '# yarn lockfile v1\n' }, 'copy'],
    ['a lockfile of yarn 4', { 'package.json': manifest(), 'yarn.lock': berryLock }, 'copy'],
    [
      'one with node_modules',
      { 'package.json': manifest(), 'yarn.lock': berryLock, '.yarnrc.yml': 'nodeLinker: node-modules' },
      'link',
    ],
    [
      'one with a store of its own',
      { 'package.json': manifest(), 'yarn.lock': berryLock, '.yarnrc.yml': 'nodeLinker: pnpm' },
      'unusable',
    ],
    ['a lockfile of bun', { 'package.json': manifest(), 'bun.lock': '{}' }, 'unusable'],
    [
      'a lockfile of npm 6',
      { 'package-lock.json': JSON.stringify({ lockfileVersion: 1, dependencies: {} }) },
      'unusable',
    ],
    ['a lockfile that is no JSON', { 'package-lock.json': '<<<<<<< HEAD' }, 'unusable'],
  ];
  for (const [name, files, kind] of rows) test(name, () => assert.equal(plan(files).kind, kind));
});

test('the nearest lockfile upwards counts, and only what lies below it', () => {
  const files = {
    'package-lock.json': lock(),
    'apps/package-lock.json': lock(),
    'apps/web/package.json': manifest(),
  };
  const planned = installOf(files, 'apps/web');
  assert.equal(planned.kind, 'link');
  assert.equal(planned.folder, 'apps');
  assert.equal(planned.project, 'web');
  assert.deepEqual(
    planned.manifests.map(({ path }) => path),
    ['package-lock.json', 'web/package.json'],
  );
});

test('of several lockfiles in a folder that of packageManager counts, with its version', () => {
  const files = { 'package-lock.json': lock(), 'pnpm-lock.yaml': pnpmLock({}), 'yarn.lock': berryLock };
  assert.equal(installOf(files).manager, 'npm');
  const named = (packageManager: string): Install =>
    installOf({ ...files, 'package.json': manifest({ packageManager }) });
  const { manager, wanted } = named('pnpm@9.1.0+sha512.abc');
  assert.deepEqual({ manager, wanted }, { manager: 'pnpm', wanted: '9.1.0' });
  assert.equal(named('yarn@4.1.0').manager, 'berry');
});

test('a project below a workspace installs what the workspace asks for', () => {
  const files = { ...workspaceFiles, 'package-lock.json': lock(), 'apps/web/infra/index.ts': '' };
  assert.equal(installOf(files, 'apps/web/infra').project, 'apps/web');
  assert.equal(installOf(files, 'tools').project, '.');
});

test('workspaces are those that the globs of the root name', () => {
  const planned = installOf({ ...workspaceFiles, 'yarn.lock': '# yarn lockfile v1\n' }, 'apps/web');
  assert.deepEqual(planned.workspaces, ['apps/web', 'libs/x']);
});
