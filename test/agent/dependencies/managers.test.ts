/** What the real package managers install from an artifact, and what a second run does not install. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { appendFile, chmod, cp, lstat, mkdir, readdir, stat, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { InstallMeans } from '../../../agent/dependencies/choose.ts';
import { provideDependencies, type Provided } from '../../../agent/dependencies/install.ts';
import { findPrograms, versionsOf, type Programs } from '../../../agent/dependencies/programs.ts';
import { makeFolders, own, type RunUser } from '../../../agent/folders.ts';
import { layOut, managersOf, type Manager } from '../../harness/managers.ts';
import { startRegistry, type MadePackage, type Registry } from '../../harness/registry.ts';
import { tempFolder } from '../../harness/temp.ts';
import { tarballOf } from '../../harness/registry.ts';

const run = promisify(execFile);
const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

const packages: readonly MadePackage[] = [
  { name: 'leaf', version: '1.0.0' },
  { name: 'tool', version: '2.0.0', dependencies: { leaf: '^1.0.0' } },
  { name: 'x', version: '1.0.0', files: { 'index.js': 'module.exports = "a stranger";\n' } },
];

/** An agent's data folder on a machine that has every manager. */
interface Place {
  readonly registry: Registry;
  readonly programs: Programs;
  readonly path: readonly string[];
  readonly folder: string;
  /** Locks a repository with a manager, as its owner would. */
  locked(manager: Manager, files: Readonly<Record<string, string | Uint8Array>>): Promise<string>;
  /** Installs in a copy of a folder, in the agent's own name or another user's. */
  provide(from: string, options?: Options): Promise<{ readonly work: string; readonly provided: Provided }>;
}

interface Options {
  readonly project?: string;
  readonly user?: RunUser;
  readonly programs?: Programs;
  /** Files of the artifact that are other ones than those of the folder. */
  readonly change?: Readonly<Record<string, string>>;
}

async function makePlace(t: TestContext): Promise<Place> {
  const registry = await startRegistry(t, packages);
  const folder = await tempFolder(t, 'managers');
  await chmod(folder, 0o755);
  const path = await makePath(join(folder, 'bin'));
  const programs = findPrograms(path);
  const managers = await managersOf(t, registry);
  let count = 0;
  return {
    registry,
    programs,
    path,
    folder,
    locked: async (manager, files) => {
      const repository = join(folder, `repository-${++count}`);
      await layOut(repository, files);
      await managers(repository, manager, ...LOCKING[manager]);
      return repository;
    },
    provide: async (from, { project = 'apps/web', change = {}, user, programs: others } = {}) => {
      const dataDir = join(folder, user === undefined ? 'data' : `data-${user.uid}`);
      const { dependencies, npm, pnpm, yarn } = await makeFolders(dataDir, user);
      const work = join(folder, `work-${++count}`);
      await cp(from, work, { recursive: true, filter: isCommitted });
      await layOut(work, change);
      if (user !== undefined) await own(work, user);
      const means: InstallMeans = {
        programs: others ?? programs,
        path,
        environment: environmentOf(registry.url),
        home: undefined,
        caches: { npm, pnpm, yarn, pip: yarn },
        user,
      };
      const need = { work, project, marks: { TOWLINE_RUN: work }, signal: new AbortController().signal };
      return { work, provided: await provideDependencies(need, dependencies, means) };
    },
  };
}

const environmentOf = (registry: string): Record<string, string> => ({
  npm_config_registry: registry,
  pnpm_config_registry: registry,
  YARN_REGISTRY: registry,
  YARN_NPM_REGISTRY_SERVER: registry,
  YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
});

const isCommitted = (path: string): boolean =>
  !/node_modules|\.pnp\.|\.yarn\/(cache|unplugged|install-state)/.test(path);

/** Both generations of yarn are called `yarn`: the second one is in a folder of its own. */
async function makePath(bin: string): Promise<string[]> {
  await mkdir(bin, { recursive: true });
  await symlink(join(MODULES, 'yarn4/bin/yarn.js'), join(bin, 'yarn'));
  return [join(MODULES, '.bin'), bin, ...(process.env['PATH'] ?? '').split(delimiter)];
}

