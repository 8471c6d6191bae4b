/** Removing what runs leave, as a user whom modes bind. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeFolder, takeBack } from '../../agent/reclaim.ts';
import { tempFolder } from '../harness/temp.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const skip = isRoot && spawnSync(process.execPath, ['--version'], NOBODY).status !== 0;
const module = join(import.meta.dirname, '../../agent/reclaim.ts');

test('a folder with read-only and unreadable ones in it is removed', { skip }, async (t) => {
  const folder = await tempFolder(t);
  await chmod(folder, 0o777);
  const run = join(folder, 'run');
  const script = `
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
const { removeFolder } = await import(${JSON.stringify(module)});
for (const [name, mode] of [['read-only', 0o555], ['closed', 0]]) {
  mkdirSync(${JSON.stringify(run)} + '/' + name + '/in/it', { recursive: true });
  writeFileSync(${JSON.stringify(run)} + '/' + name + '/in/file', '');
  chmodSync(${JSON.stringify(run)} + '/' + name + '/in', mode);
}
await removeFolder(${JSON.stringify(run)});
`;
  const args = ['--input-type=module', '-e', script];
  const { status, stderr } = spawnSync(process.execPath, args, isRoot ? NOBODY : {});
  assert.equal(status, 0, String(stderr));
  assert.deepEqual(await readdir(folder), []);
});

test('what is beside it stays, also behind a link', async (t) => {
  const folder = await tempFolder(t);
  await mkdir(join(folder, 'run/work'), { recursive: true });
  await mkdir(join(folder, 'beside'));
  await writeFile(join(folder, 'beside/file'), '');
  await symlink(join(folder, 'beside'), join(folder, 'run/work/link'));
  await chmod(join(folder, 'beside'), 0o755);
  await removeFolder(join(folder, 'run'), NOBODY);
  assert.deepEqual(await readdir(folder), ['beside']);
  assert.equal((await stat(join(folder, 'beside'))).mode & 0o777, 0o755);
  await removeFolder(join(folder, 'run'), NOBODY);
});

test('what is taken back is writable for nobody else', { skip: !isRoot }, async (t) => {
  const folder = await tempFolder(t);
  const staging = join(folder, 'staging');
  await mkdir(join(staging, 'module'), { recursive: true });
  await writeFile(join(staging, 'module/index.js'), '');
  await writeFile(join(folder, 'beside'), '');
  await symlink(join(folder, 'beside'), join(staging, 'link'));
  for (const [name, mode] of Object.entries({ '': 0o777, module: 0o777, 'module/index.js': 0o4777 })) {
    await chown(join(staging, name), NOBODY.uid, NOBODY.gid);
    await chmod(join(staging, name), mode);
  }
  await chmod(join(folder, 'beside'), 0o666);
  await takeBack(staging);
  for (const name of ['', 'module', 'module/index.js']) {
    const { uid, mode } = await stat(join(staging, name));
    assert.deepEqual([uid, mode & 0o7777], [0, 0o755], name);
  }
  assert.equal((await stat(join(folder, 'beside'))).mode & 0o777, 0o666);
});
