import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeAccess, type Access } from '../../../hub/git/access.ts';
import type { GitDriver } from '../../../hub/git/driver.ts';
import type { Tree } from '../../../hub/git/source.ts';
import { makeMirror } from '../../../hub/git/native.ts';
import { readRemote } from '../../../hub/git/remote.ts';
import { identityOf } from '../../../shared/process.ts';
import { makeRepository } from '../../harness/git.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { serveGit } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { driverContract, type MakeDriver, MAIN, newest, plainProgram } from './driver.contract.ts';
import { hostileContract } from './hostile.contract.ts';
import { mirrorContract } from './mirror.contract.ts';

function eachContract(title: string, make: MakeDriver): void {
  driverContract(title, make);
  hostileContract(title, make);
}

const NO_ACCESS = makeAccess({ credentials: { kind: 'none' }, environment: {}, folder: '/nowhere' });

async function mirrorOf(owner: Owner, url: string, folder: string): Promise<GitDriver> {
  return openMirror(owner, { url, folder, access: NO_ACCESS });
}

async function openMirror(
  owner: Owner,
  { url, folder, access }: { readonly url: string; readonly folder: string; readonly access: Access },
): Promise<GitDriver> {
  const remote = readRemote(url);
  assert.ok(remote.kind === 'http');
  const driver = await makeMirror({ git: await plainProgram(owner), name: 'r', remote, access, folder });
  atEnd(owner, () => driver.close());
  return driver;
}

eachContract('mirror over HTTP', async (owner, repository, git) => {
  const server = await serveGit(owner, repository);
  const remote = readRemote(server.url);
  assert.ok(remote.kind === 'http');
  const folder = join(await tempFolder(owner, 'mirror'), 'r');
  const driver = await makeMirror({ git, name: 'r', remote, access: NO_ACCESS, folder });
  atEnd(owner, () => driver.close());
  return driver;
});

test('a mirror holds one commit of one branch and no hooks', async (t) => {
  const repository = await makeRepository(t);
  const server = await serveGit(t, repository);
  await repository.commit('One', { a: '1' });
  await repository.commit('Two', { a: '2' });
  await repository.git('branch', 'other');
  await repository.git('tag', 'v1');
  const folder = join(await tempFolder(t, 'mirror'), 'r');
  const driver = await mirrorOf(t, server.url, folder);
  const tree = await newest(driver);
  assert.equal(tree.commit.subject, 'Two');
  assert.deepEqual(await readdir(join(folder, 'refs/towline')), ['head']);
  assert.deepEqual(await readdir(join(folder, 'refs/heads')), []);
  assert.ok(!existsSync(join(folder, 'hooks')));
  assert.match(await readFile(join(folder, 'shallow'), 'utf8'), new RegExp(tree.commit.id));
});

test('what a killed process left behind is cleaned at the start', async (t) => {
  const repository = await makeRepository(t);
  const server = await serveGit(t, repository);
  await repository.commit('One', { a: '1' });
  const folder = join(await tempFolder(t, 'mirror'), 'r');
  await newest(await mirrorOf(t, server.url, folder));
  const left = ['shallow.lock', 'refs/towline/head.lock', 'objects/pack/tmp_pack_abc', 'config.lock'];
  for (const file of left) await writeFile(join(folder, file), '');
  await repository.commit('Two', { a: '2' });
  const tree = await newest(await mirrorOf(t, server.url, folder));
  assert.equal(tree.commit.subject, 'Two');
  for (const file of left) assert.ok(!existsSync(join(folder, file)), file);
});

test('a damaged mirror is a failure of its own, and is made anew beside the old one', async (t) => {
  const repository = await makeRepository(t);
  const server = await serveGit(t, repository);
  await repository.commit('One', { a: '1' });
  const folder = join(await tempFolder(t, 'mirror'), 'r');
  await newest(await mirrorOf(t, server.url, folder));
  const packs = join(folder, 'objects/pack');
  for (const file of await readdir(packs)) if (file.endsWith('.pack')) await truncate(join(packs, file), 20);
  const driver = await mirrorOf(t, server.url, folder);
  const tip = await driver.fetch(MAIN, { anew: false });
  const found = tip.kind === 'tip' ? await driver.open(tip.id, MAIN) : tip;
  assert.deepEqual([found.kind, found.kind === 'failed' && found.state], ['failed', 'Corrupt']);
  const anew = await driver.fetch(MAIN, { anew: true });
  assert.equal(anew.kind, 'tip');
  assert.equal((await newest(driver)).commit.subject, 'One');
  assert.deepEqual(await readdir(join(folder, '..')), ['r']);
});

