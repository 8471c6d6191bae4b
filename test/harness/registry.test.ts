import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { layOut, managersOf, type Manager } from './managers.ts';
import { startRegistry, type MadePackage } from './registry.ts';
import { tempFolder } from './temp.ts';

const packages: readonly MadePackage[] = [
  { name: 'leaf', version: '1.0.0' },
  { name: 'leaf', version: '1.10.0' },
  { name: 'leaf', version: '1.9.0' },
  {
    name: '@scope/tool',
    version: '2.0.0',
    dependencies: { leaf: '^1.0.0' },
    bin: { tool: 'tool.js' },
    files: {
      'tool.js': '#!/usr/bin/env node\nconsole.log(require("leaf"));\n',
      'index.js': 'exports.tool = 1;\n',
    },
  },
];

interface Install {
  readonly first: readonly string[];
  /** From the lockfile and the cache that the first one left. */
  readonly again: readonly string[];
}

const installs: Readonly<Partial<Record<Manager, Install>>> = {
  npm: { first: ['install'], again: ['ci', '--offline'] },
  pnpm: { first: ['install', '--no-frozen-lockfile'], again: ['install', '--frozen-lockfile', '--offline'] },
  yarn1: { first: ['install'], again: ['install', '--frozen-lockfile', '--offline'] },
  yarn4: { first: ['install'], again: ['install', '--immutable'] },
};
for (const [manager, { first, again }] of Object.entries(installs) as [Manager, Install][])
  test(`${manager} installs from the registry, and once more from its cache`, async (t) => {
    const registry = await startRegistry(t, packages);
    const run = await managersOf(t, registry);
    const folder = await tempFolder(t);
    const manifest = { name: 'root', version: '1.0.0', dependencies: { '@scope/tool': '2.0.0' } };
    const settings =
      manager === 'yarn4' ? { '.yarnrc.yml': 'nodeLinker: node-modules\n', 'yarn.lock': '' } : {};
    await layOut(folder, { 'package.json': JSON.stringify(manifest), ...settings });
    for (const [round, args] of [first, again].entries()) {
      const before = registry.requests.length;
      await run(folder, manager, ...args);
      assert.equal(registry.requests.length > before, round === 0);
      assert.equal(await run(folder, 'node', 'node_modules/@scope/tool/tool.js'), 'leaf@1.10.0\n');
      await rm(join(folder, 'node_modules'), { recursive: true });
    }
  });

test('equal packages have equal checksums in every registry, whatever else is published', async (t) => {
  const [one, other] = [await startRegistry(t, packages), await startRegistry(t)];
  await other.publish({ name: 'other', version: '1.0.0' }, ...packages);
  const dist = async (url: string): Promise<unknown> => {
    const packument = (await (await fetch(`${url}@scope%2ftool`)).json()) as {
      versions: Record<string, { dist: Record<string, string> }>;
    };
    const { integrity, shasum } = packument.versions['2.0.0']?.dist ?? {};
    return { integrity, shasum };
  };
  assert.deepEqual(await dist(one.url), await dist(other.url));
});

test('the highest version is the latest, and what was not published is not found', async (t) => {
  const registry = await startRegistry(t, packages);
  const packument = (await (await fetch(`${registry.url}leaf`)).json()) as { 'dist-tags': unknown };
  assert.deepEqual(packument['dist-tags'], { latest: '1.10.0' });
  for (const path of ['absent', 'leaf/-/leaf-3.0.0.tgz', 'leaf/-/leaf', '-/npm/v1/security/audits'])
    assert.equal((await fetch(registry.url + path)).status, 404, path);
});
