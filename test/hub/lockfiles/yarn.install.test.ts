import assert from 'node:assert/strict';
import test from 'node:test';
import type { MadePackage } from '../../harness/registry.ts';
import { projectOf, readLock, shipped, workspacesIn, type Files } from './yarnproject.ts';

const calls = (name: string, version: string, ...names: readonly string[]): MadePackage => ({
  name,
  version,
  dependencies: Object.fromEntries(names.map((one) => one.split('@') as [string, string])),
  files: {
    'index.js': `module.exports = [${JSON.stringify(`${name} ${version}`)}, ${names
      .map((one) => `...[require(${JSON.stringify(one.split('@')[0])})].flat()`)
      .join(', ')}];\n`,
  },
});

const PACKAGES: readonly MadePackage[] = [
  calls('leaf', '1.0.0'),
  calls('leaf', '1.1.0'),
  calls('leaf', '2.0.0'),
  calls('a', '1.0.0', 'leaf@^1.0.0'),
  { ...calls('peer', '1.0.0', 'leaf@^2.0.0'), peerDependencies: { a: '*' } },
  { ...calls('foreign', '1.0.0'), os: ['nowhere'] },
  calls('tool', '1.0.0'),
  calls('other', '1.0.0', 'leaf@1.0.0'),
  calls('lib', '9.0.0'),
  calls('resolve', '1.22.0'),
  // yarn 4 adds a dependency to this one of its own accord
  calls('got', '10.0.0'),
  calls('@types/responselike', '1.0.0'),
  calls('@types/keyv', '3.1.4'),
];

const manifest = (fields: object): string => JSON.stringify({ version: '1.0.0', ...fields });
const prints = (...names: readonly string[]): string =>
  `console.log([${names.map((name) => `require(${JSON.stringify(name)})`).join(', ')}].flat().join('; '));\n`;

/** What every kind of yarn is given: the app links a library that links another, and a stranger is beside them. */
const repository = (root: object): Files => ({
  'package.json': manifest({
    name: 'root',
    private: true,
    workspaces: ['app', 'libs/*', 'stranger', 'gone'],
    dependencies: { tool: '1.0.0' },
    ...root,
  }),
  'app/package.json': manifest({
    name: 'app',
    dependencies: { a: '^1.0.0', lib: '^1.0.0', boxed: 'file:../vendor/boxed' },
    devDependencies: { peer: '1.0.0' },
    optionalDependencies: { foreign: '1.0.0' },
  }),
  'app/index.js': prints('a', 'lib', 'boxed', 'peer'),
  'libs/lib/package.json': manifest({ name: 'lib', dependencies: { deep: '1.0.0' } }),
  'libs/lib/index.js': 'module.exports = ["the workspace lib", ...require("deep")];\n',
  'libs/deep/package.json': manifest({ name: 'deep', dependencies: { leaf: '1.1.0' } }),
  'libs/deep/index.js': 'module.exports = ["the workspace deep", ...require("leaf")];\n',
  'vendor/boxed/package.json': manifest({ name: 'boxed', dependencies: { leaf: '^2.0.0' } }),
  'vendor/boxed/index.js': 'module.exports = ["boxed", ...require("leaf")];\n',
  'stranger/package.json': manifest({ name: 'stranger', dependencies: { other: '1.0.0', a: '1.x' } }),
});
const PRINTED =
  'a 1.0.0; leaf 1.1.0; the workspace lib; the workspace deep; leaf 1.1.0; boxed; leaf 2.0.0; peer 1.0.0; leaf 2.0.0';

const SETTINGS: Readonly<Record<string, { manager: 'yarn1' | 'yarn4'; files: Files }>> = {
  'yarn 1': { manager: 'yarn1', files: {} },
  'yarn 4 with node_modules': {
    manager: 'yarn4',
    files: { '.yarnrc.yml': 'nodeLinker: node-modules\n' },
  },
  'yarn 4 with PnP': { manager: 'yarn4', files: {} },
};

for (const [name, { manager, files: settings }] of Object.entries(SETTINGS)) {
  test(`${name} installs a workspace from the cut lockfile alone`, async (t) => {
    const project = await projectOf(t, manager, PACKAGES);
    const files = { ...repository({}), ...settings };
    const slice = readLock(await project.lock(files)).slice('app', workspacesIn(files));
    assert.deepEqual(slice.problems, []);
    assert.deepEqual(slice.workspaces, ['libs/deep', 'libs/lib']);
    assert.deepEqual(slice.paths, ['vendor/boxed']);
    assert.doesNotMatch(slice.text(), /other|stranger|1\.x/);
    assert.equal(await project.start(shipped(files, slice, 'app'), 'app'), PRINTED);
  });
}

