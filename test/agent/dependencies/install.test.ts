import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { provideDependencies, type Need, type Provided } from '../../../agent/dependencies/install.ts';
import type { InstallMeans } from '../../../agent/dependencies/choose.ts';
import type { Program } from '../../../agent/dependencies/programs.ts';
import { tempFolder } from '../../harness/temp.ts';

interface Place {
  readonly root: string;
  readonly cache: string;
  readonly means: InstallMeans;
  readonly npm: Program;
  /** A work folder with these files. */
  need(files: Readonly<Record<string, string>>, project?: string): Promise<Need>;
  installs(): Promise<number>;
  provide(need: Need): Promise<Provided>;
}

/** npm's stand-in writes down that it was called and makes what npm would make. */
async function makePlace(
  t: TestContext,
  script = 'mkdir -p node_modules/a && echo a >node_modules/a/index.js',
): Promise<Place> {
  const root = await tempFolder(t, 'install');
  const cache = join(root, 'cache');
  await mkdir(cache);
  const npm = join(root, 'npm');
  await writeFile(npm, `#!/bin/sh\necho "$@" >>${root}/calls\n${script}\n`);
  await chmod(npm, 0o755);
  const means: InstallMeans = {
    programs: { npm: [{ command: [npm], version: '11.0.0' }], pnpm: [], yarn: [], corepack: undefined },
    path: ['/usr/bin', '/bin'],
    environment: {},
    home: undefined,
    caches: {
      npm: join(root, 'npm-cache'),
      pnpm: join(root, 'pnpm'),
      yarn: join(root, 'yarn'),
      pip: join(root, 'pip'),
    },
    user: undefined,
  };
  let works = 0;
  return {
    root,
    cache,
    means,
    npm: { command: [npm], version: '11.0.0' },
    need: async (files, project = '.') => {
      const work = join(root, `work-${++works}`);
      for (const [path, text] of Object.entries(files)) {
        await mkdir(join(work, path, '..'), { recursive: true });
        await writeFile(join(work, path), text);
      }
      return { work, project, marks: { TOWLINE_RUN: 'r' }, signal: new AbortController().signal };
    },
    installs: async () =>
      (await readFile(join(root, 'calls'), 'utf8').catch(() => '')).split('\n').length - 1,
    provide: (need) => provideDependencies(need, cache, means),
  };
}

const LOCK = JSON.stringify({
  lockfileVersion: 3,
  packages: { '': {}, 'node_modules/a': { version: '1.0.0' } },
});
const files = { 'package.json': '{"name":"web"}', 'package-lock.json': LOCK };

test('a second run with the same lockfile installs nothing and links the same folder', async (t) => {
  const place = await makePlace(t);
  const one = await place.need(files);
  const two = await place.need({ ...files, 'index.ts': 'changed' });
  assert.deepEqual(await place.provide(one), { kind: 'provided', installs: 1 });
  assert.deepEqual(await place.provide(two), { kind: 'provided', installs: 0 });
  assert.equal(await place.installs(), 1);
  assert.equal(
    await realpath(join(two.work, 'node_modules')),
    await realpath(join(one.work, 'node_modules')),
  );
  assert.deepEqual(await place.provide(await place.need({ ...files, '.npmrc': 'x=1' })), {
    kind: 'provided',
    installs: 1,
  });
});

test('runs that need the same at once install once', async (t) => {
  const place = await makePlace(t, 'sleep 0.3; mkdir -p node_modules/a');
  const needs = await Promise.all(Array.from({ length: 5 }, () => place.need(files)));
  const provided = await Promise.all(needs.map((need) => place.provide(need)));
  assert.equal(provided.filter((one) => one.kind === 'provided' && one.installs === 1).length, 1);
  assert.equal(await place.installs(), 1);
});

test('a failed install leaves nothing in the cache, and says what npm said', async (t) => {
  const place = await makePlace(t, 'mkdir node_modules; echo "npm error code E404"; exit 1');
  const provided = await place.provide(await place.need(files));
  assert.ok(provided.kind === 'failed');
  assert.match(provided.output, /E404/);
  assert.deepEqual(await readdir(place.cache), []);
});