const LOCKING: Readonly<Record<Manager, readonly string[]>> = {
  node: [],
  npm: ['install'],
  pnpm: ['install', '--no-frozen-lockfile'],
  yarn1: ['install'],
  yarn4: ['install'],
};

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** One stack, `apps/web`, that needs a library beside it and a package. */
const repositoryOf = (manager: Manager, linker = 'node-modules'): Record<string, string> => {
  const local = manager === 'pnpm' || manager === 'yarn4' ? 'workspace:*' : '1.0.0';
  return {
    'package.json': json({ name: 'root', private: true, workspaces: ['apps/*', 'libs/*'] }),
    'apps/web/package.json': json({
      name: 'web',
      version: '1.0.0',
      dependencies: { '@own/x': local, tool: '^2.0.0' },
    }),
    'apps/web/index.js': 'console.log(require("@own/x"), require("tool"));\n',
    'libs/x/package.json': json({ name: '@own/x', version: '1.0.0', dependencies: { leaf: '^1.0.0' } }),
    'libs/x/index.js': 'module.exports = `lib with ${require("leaf")}`;\n',
    ...(manager === 'pnpm' ? { 'pnpm-workspace.yaml': 'packages: ["apps/*", "libs/*"]\n' } : {}),
    ...(manager === 'yarn4' ? { '.yarnrc.yml': `nodeLinker: ${linker}\n`, 'yarn.lock': '' } : {}),
  };
};

const printed = async (work: string, loader?: string): Promise<string> => {
  const flags = loader === undefined ? [] : ['--require', loader];
  const { stdout } = await run(process.execPath, [...flags, 'index.js'], {
    cwd: join(work, 'apps/web'),
    env: {},
  });
  return stdout.trim();
};

const installed = (installs: 0 | 1): Provided => ({ kind: 'provided', installs });

describe('a workspace with a library', () => {
  for (const manager of ['npm', 'pnpm', 'yarn1', 'yarn4'] as const)
    test(`is installed by ${manager}, and a second run starts no installer`, async (t) => {
      const place = await makePlace(t);
      const repository = await place.locked(manager, repositoryOf(manager));
      const first = await place.provide(repository);
      assert.deepEqual(first.provided, installed(1));
      assert.equal(await printed(first.work), 'lib with leaf@1.0.0 tool@2.0.0');
      const asked = place.registry.requests.length;
      const second = await place.provide(repository, {
        change: { 'libs/x/index.js': 'module.exports = "changed";\n' },
      });
      assert.deepEqual(second.provided, installed(0));
      assert.equal(await printed(second.work), 'changed tool@2.0.0');
      assert.equal(place.registry.requests.length, asked);
    });

  test('is installed by yarn 4 without node_modules, and says what Node.js has to load', async (t) => {
    const place = await makePlace(t);
    const repository = await place.locked('yarn4', repositoryOf('yarn4', 'pnp'));
    for (const installs of [1, 0] as const) {
      const { work, provided } = await place.provide(repository);
      const loader = join(work, '.pnp.cjs');
      assert.deepEqual(provided, { kind: 'provided', installs, loader });
      assert.equal(await printed(work, loader), 'lib with leaf@1.0.0 tool@2.0.0');
    }
  });
});

describe('one package alone', () => {
  const alone = (manager: Manager): Record<string, string> => ({
    'package.json': json({ name: 'web', dependencies: { tool: '^2.0.0' } }),
    'index.js': 'console.log(require("tool"));\n',
    ...(manager === 'yarn4' ? { '.yarnrc.yml': 'nodeLinker: node-modules\n', 'yarn.lock': '' } : {}),
  });
  for (const manager of ['npm', 'pnpm', 'yarn1', 'yarn4'] as const)
    test(`is linked from the cache as a whole: ${manager}`, async (t) => {
      const place = await makePlace(t);
      const repository = await place.locked(manager, alone(manager));
      for (const installs of [1, 0] as const) {
        const { work, provided } = await place.provide(repository, { project: '.' });
        assert.deepEqual(provided, installed(installs));
        assert.ok((await lstat(join(work, 'node_modules'))).isSymbolicLink());
        assert.equal((await run(process.execPath, ['index.js'], { cwd: work })).stdout, 'tool@2.0.0\n');
      }
    });
});