const PATCH = [
  'diff --git a/index.js b/index.js',
  '--- a/index.js',
  '+++ b/index.js',
  '@@ -1,1 +1,1 @@',
  '-module.exports = ["tool 1.0.0", ];',
  '+module.exports = ["tool patched"];',
  '',
].join('\n');

interface Variant {
  readonly title: string;
  readonly manager: 'yarn1' | 'yarn4';
  readonly root?: object;
  readonly app: object;
  readonly files?: Files;
  readonly calls: readonly string[];
  readonly prints: string;
  readonly paths?: readonly string[];
}

const VARIANTS: readonly Variant[] = [
  {
    title: 'yarn 1 resolutions, of a name and of a path',
    manager: 'yarn1',
    root: { resolutions: { leaf: '1.0.0', '**/peer/leaf': '2.0.0', other: '1.0.0' } },
    app: { dependencies: { a: '^1.0.0', peer: '1.0.0' } },
    calls: ['a', 'peer'],
    prints: 'a 1.0.0; leaf 1.0.0; peer 1.0.0; leaf 1.0.0',
  },
  {
    title: 'a folder that yarn 1 links',
    manager: 'yarn1',
    app: { dependencies: { linked: 'link:../vendor/linked', renamed: 'npm:leaf@^1.0.0' } },
    files: { 'vendor/linked/index.js': 'module.exports = "linked";\n' },
    calls: ['linked', 'renamed'],
    prints: 'linked; leaf 1.1.0',
    paths: ['vendor/linked'],
  },
  {
    title: 'yarn 4 resolutions',
    manager: 'yarn4',
    root: { resolutions: { 'a/leaf': '1.0.0', 'leaf@npm:^2.0.0': '1.1.0', 'other/leaf': '2.0.0' } },
    app: { dependencies: { a: '^1.0.0', peer: '1.0.0', leaf: '1.x' } },
    calls: ['a', 'peer', 'leaf'],
    prints: 'a 1.0.0; leaf 1.0.0; peer 1.0.0; leaf 1.1.0; leaf 1.1.0',
  },
  {
    title: 'patches of yarn 4, of a dependency and by a resolution',
    manager: 'yarn4',
    root: { resolutions: { 'tool@npm:1.0.0': 'patch:tool@npm%3A1.0.0#./patches/tool.patch' } },
    app: { dependencies: { tool: '1.0.0', leaf: 'patch:leaf@npm%3A1.0.0#../patches/leaf.patch' } },
    files: {
      'patches/tool.patch': PATCH,
      'patches/leaf.patch': PATCH.replaceAll('tool', 'leaf'),
      'patches/other.patch': PATCH,
    },
    calls: ['tool', 'leaf'],
    prints: 'tool patched; leaf patched',
    paths: ['patches/leaf.patch', 'patches/tool.patch'],
  },
  {
    title: 'a patch in yarn 4’s own folder',
    manager: 'yarn4',
    app: { dependencies: { tool: 'patch:tool@npm%3A1.0.0#~/.yarn/patches/tool.patch' } },
    files: { '.yarn/patches/tool.patch': PATCH, '.yarn/patches/other.patch': PATCH },
    calls: ['tool'],
    prints: 'tool patched',
    paths: ['.yarn/patches/tool.patch'],
  },
  {
    title: 'packages that yarn 4 patches by itself',
    manager: 'yarn4',
    app: { dependencies: { resolve: '^1.0.0' } },
    calls: ['resolve'],
    prints: 'resolve 1.22.0',
  },
  {
    title: 'folders of other managers: portals and links of yarn 4',
    manager: 'yarn4',
    app: { dependencies: { portal: 'portal:../vendor/portal', linked: 'link:../vendor/linked' } },
    files: {
      'vendor/portal/package.json': manifest({ name: 'portal', dependencies: { boxed: 'file:../boxed' } }),
      'vendor/portal/index.js': 'module.exports = ["portal", ...require("boxed")];\n',
      'vendor/linked/index.js': 'module.exports = "linked";\n',
    },
    calls: ['portal', 'linked'],
    prints: 'portal; boxed; leaf 2.0.0; linked',
    paths: ['vendor/boxed', 'vendor/linked', 'vendor/portal'],
  },
  {
    title: 'catalogs and extensions of .yarnrc.yml',
    manager: 'yarn4',
    app: { dependencies: { a: 'catalog:', other: 'catalog:old' } },
    files: {
      '.yarnrc.yml': [
        'catalog:\n  a: ^1.0.0\n  peer: 1.0.0',
        'catalogs:\n  old:\n    other: 1.0.0',
        'packageExtensions:\n  a@*:\n    dependencies:\n      tool: 1.0.0\n  peer@2:\n    dependencies:\n      lib: 9.0.0\n',
      ].join('\n'),
    },
    calls: ['a', 'other'],
    prints: 'a 1.0.0; leaf 1.1.0; other 1.0.0; leaf 1.0.0',
  },
];

