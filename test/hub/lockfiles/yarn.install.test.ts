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