describe('what comes from the artifact itself', () => {
  test('is part of the set: a patch', async (t) => {
    const place = await makePlace(t);
    const patch = (text: string): string =>
      `diff --git a/index.js b/index.js\n--- a/index.js\n+++ b/index.js\n@@ -1,1 +1,1 @@\n-module.exports = 'tool@2.0.0';\n+module.exports = '${text}';\n`;
    const repository = await place.locked('pnpm', {
      ...repositoryOf('pnpm'),
      'pnpm-workspace.yaml':
        'packages: ["apps/*", "libs/*"]\npatchedDependencies: { "tool@2.0.0": patches/tool.patch }\n',
      'patches/tool.patch': patch('patched'),
    });
    const { work, provided } = await place.provide(repository);
    assert.deepEqual(provided, installed(1));
    assert.equal(await printed(work), 'lib with leaf@1.0.0 patched');
    assert.deepEqual((await place.provide(repository)).provided, installed(0));
    const changed = await place.provide(repository, { change: { 'patches/tool.patch': patch('again') } });
    assert.notDeepEqual(changed.provided, installed(0));
  });

  test('is part of the set: a folder that is copied', async (t) => {
    const place = await makePlace(t);
    const files = repositoryOf('pnpm');
    const repository = await place.locked('pnpm', {
      ...files,
      'apps/web/package.json': json({
        name: 'web',
        dependencies: { '@own/x': 'workspace:*', tool: '2.0.0' },
        dependenciesMeta: { '@own/x': { injected: true } },
      }),
      'pnpm-workspace.yaml': 'packages: ["apps/*", "libs/*"]\ndedupeInjectedDeps: false\n',
    });
    const first = await place.provide(repository);
    assert.deepEqual(first.provided, installed(1));
    assert.equal(await printed(first.work), 'lib with leaf@1.0.0 tool@2.0.0');
    const change = { 'libs/x/index.js': 'module.exports = "changed";\n' };
    const second = await place.provide(repository, { change });
    assert.deepEqual(second.provided, installed(1));
    assert.equal(await printed(second.work), 'changed tool@2.0.0');
  });

  test('is part of the set: an archive', async (t) => {
    const place = await makePlace(t);
    const archive = await tarballOf({
      'package.json': json({ name: 'packed', version: '1.0.0' }),
      'index.js': '',
    });
    for (const manager of ['npm', 'pnpm', 'yarn1'] as const) {
      const repository = await place.locked(manager, {
        'package.json': json({ name: 'web', dependencies: { packed: 'file:vendor/packed.tgz' } }),
        'vendor/packed.tgz': archive,
      });
      const { work, provided } = await place.provide(repository, { project: '.' });
      assert.deepEqual(provided, installed(1), manager);
      assert.ok((await stat(join(work, 'node_modules/packed/package.json'))).isFile());
      assert.deepEqual((await place.provide(repository, { project: '.' })).provided, installed(0));
    }
  });

  test('runs where it is when its own manifests have scripts', async (t) => {
    const place = await makePlace(t);
    for (const manager of ['npm', 'pnpm', 'yarn1', 'yarn4'] as const) {
      const files = repositoryOf(manager);
      const repository = await place.locked(manager, {
        ...files,
        'package.json': json({
          name: 'root',
          private: true,
          workspaces: ['apps/*', 'libs/*'],
          scripts: { postinstall: 'echo "module.exports = \'built\';" > libs/x/index.js' },
        }),
      });
      for (let round = 0; round < 2; round += 1) {
        const { work, provided } = await place.provide(repository);
        assert.deepEqual(provided, installed(1), manager);
        assert.equal(await printed(work), 'built tool@2.0.0', manager);
      }
    }
  });
});

test('a package of the registry in the place of a workspace is refused, and named', async (t) => {
  const place = await makePlace(t);
  const rows: readonly (readonly [Manager, string])[] = [
    ['npm', ''],
    ['yarn1', ''],
    ['pnpm', ''],
    ['yarn4', 'node-modules'],
    ['yarn4', 'pnp'],
  ];
  for (const [manager, linker] of rows) {
    const repository = await place.locked(manager, {
      ...repositoryOf(manager, linker),
      'apps/web/package.json': json({ name: 'web', version: '1.0.0', dependencies: { x: '^1.0.0' } }),
      'libs/x/package.json': json({ name: 'x', version: '2.0.0' }),
    });
    const { provided } = await place.provide(repository);
    assert.ok(provided.kind === 'unusable', `${manager}: ${JSON.stringify(provided)}`);
    assert.match(
      provided.why,
      /^x, which apps\/web\/package.json asks for, resolves to a package of the registry, not to the workspace libs\/x/,
    );
  }
});

