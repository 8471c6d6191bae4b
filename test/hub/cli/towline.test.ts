/** The launcher, in copies of a checkout that lack what it looks for. */
import assert from 'node:assert/strict';
import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import test from 'node:test';
import { startChild } from '../../harness/child.ts';
import { tempFolder } from '../../harness/temp.ts';
import { until } from '../../harness/until.ts';
import { root, runTowline } from './run.ts';

const PRINT = 'console.log(process.execPath, ...process.argv.slice(2)); process.exitCode = 7;';

test('a checkout without dependencies says what to do', async (t) => {
  const { launcher, folder } = await copyOf(t, { 'hub/cli/main.ts': PRINT });
  assert.deepEqual(await runTowline(['hub'], launcher), {
    code: 2,
    output: `towline: dependencies are not installed: run “make tools” in ${folder} first\n`,
  });
});

test('the Node.js of the checkout runs the sources, through a symbolic link too', async (t) => {
  const { launcher, folder } = await copyOf(t, { 'hub/cli/main.ts': PRINT, 'dist/towline.js': 'throw 1;' });
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(process.execPath, join(folder, 'node_modules/.bin/node'));
  await symlink('../../hub/cli/towline', join(folder, 'node_modules/.bin/towline'));
  const linked = await runTowline(['a b', '--c'], join(folder, 'node_modules/.bin/towline'));
  assert.deepEqual(linked, { code: 7, output: `${process.execPath} a b --c\n` });
  assert.deepEqual(await runTowline(['a b', '--c'], launcher), linked);
});

test('without sources the bundle runs on the Node.js of the machine', async (t) => {
  const { launcher } = await copyOf(t, { 'dist/towline.js': PRINT });
  const env = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };
  assert.deepEqual(await runTowline(['x'], launcher, env), { code: 7, output: `${process.execPath} x\n` });
});

test('a Node.js that is too old, or none, is named', async (t) => {
  const { launcher, folder } = await copyOf(t, {
    'dist/towline.js': PRINT,
    'bin/node': '#!/bin/sh\necho 20\n',
  });
  await chmod(join(folder, 'bin/node'), 0o755);
  const env = { PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter) };
  assert.deepEqual(await runTowline([], launcher, env), {
    code: 2,
    output: `towline: Node.js 24 or newer is needed, ${folder}/bin/node is version 20\n`,
  });
});

test('the launcher becomes the process, so that signals need no passing on', async (t) => {
  const { launcher } = await copyOf(t, {
    'dist/towline.js':
      "process.once('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log(process.pid);",
  });
  const env = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };
  const child = startChild(t, { program: launcher, args: [], env });
  assert.equal(await until('its process id', () => Number(child.output()) || undefined), child.pid());
  await child.stop('SIGTERM');
  assert.equal(child.exit(), 5);
});

async function copyOf(
  t: test.TestContext,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly folder: string; readonly launcher: string }> {
  const folder = await tempFolder(t, 'checkout');
  const launcher = join(folder, 'hub/cli/towline');
  await cp(join(root, 'hub/cli/towline'), launcher);
  for (const [path, content] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return { folder, launcher };
}
