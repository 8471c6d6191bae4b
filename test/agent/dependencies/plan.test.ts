import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  planDependencies,
  type DependencyPlan,
  type ManifestFile,
} from '../../../agent/dependencies/plan.ts';

const machine = { node: 'v24.1.0', platform: 'linux-x64', npm: '11.0.0' };
const lock = (packages: object = { '': {}, 'node_modules/a': { version: '1.0.0' } }): string =>
  JSON.stringify({ lockfileVersion: 3, packages });
const manifest = (fields: object = {}): string => JSON.stringify({ name: 'web', ...fields });

const plan = (
  files: Readonly<Record<string, string>>,
  project = '.',
  change: Partial<typeof machine> = {},
): DependencyPlan =>
  planDependencies(
    project,
    Object.entries(files).map(([path, text]): ManifestFile => ({ path, text })),
    { ...machine, ...change },
  );

const keyOf = (planned: DependencyPlan): string => ('key' in planned ? planned.key : planned.kind);

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
    ['a lockfile of pnpm', { 'package.json': manifest(), 'pnpm-lock.yaml': '' }, 'unusable'],
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
  const planned = plan(files, 'apps/web');
  assert.ok(planned.kind === 'link');
  assert.equal(planned.folder, 'apps');
  assert.deepEqual(
    planned.manifests.map(({ path }) => path),
    ['package-lock.json', 'web/package.json'],
  );
  assert.equal(keyOf(plan({ ...files, 'package.json': manifest() }, 'apps/web')), planned.key);
});

test('everything that decides what is installed is in the key', () => {
  const files = { 'package.json': manifest(), 'package-lock.json': lock(), '.npmrc': 'a=1' };
  const keys = [
    plan(files),
    plan({ ...files, 'package.json': manifest({ version: '2' }) }),
    plan({ ...files, 'package-lock.json': lock({}) }),
    plan({ ...files, '.npmrc': 'a=2' }),
    plan(files, '.', { node: 'v25.0.0' }),
    plan(files, '.', { platform: 'linux-arm64' }),
    plan(files, '.', { npm: '12.0.0' }),
  ].map(keyOf);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(keyOf(plan(Object.fromEntries(Object.entries(files).reverse()))), keys[0]);
});
