import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeLocal } from '../../../hub/git/local.ts';
import { makeRepository } from '../../harness/git.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import type { GitDriver } from '../../../hub/git/driver.ts';
import { driverContract, type MakeDriver, MAIN, newest, plainProgram } from './driver.contract.ts';
import { hostileContract } from './hostile.contract.ts';

function eachContract(title: string, make: MakeDriver): void {
  driverContract(title, make);
  hostileContract(title, make);
}

eachContract('local path, without the git program', (owner, repository, git) => {
  const driver = makeLocal({
    git: { ...git, program: '/nowhere/git' },
    name: 'r',
    path: repository.folder,
    driver: 'isomorphic',
  });
  atEnd(owner, () => driver.close());
  return Promise.resolve(driver);
});

eachContract('local path', async (owner, repository, git) => {
  const driver = makeLocal({ git, name: 'r', path: repository.folder });
  atEnd(owner, () => driver.close());
  return driver;
});

async function localOf(owner: Owner, path: string): Promise<GitDriver> {
  const driver = makeLocal({ git: await plainProgram(owner), name: 'r', path });
  atEnd(owner, () => driver.close());
  return driver;
}

test('uncommitted files of a work tree are not seen', async (t) => {
  const repository = await makeRepository(t);
  await repository.commit('One', { a: '1' });
  await writeFile(join(repository.folder, 'a'), 'changed');
  await writeFile(join(repository.folder, 'new'), 'new');
  await repository.git('add', 'new');
  const tree = await newest(await localOf(t, repository.folder));
  assert.deepEqual(
    (await tree.entries()).map((entry) => entry.path),
    ['a'],
  );
});

test('bare repositories, linked work trees and packed refs are read', async (t) => {
  const repository = await makeRepository(t);
  const id = await repository.commit('One', { a: '1' });
  const folder = await tempFolder(t, 'others');
  await repository.git('clone', '--quiet', '--bare', '.', join(folder, 'bare.git'));
  await repository.git('worktree', 'add', '--quiet', '-b', 'side', join(folder, 'linked'));
  await repository.git('pack-refs', '--all');
  for (const [path, ref] of [
    [join(folder, 'bare.git'), MAIN],
    [join(folder, 'linked'), 'refs/heads/side'],
    [join(folder, 'linked'), 'HEAD'],
    [repository.folder, MAIN],
  ] as const)
    assert.equal((await newest(await localOf(t, path), ref)).commit.id, id, `${path} ${ref}`);
});

test('replacement objects do not change what a commit holds', async (t) => {
  const repository = await makeRepository(t);
  const one = await repository.commit('One', { a: '1' });
  const two = await repository.commit('Two', { a: '2' });
  await repository.git('replace', two, one);
  const tree = await newest(await localOf(t, repository.folder));
  assert.equal(tree.commit.subject, 'Two');
});

test('a folder that is no repository, or vanished, is unreachable', async (t) => {
  const repository = await makeRepository(t);
  await repository.commit('One', { a: '1' });
  const driver = await localOf(t, repository.folder);
  await newest(driver);
  await rm(repository.folder, { recursive: true });
  const vanished = await driver.fetch(MAIN, { anew: false });
  assert.ok(vanished.kind === 'failed' && vanished.state === 'Unreachable');
  await mkdir(repository.folder);
  const plain = await driver.fetch(MAIN, { anew: false });
  assert.ok(plain.kind === 'failed' && /is not a Git repository/.test(plain.message));
});

test('a damaged object of a local repository is a state that lasts as long as the damage', async (t) => {
  const repository = await makeRepository(t);
  await repository.commit('One', { a: '1' });
  const driver = await localOf(t, repository.folder);
  const tree = await newest(driver);
  const id = (await tree.entries())[0]?.id ?? '';
  const file = join(repository.folder, '.git/objects', id.slice(0, 2), id.slice(2));
  await rm(file);
  await assert.rejects(tree.blob(id));
  const still = await driver.open(tree.commit.id, MAIN);
  assert.ok(still.kind === 'failed' && still.state === 'Corrupt');
  await repository.git('hash-object', '-w', 'a');
  assert.equal((await newest(driver)).commit.id, tree.commit.id);
  assert.ok(!driver.damaged());
});