test('what a killed installer left is no entry, and is removed', async (t) => {
  const place = await makePlace(t);
  await place.provide(await place.need(files));
  const [key = ''] = await readdir(place.cache);
  await mkdir(join(place.cache, `${'0'.repeat(64)}.abc123`));
  const other = await makePlace(t);
  await mkdir(join(other.cache, `${key}.abc123`, 'node_modules'), { recursive: true });
  assert.deepEqual(await other.provide(await other.need(files)), { kind: 'provided', installs: 1 });
  assert.deepEqual(await readdir(other.cache), [key]);
});

test('links into the artifact work in a copy: a workspace is the run’s own', async (t) => {
  const place = await makePlace(
    t,
    'mkdir -p node_modules/a apps/web/node_modules/b && ln -s ../libs/x node_modules/x',
  );
  const packages = { '': { workspaces: ['libs/*'] }, 'node_modules/x': { link: true, resolved: 'libs/x' } };
  const workspace = {
    'package.json': '{"name":"root"}',
    'package-lock.json': JSON.stringify({ lockfileVersion: 3, packages }),
    'libs/x/package.json': '{"name":"x"}',
    'apps/web/package.json': '{"name":"web"}',
  };
  await place.provide(await place.need({ ...workspace, 'libs/x/index.js': 'one' }, 'apps/web'));
  const second = await place.need({ ...workspace, 'libs/x/index.js': 'two' }, 'apps/web');
  assert.deepEqual(await place.provide(second), { kind: 'provided', installs: 0 });
  assert.equal(await readFile(join(second.work, 'node_modules/x/index.js'), 'utf8'), 'two');
  assert.ok((await stat(join(second.work, 'apps/web/node_modules/b'))).isDirectory());
  assert.equal(await place.installs(), 1);
});

test('scripts of the artifact run in its own folder, every time', async (t) => {
  const place = await makePlace(t, 'mkdir -p node_modules; ls index.ts');
  const scripted = { ...files, 'package.json': '{"scripts":{"prepare":"make"}}', 'index.ts': '' };
  assert.deepEqual(await place.provide(await place.need(scripted)), { kind: 'provided', installs: 1 });
  assert.deepEqual(await place.provide(await place.need(scripted)), { kind: 'provided', installs: 1 });
});

test('installed modules in the artifact are left alone; without npm the reason names it', async (t) => {
  const place = await makePlace(t);
  const vendored = await place.need({ ...files, 'node_modules/a/index.js': '' });
  assert.deepEqual(await place.provide(vendored), { kind: 'provided', installs: 0 });
  const nothing = { ...place.means.programs, npm: [] };
  const means = { ...place.means, programs: nothing };
  const without = await provideDependencies(await place.need(files), place.cache, means);
  assert.ok(without.kind === 'unusable' && /npm, which is not on the PATH/.test(without.why));
});

test('everything that decides what is installed makes a set of its own', async (t) => {
  const place = await makePlace(t);
  const base = { ...files, '.npmrc': 'a=1', 'patches/a.patch': 'one', '.pnpmfile.cjs': 'one' };
  const changes: readonly Readonly<Record<string, string>>[] = [
    {},
    { 'package.json': '{"name":"web","version":"2"}' },
    { 'package-lock.json': JSON.stringify({ lockfileVersion: 3, packages: {} }) },
    { '.npmrc': 'a=2' },
    { 'patches/a.patch': 'two' },
    { '.pnpmfile.cjs': 'two' },
    { 'vendor/x.tgz': 'packed' },
  ];
  for (const change of changes) {
    const need = await place.need({ ...base, ...change });
    assert.deepEqual(await place.provide(need), { kind: 'provided', installs: 1 }, JSON.stringify(change));
  }
  const machines: readonly Partial<InstallMeans>[] = [
    { programs: { ...place.means.programs, npm: [{ ...place.npm, version: '12.0.0' }] } },
    { environment: { npm_config_ignore_scripts: 'true' } },
  ];
  for (const change of machines) {
    const means = { ...place.means, ...change };
    const provided = await provideDependencies(await place.need(base), place.cache, means);
    assert.deepEqual(provided, { kind: 'provided', installs: 1 });
  }
  const elsewhere = { ...place.means, environment: { npm_config_registry: 'http://other.example/' } };
  const again = await provideDependencies(await place.need({ ...base, 'a.ts': '' }), place.cache, elsewhere);
  assert.deepEqual(again, { kind: 'provided', installs: 0 });
});