test('a manager that is not there is named, with what helps', async (t) => {
  const place = await makePlace(t);
  const none: Programs = { npm: [], pnpm: [], yarn: [], corepack: undefined };
  const rows: readonly (readonly [Manager, Programs, RegExp])[] = [
    ['pnpm', none, /needs pnpm \(9\.1\.0\), which is not on the PATH .*npm install --global pnpm/],
    [
      'yarn1',
      { ...none, yarn: place.programs.yarn.filter(({ version }) => version.startsWith('4')) },
      /yarn 1/,
    ],
    [
      'yarn4',
      { ...none, yarn: place.programs.yarn.filter(({ version }) => version.startsWith('1')) },
      /yarn set version/,
    ],
  ];
  for (const [manager, programs, why] of rows) {
    const locks: Readonly<Record<string, string>> = {
      pnpm: 'lockfileVersion: "9.0"\n',
      yarn1: '# yarn lockfile v1\n',
      yarn4: '__metadata:\n  version: 8\n',
    };
    const repository = join(place.folder, manager);
    await layOut(repository, {
      'package.json': json({ name: 'web', ...(manager === 'pnpm' ? { packageManager: 'pnpm@9.1.0' } : {}) }),
      [manager === 'pnpm' ? 'pnpm-lock.yaml' : 'yarn.lock']: locks[manager] ?? '',
      '.yarnrc.yml': 'nodeLinker: node-modules\n',
    });
    const { provided } = await place.provide(repository, { project: '.', programs });
    assert.ok(provided.kind === 'unusable', JSON.stringify(provided));
    assert.match(provided.why, why);
  }
});

test('yarn’s release file in the artifact is enough', async (t) => {
  const place = await makePlace(t);
  const release = '.yarn/releases/yarn-4.18.1.cjs';
  const repository = await place.locked('yarn4', {
    ...repositoryOf('yarn4'),
    '.yarnrc.yml': 'nodeLinker: node-modules\n',
  });
  await cp(join(MODULES, 'yarn4/bin/yarn.js'), join(repository, release));
  await appendFile(join(repository, '.yarnrc.yml'), `yarnPath: ${release}\n`);
  const programs: Programs = { npm: [], pnpm: [], yarn: [], corepack: undefined };
  for (const installs of [1, 0] as const)
    assert.deepEqual((await place.provide(repository, { programs })).provided, installed(installs));
});

test('managers are found with their versions, both generations of yarn', async (t) => {
  const { programs } = await makePlace(t);
  const { npm, pnpm, yarn, yarnBerry } = versionsOf(programs);
  assert.deepEqual({ pnpm, yarn, yarnBerry }, { pnpm: '11.28.11', yarn: '1.22.22', yarnBerry: '4.18.1' });
  assert.match(npm ?? '', /^\d+\./);
});

const isRoot = process.getuid?.() === 0;
const NOBODY: RunUser = { uid: 65_534, gid: 65_534 };
const reaches = (): boolean =>
  spawnSync(process.execPath, [join(MODULES, 'pnpm/bin/pnpm.mjs'), '--version'], { ...NOBODY, cwd: '/' })
    .status === 0;
const skip = !isRoot ? 'needs root' : !reaches() ? 'this project is out of reach for other users' : false;

test('a run user installs with every manager, and cannot change what is kept', { skip }, async (t) => {
  const place = await makePlace(t);
  for (const manager of ['npm', 'pnpm', 'yarn1', 'yarn4'] as const) {
    const repository = await place.locked(manager, repositoryOf(manager));
    for (const installs of [1, 0] as const) {
      const { work, provided } = await place.provide(repository, { user: NOBODY });
      assert.deepEqual(provided, installed(installs), manager);
      assert.equal((await stat(join(work, 'node_modules'))).uid, NOBODY.uid);
      assert.equal(await printed(work), 'lib with leaf@1.0.0 tool@2.0.0');
    }
  }
  const cache = join(place.folder, `data-${NOBODY.uid}/dependencies`);
  const files = await readdir(cache, { recursive: true, withFileTypes: true });
  for (const file of files.filter((one) => one.isFile())) {
    const { uid, mode, nlink } = await stat(join(file.parentPath, file.name));
    assert.deepEqual(
      { uid, writable: mode & 0o022, nlink },
      { uid: 0, writable: 0, nlink: 1 },
      join(file.parentPath, file.name),
    );
  }
});