for (const {
  title,
  manager,
  root = {},
  app,
  files: more = {},
  calls: names,
  prints: printed,
  paths,
} of VARIANTS)
  test(`the cut lockfile installs ${title}`, async (t) => {
    const project = await projectOf(t, manager, PACKAGES);
    const files: Files = {
      ...repository({ dependencies: {}, ...root }),
      ...more,
      'app/package.json': manifest({ name: 'app', ...app }),
      'app/index.js': prints(...names),
    };
    const slice = readLock(await project.lock(files)).slice('app', workspacesIn(files));
    assert.deepEqual(slice.problems, []);
    assert.deepEqual(slice.paths, paths ?? []);
    assert.doesNotMatch(slice.text(), /stranger/);
    assert.equal(await project.start(shipped(files, slice, 'app'), 'app'), printed);
  });

test('a lockfile with dependencies that only yarn itself knows of is taken whole', async (t) => {
  const project = await projectOf(t, 'yarn4', PACKAGES);
  const files: Files = {
    ...repository({}),
    'app/package.json': manifest({ name: 'app', dependencies: { got: '10.0.0' } }),
    'app/index.js': prints('got'),
  };
  const lock = await project.lock(files);
  const slice = readLock(lock).slice('app', workspacesIn(files));
  assert.equal(slice.text(), lock);
  assert.deepEqual(slice.workspaces, ['libs/deep', 'libs/lib', 'stranger']);
  assert.equal(await project.start(shipped(files, slice, 'app'), 'app'), 'got 10.0.0');
});

test('archives that the repository holds install without the network', async (t) => {
  const project = await projectOf(t, 'yarn4', PACKAGES);
  const files = repository({});
  const slice = readLock(await project.lock(files)).slice('app', workspacesIn(files));
  const artifact = {
    ...shipped(files, slice, 'app'),
    ...(await project.left((slice.archives ?? []).filter((path) => !path.includes('boxed')))),
    '.yarnrc.yml': 'enableNetwork: false\n',
  };
  assert.equal(Object.keys(artifact).filter((path) => path.startsWith('.yarn/cache/')).length, 5);
  assert.equal(await project.start(artifact, 'app'), PRINTED);
});

test('yarn refuses a lockfile with more than the workspaces need', async (t) => {
  const project = await projectOf(t, 'yarn4', PACKAGES);
  const files = repository({});
  const lock = await project.lock(files);
  const slice = readLock(lock).slice('app', workspacesIn(files));
  await assert.rejects(
    project.start({ ...shipped(files, slice, 'app'), 'yarn.lock': lock }, 'app'),
    /lockfile would have been modified/,
  );
});

test('yarn 1 takes the public package of a workspace’s name, so the project is refused', async (t) => {
  const project = await projectOf(t, 'yarn1', PACKAGES);
  const files = {
    ...repository({}),
    'app/package.json': manifest({ name: 'app', dependencies: { lib: '^9.0.0' } }),
    'app/index.js': prints('lib'),
  };
  const slice = readLock(await project.lock(files)).slice('app', workspacesIn(files));
  assert.deepEqual(slice.problems, [
    'app/package.json depends on lib@^9.0.0, which the workspace libs/lib of that name (version 1.0.0) does not ' +
      'satisfy: yarn 1 would install the public package: make the range fit the workspace, or write ' +
      '“npm:lib@^9.0.0” if the public one is meant',
  ]);
  assert.equal(await project.start(shipped(files, slice, 'app'), 'app'), 'lib 9.0.0');
});

test('yarn 1 takes what the lockfile lacks from the registry, so the project is refused', async (t) => {
  const project = await projectOf(t, 'yarn1', PACKAGES);
  const files = {
    ...repository({}),
    'app/package.json': manifest({ name: 'app', dependencies: { a: '^1.0.0' } }),
    'app/index.js': prints('a'),
  };
  const blocks = (await project.lock(files)).split('\n\n').filter((block) => !/^leaf@.*\^1/.test(block));
  const slice = readLock(blocks.join('\n\n')).slice('app', workspacesIn(files));
  assert.deepEqual(slice.problems, [
    'yarn.lock has no package for leaf@^1.0.0: run “yarn install” and commit yarn.lock',
  ]);
  assert.equal(await project.start(shipped(files, slice, 'app'), 'app'), 'a 1.0.0; leaf 1.1.0');
});
