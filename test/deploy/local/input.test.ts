import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  BadInput,
  closedFolder,
  defaultBranch,
  findRepository,
  makeOpen,
} from '../../../deploy/local/input.ts';
import { choosePlace, emptyForDemo } from '../../../deploy/local/place.ts';
import { withinReach } from '../../../deploy/local/reach.ts';
import { contradictions, localSettings, refOf } from '../../../deploy/local/settings.ts';
import { parseSettings } from '../../../shared/config.ts';
import { gitEnvironment, makeRepository } from '../../harness/git.ts';
import { wanted } from '../../../deploy/tools/catalog.ts';
import { tempFolder } from '../../harness/temp.ts';

test('a ref is a branch, a tag or a commit', () => {
  const id = 'a'.repeat(40);
  assert.deepEqual(refOf('main'), { branch: 'main' });
  assert.deepEqual(refOf('refs/heads/feature/x'), { branch: 'feature/x' });
  assert.deepEqual(refOf('refs/tags/v1'), { tag: 'v1' });
  assert.deepEqual(refOf(id), { commit: id });
});

test('flags must say one thing', () => {
  const errors = (...argv: string[]): number => {
    const parsed = parseSettings(localSettings, argv, {});
    assert.equal(parsed.kind, 'values');
    return parsed.kind === 'values' ? contradictions(parsed.values).length : -1;
  };
  assert.equal(errors(), 1);
  assert.equal(errors('--demo'), 0);
  assert.equal(errors('--repo', '.'), 0);
  assert.equal(errors('--demo', '--repo', '.'), 1);
});

test('a repository is a folder or a URL', async (context) => {
  const { folder } = await makeRepository(context);
  assert.deepEqual(await findRepository('.', folder), { url: folder, local: true });
  for (const url of ['https://git.example/fleet.git', 'git@git.example:fleet.git'])
    assert.deepEqual(await findRepository(url, '/'), { url, local: false });
  await assert.rejects(() => findRepository('not/there', '/'), BadInput);
});

test('the branch that a repository is at is the one to follow', async (context) => {
  const repository = await makeRepository(context);
  const found = { url: repository.folder, local: true };
  await assert.rejects(() => defaultBranch(found, gitEnvironment()), BadInput);
  await repository.commit('first');
  await repository.git('branch', '--move', 'feature/x');
  assert.equal(await defaultBranch(found, gitEnvironment()), 'feature/x');
  await assert.rejects(() => defaultBranch({ url: '/not/there', local: true }, gitEnvironment()), BadInput);
});

test('a folder that other users cannot enter is named, the outermost first', async (context) => {
  const folder = await tempFolder(context);
  const inner = join(folder, 'inner');
  await mkdir(inner);
  await chmod(folder, 0o755);
  assert.equal(await closedFolder(join(inner, 'not-yet')), undefined);
  await chmod(inner, 0o700);
  assert.equal(await closedFolder(join(inner, 'not-yet')), inner);
  await chmod(folder, 0o750);
  assert.equal(await closedFolder(inner), folder);
});

test('folders that are made can be entered by others, those that were there stay as they are', async (context) => {
  const folder = await tempFolder(context);
  await chmod(folder, 0o700);
  const before = process.umask(0o077);
  context.after(() => process.umask(before));
  await makeOpen(join(folder, 'a/b'));
  assert.equal(await closedFolder(join(folder, 'a/b')), folder);
  await chmod(folder, 0o755);
  assert.equal(await closedFolder(join(folder, 'a/b')), undefined);
});

test('root keeps its data where the user of runs can go', async (context) => {
  const folder = await tempFolder(context);
  await chmod(folder, 0o700);
  const where = { cwd: folder, isRoot: true };
  const own = join(folder, '.towline');
  assert.equal(
    (await choosePlace({ data: '', demo: true }, { ...where, isRoot: false })).data,
    join(own, 'demo'),
  );
  assert.equal((await choosePlace({ data: '', demo: false }, where)).data, '/var/lib/towline/local');
  await assert.rejects(() => choosePlace({ data: 'x', demo: false }, where), BadInput);
  await chmod(folder, 0o711);
  assert.equal((await choosePlace({ data: '', demo: false }, where)).data, join(own, 'local'));
});

test('a demo empties what a demo left, and nothing else', async (context) => {
  const folder = await tempFolder(context);
  await emptyForDemo(folder);
  await mkdir(join(folder, 'state'));
  await writeFile(join(folder, 'process.1.lock'), '');
  await emptyForDemo(folder);
  assert.deepEqual((await readdir(folder)).sort(), ['.towline-demo', 'process.1.lock']);
  const other = await tempFolder(context);
  await writeFile(join(other, 'precious'), '');
  await assert.rejects(() => emptyForDemo(other), BadInput);
  assert.deepEqual(await readdir(other), ['precious']);
});

test('programs in a closed folder are brought to an open one', async (context) => {
  const folder = await tempFolder(context);
  await chmod(folder, 0o755);
  const tools = join(folder, 'tools');
  await mkdir(tools, { mode: 0o755 });
  const names = [wanted.pulumi.name, ...wanted.pulumi.beside, 'node'];
  for (const name of names) await writeFile(join(tools, name), name, { mode: 0o755 });
  const [pulumi, node] = [join(tools, 'pulumi'), join(tools, 'node')];
  assert.deepEqual(await withinReach({ pulumi, node }, join(folder, 'open')), { pulumi, node });
  await chmod(tools, 0o700);
  const brought = await withinReach({ pulumi, node }, join(folder, 'open'));
  assert.deepEqual(brought, { pulumi: join(folder, 'open', 'pulumi'), node: join(folder, 'open', 'node') });
  for (const name of names) assert.equal(await readFile(join(folder, 'open', name), 'utf8'), name);
});
