/** A stack in TypeScript that is a workspace, with a library that has to be built: from the cut artifact to the update. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npmLock } from '../../hub/lockfiles/npm.ts';
import type { PackageManifest, Workspaces } from '../../hub/lockfiles/lockfile.ts';
import { installEnvironment } from '../../agent/dependencies/environment.ts';
import { findPrograms } from '../../agent/dependencies/programs.ts';
import { tempFolder } from '../harness/temp.ts';
import type { Owner } from '../harness/owned.ts';
import { jobOf, makeBed, nodeManifests, PASSPHRASE, runOnce, type TreeFiles } from './bed.ts';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

interface Lock {
  readonly packages: Readonly<Record<string, object>>;
}

const manifests: Readonly<Record<string, PackageManifest>> = {
  '.': { name: 'fleet', private: true, workspaces: ['apps/*', 'libs/*'] },
  'apps/web': {
    name: 'web',
    version: '1.0.0',
    dependencies: { '@own/greet': '1.0.0', '@pulumi/pulumi': '3.276.0' },
  },
  'apps/other': { name: 'other', version: '1.0.0', dependencies: { typescript: '5.9.3' } },
  'libs/greet': {
    name: '@own/greet',
    version: '1.0.0',
    main: 'dist/index.js',
    scripts: { build: 'mkdir -p dist && sed s/WORD/moin/ src/index.js > dist/index.js' },
  },
};

/** What the owner of the repository committed: the lockfile of all its workspaces. */
async function wholeLock(): Promise<string> {
  const lock = JSON.parse((await nodeManifests())['package-lock.json'] ?? '') as Lock;
  const { '': _, ...installed } = lock.packages;
  const folders = Object.entries(manifests).filter(([folder]) => folder !== '.');
  const links = folders.map(
    ([folder, { name = '' }]) => [`node_modules/${name}`, { resolved: folder, link: true }] as const,
  );
  const root = manifests['.'] ?? {};
  const packages = { '': root, ...Object.fromEntries(folders), ...Object.fromEntries(links), ...installed };
  return json({ name: 'fleet', lockfileVersion: 3, requires: true, packages });
}

const workspaces: Workspaces = {
  manifest: (folder) => manifests[folder],
  folderOf: (name) => Object.keys(manifests).find((folder) => manifests[folder]?.name === name),
};

/** The files that the hub ships for `apps/web`. */
async function artifact(source: string): Promise<TreeFiles> {
  const read = npmLock.parse(Buffer.from(await wholeLock()));
  assert.ok(read.kind === 'lockfile');
  const slice = read.lockfile.slice('apps/web', workspaces);
  assert.deepEqual(slice.workspaces, ['libs/greet']);
  assert.ok(!slice.text().includes('apps/other'), 'another stack is not in it');
  return {
    'package-lock.json': slice.text(),
    'package.json': json(manifests['.']),
    'apps/web/package.json': json(manifests['apps/web']),
    'apps/web/Pulumi.yaml': 'name: web\nruntime: nodejs\nmain: index.ts\n',
    'apps/web/index.ts': "import { greeting } from '@own/greet';\nexport const said = greeting;\n",
    'libs/greet/package.json': json(manifests['libs/greet']),
    'libs/greet/src/index.js': source,
  };
}

/** An npm that writes down what it was started for; its version is asked for once, when the agent starts. */
async function countingNpm(owner: Owner): Promise<{ folder: string; installs: () => Promise<string[]> }> {
  const folder = await tempFolder(owner, 'npm');
  const [npm] = findPrograms((process.env['PATH'] ?? '').split(delimiter)).npm;
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'npm'),
    `#!/bin/sh\necho "$@" >>${folder}/calls\nexec ${npm?.command[0]} "$@"\n`,
  );
  await chmod(join(folder, 'npm'), 0o755);
  const calls = async (): Promise<string[]> =>
    (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
  return { folder, installs: async () => (await calls()).filter((call) => call.startsWith('ci')) };
}

test('a stack with a library of its repository is installed from what it needs, built and updated', async (t) => {
  const npm = await countingNpm(t);
  const path = [npm.folder, dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)];
  const bed = await makeBed(t, { path });
  const inputs = { project: 'apps/web', build: [['npm', 'run', 'build', '--prefix', '../../libs/greet']] };
  const said = async (source: string, first: boolean): Promise<string> => {
    const order = await bed.order(await artifact(source), { inputs });
    const { end, lines } = await runOnce(bed.executor, jobOf(order, { first }));
    assert.equal(end.result, 'succeeded', `${end.reason.text}\n${lines.join('\n')}`);
    return lines.find((line) => line.includes('said')) ?? lines.join('\n');
  };
  assert.match(await said("exports.greeting = 'WORD';\n", true), /"moin"/);
  assert.deepEqual(await npm.installs(), [
    'ci --no-audit --no-fund --no-update-notifier -w apps/web --include-workspace-root',
  ]);
  assert.match(await said("exports.greeting = 'WORD moin';\n", false), /"moin moin"|"moin" => "moin moin"/);
  assert.equal((await npm.installs()).length, 1);
  assert.match(bed.executor.toolchain['npm'] ?? '', /^\d+\.\d+/);
});

const YARN = fileURLToPath(new URL('../../node_modules/yarn4/bin/yarn.js', import.meta.url));

/** What yarn 4 locks for these files, by the registry that npm uses here. */
async function yarnLock(
  owner: Owner,
  files: Readonly<Record<string, string>>,
  registry: string,
): Promise<string> {
  const folder = await tempFolder(owner, 'yarn');
  for (const [name, text] of Object.entries({ ...files, 'yarn.lock': '' }))
    await writeFile(join(folder, name), text);
  const env = {
    ...installEnvironment(process.env),
    PATH: process.env['PATH'],
    HOME: folder,
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_ENABLE_TELEMETRY: '0',
    YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
  };
  await promisify(execFile)(process.execPath, [YARN, 'install', '--mode=update-lockfile'], {
    cwd: folder,
    env,
  });
  return readFile(join(folder, 'yarn.lock'), 'utf8');
}

test('a stack whose packages stay zipped (Plug’n’Play) is updated', async (t) => {
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry']);
  const registry = stdout.trim();
  const bin = await tempFolder(t, 'bin');
  await symlink(YARN, join(bin, 'yarn'));
  const files = {
    'package.json': json({ name: 'web', dependencies: { '@pulumi/pulumi': '3.276.0' } }),
    '.yarnrc.yml': 'nodeLinker: pnp\n',
  };
  const bed = await makeBed(t, {
    path: [bin, ...(process.env['PATH'] ?? '').split(delimiter)],
    environment: { ...process.env, YARN_NPM_REGISTRY_SERVER: registry, TEST_PASSPHRASE: PASSPHRASE },
  });
  const order = await bed.order({
    ...files,
    'yarn.lock': await yarnLock(t, files, registry),
    'Pulumi.yaml': 'name: web\nruntime: nodejs\n',
    'index.js': "const pulumi = require('@pulumi/pulumi');\nexports.said = pulumi.output('moin');\n",
  });
  const { end, lines } = await runOnce(bed.executor, jobOf(order));
  assert.equal(end.result, 'succeeded', `${end.reason.text}\n${lines.join('\n')}`);
  assert.ok(
    lines.some((line) => /said *: "moin"/.test(line)),
    lines.join('\n'),
  );
});
