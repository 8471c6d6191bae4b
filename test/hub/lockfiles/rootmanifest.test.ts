import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { isPatchFor, patchFolder } from '../../../hub/lockfiles/patchpackage.ts';
import { cutPnpmWorkspace } from '../../../hub/lockfiles/pnpmworkspace.ts';
import { cutRootManifest } from '../../../hub/lockfiles/rootmanifest.ts';
import { subjectOf } from '../../../hub/lockfiles/rules.ts';
import { cutScripts } from '../../../hub/lockfiles/scripts.ts';
import { cutWorkspaces } from '../../../hub/lockfiles/workspaces.ts';

const slice = {
  packages: new Set(['foo', 'foo@1.0.0', '@o/bar', '@o/bar@2.0.0']),
  workspaces: ['libs/l'],
  catalogs: new Set(['["default","foo"]', '["two","@o/bar"]']),
};
const cut = { folder: 'apps/s', slice };

test('rules stay by the package that they are about', () => {
  const rows: Readonly<Record<string, string>> = {
    foo: 'foo',
    'foo@^1': 'foo',
    'foo@>=1 <2': 'foo',
    'foo@npm:^1': 'foo',
    'parent>vue': 'vue',
    'parent@1>@o/bar@>2': '@o/bar',
    'parent@>1>foo': 'foo',
    '**/foo': 'foo',
    'parent/@o/bar': '@o/bar',
    '@p/parent/foo': 'foo',
    '@o/bar@npm:1': '@o/bar',
    '.': '.',
  };
  for (const [rule, subject] of Object.entries(rows)) assert.equal(subjectOf(rule), subject, rule);
});

test('what an install reads of a root manifest stays, rules of other packages and what only people read go', () => {
  const whole = {
    name: 'root',
    version: '1.0.0',
    type: 'module',
    packageManager: 'npm@11.0.0',
    engines: { node: '>=20' },
    devDependencies: { tool: '1' },
    allowScripts: { other: true },
    unknown: { kept: true },
  };
  const { text, paths } = cutRootManifest(
    JSON.stringify({
      ...whole,
      description: 'words',
      repository: 'a',
      jest: {},
      scripts: {
        test: 'jest',
        postinstall: 'npm run gen',
        gen: 'node gen.js',
        pregen: 'true',
        'gen:all': 'x',
      },
      workspaces: ['apps/*', 'libs/*'],
      overrides: { foo: '1', other: '2', '@o/bar@2': { deep: '1' } },
      resolutions: { '**/other': '1' },
      pnpm: {
        overrides: { other: '1' },
        patchedDependencies: { 'foo@1.0.0': 'a', 'foo@2.0.0': 'b' },
        neverBuiltDependencies: [],
      },
    }),
    cut,
  );
  assert.deepEqual(JSON.parse(text), {
    ...whole,
    scripts: { postinstall: 'npm run gen', gen: 'node gen.js', pregen: 'true' },
    workspaces: ['apps/s', 'libs/l'],
    overrides: { foo: '1', '@o/bar@2': { deep: '1' } },
    pnpm: { patchedDependencies: { 'foo@1.0.0': 'a' }, neverBuiltDependencies: [] },
  });
  assert.deepEqual(paths, ['a']);
  assert.deepEqual(cutRootManifest('not JSON', cut), { text: 'not JSON', paths: [] });
});

test('scripts that may be named in ways that are not seen stay, and those that a build names', () => {
  const scripts = { prepare: 'run-s gen:*', 'gen:a': 'a', test: 'jest' };
  assert.deepEqual(cutScripts(scripts), scripts);
  assert.deepEqual(cutScripts({ build: 'tsc', test: 'jest' }, ['npm run build']), { build: 'tsc' });
  assert.equal(cutScripts({ test: 'jest' }), undefined);
  assert.equal(cutScripts(undefined), undefined);
});

test('workspaces are named one by one, unless a name would be a pattern', () => {
  assert.deepEqual(cutWorkspaces(['**'], ['b', '.', 'a', 'b']), ['a', 'b']);
  assert.deepEqual(cutWorkspaces(['apps/*'], ['apps/[a]']), ['apps/*']);
  assert.equal(cutWorkspaces(undefined, ['a']), undefined);
});

test('settings of pnpm stay but for catalogs, rules and patches of other packages', () => {
  const { text, paths } = cutPnpmWorkspace(
    `# words
packages: [apps/*, libs/*]
catalog: { foo: ^1, other: ^1, third: ^3 }
catalogs: { two: { '@o/bar': ^2, foo: ^2 }, three: { foo: ^3 } }
overrides: { foo: 'catalog:three', other: 'catalog:' }
packageExtensions: { x@1: { dependencies: { third: 'catalog:' } } }
patchedDependencies: { foo: ./patches/foo.patch, other@1.0.0: patches/other.patch }
nodeLinker: hoisted
onlyBuiltDependencies: [other]
`,
    cut,
  );
  assert.deepEqual(load(text), {
    packages: ['apps/s', 'libs/l'],
    catalog: { foo: '^1', third: '^3' },
    catalogs: { two: { '@o/bar': '^2' }, three: { foo: '^3' } },
    overrides: { foo: 'catalog:three' },
    packageExtensions: { 'x@1': { dependencies: { third: 'catalog:' } } },
    patchedDependencies: { foo: './patches/foo.patch' },
    nodeLinker: 'hoisted',
    onlyBuiltDependencies: ['other'],
  });
  assert.deepEqual(paths, ['patches/foo.patch']);
  assert.deepEqual(cutPnpmWorkspace('a: [', cut), { text: 'a: [', paths: [] });
  assert.deepEqual(
    load(cutPnpmWorkspace('packages: [x]', { folder: '.', slice: { ...slice, workspaces: [] } }).text),
    {
      packages: ['.'],
    },
  );
});

test('patches of patch-package come with the packages that they are for', () => {
  const folderOf = (scripts: object): string | undefined => patchFolder(JSON.stringify({ scripts }));
  assert.equal(folderOf({ postinstall: 'patch-package' }), 'patches');
  assert.equal(folderOf({ prepare: 'npm run p', p: 'patch-package --patch-dir ./fixes/' }), 'fixes');
  assert.equal(folderOf({ p: 'patch-package' }), undefined);
  assert.equal(folderOf({ postinstall: 'true' }), undefined);
  const rows: Readonly<Record<string, boolean>> = {
    'foo+1.0.0.patch': true,
    'foo+1.0.0+001+why.patch': true,
    'other+1.0.0.patch': false,
    '@o+bar+2.0.0.dev.patch': true,
    '@o+other+2.0.0.patch': false,
    'foo++@o+bar+2.0.0.patch': true,
    'other++foo+1.0.0.patch': false,
    'README.md': false,
  };
  for (const [file, is] of Object.entries(rows)) assert.equal(isPatchFor(file, slice.packages), is, file);
});