test('faults of the network, the login and the server each have their state', async (t) => {
  const repository = await makeRepository(t);
  const server = await serveGit(t, repository);
  await repository.commit('One', { a: '1' });
  const driver = await mirrorOf(t, server.url, join(await tempFolder(t, 'mirror'), 'r'));
  const stateWith = async (fault: Parameters<typeof server.fail>[0]): Promise<string> => {
    server.fail(fault);
    const found = await driver.fetch(MAIN, { anew: false });
    return found.kind === 'failed' ? found.state : 'Ready';
  };
  assert.equal(await stateWith(() => ({ kind: 'refuse' })), 'Unreachable');
  assert.equal(await stateWith(() => ({ kind: 'status', status: 401 })), 'AuthFailed');
  assert.equal(await stateWith(() => ({ kind: 'status', status: 403 })), 'AuthFailed');
  assert.equal(await stateWith(() => ({ kind: 'status', status: 500 })), 'Unreachable');
  assert.equal(await stateWith(() => ({ kind: 'truncate', afterBytes: 100 })), 'Unreachable');
  assert.equal(await stateWith(undefined), 'Ready');
});

test('credentials reach the server and nothing else', async (t) => {
  const repository = await makeRepository(t);
  const server = await serveGit(t, repository);
  server.protect({ username: 'bot', password: 's3cret-canary' });
  await repository.commit('One', { a: '1' });
  const folder = join(await tempFolder(t, 'mirror'), 'r');
  const access = makeAccess({
    credentials: { kind: 'basic', username: 'bot', password: { env: 'PASSWORD' } },
    environment: { PASSWORD: 's3cret-canary' },
    folder: '/nowhere',
  });
  const driver = await openMirror(t, { url: server.url, folder, access });
  assert.equal((await newest(driver)).commit.subject, 'One');
  assert.doesNotMatch(await readFile(join(folder, 'config'), 'utf8'), /canary|bot/);
  server.protect({ username: 'bot', password: 'another' });
  const refused = await driver.fetch(MAIN, { anew: false });
  assert.ok(refused.kind === 'failed' && refused.state === 'AuthFailed');
  assert.doesNotMatch(refused.message, /canary|Ym90O/);
});

test('many fetches do not make many packs, and the last two commits stay readable', async (t) => {
  const repository = await makeRepository(t);
  const server = await serveGit(t, repository);
  const folder = join(await tempFolder(t, 'mirror'), 'r');
  const remote = readRemote(server.url);
  assert.ok(remote.kind === 'http');
  const driver = await makeMirror({
    ...{ git: await plainProgram(t), name: 'r', remote, access: NO_ACCESS, folder },
    packs: 3,
  });
  atEnd(t, () => driver.close());
  const trees: Tree[] = [];
  for (let n = 0; n < 8; n++) {
    await repository.commit(`Commit ${n}`, { a: `${n}` });
    trees.push(await newest(driver));
  }
  await driver.fetch(MAIN, { anew: false });
  const packs = (await readdir(join(folder, 'objects/pack'))).filter((file) => file.endsWith('.pack'));
  assert.ok(packs.length <= 3, `${packs.length} packs`);
  const [before, last] = trees.slice(-2) as [Tree, Tree];
  assert.equal((await last.blob((await last.entries())[0]?.id ?? '')).toString(), '7');
  assert.equal((await before.blob((await before.entries())[0]?.id ?? '')).toString(), '6');
});

mirrorContract('native mirror', async (owner, wish) =>
  makeMirror({ git: await plainProgram(owner), name: 'r', ...wish }),
);

test('a command that a hub of before left behind is ended before anything is cleaned', async (t) => {
  const repository = await makeRepository(t);
  const server = await serveGit(t, repository);
  await repository.commit('One', { a: '1' });
  const folder = join(await tempFolder(t, 'mirror'), 'r');
  const left = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  const ended = once(left, 'exit');
  await writeFile(`${folder}.process`, JSON.stringify(identityOf(left.pid ?? 0)));
  assert.equal((await newest(await mirrorOf(t, server.url, folder))).commit.subject, 'One');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  const other = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  await writeFile(`${folder}.process`, JSON.stringify({ ...identityOf(other.pid ?? 0), startTime: '1' }));
  await newest(await mirrorOf(t, server.url, folder));
  assert.equal(other.exitCode, null, 'another process of that number is left alone');
  const gone = once(other, 'exit');
  other.kill();
  await gone;
});
