import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeAccess } from '../../../hub/git/access.ts';
import { makeIsomorphic, type IsomorphicOptions } from '../../../hub/git/isomorphic.ts';
import type { GitDriver } from '../../../hub/git/driver.ts';
import { readRemote } from '../../../hub/git/remote.ts';
import { makeRepository } from '../../harness/git.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { serveGit } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { driverContract, MAIN, newest, type MakeDriver } from './driver.contract.ts';
import { hostileContract } from './hostile.contract.ts';
import { mirrorContract } from './mirror.contract.ts';

function eachContract(title: string, make: MakeDriver): void {
  driverContract(title, make);
  hostileContract(title, make);
}

const NO_ACCESS = makeAccess({ credentials: { kind: 'none' }, environment: {}, folder: '/nowhere' });

const MIB = 1024 * 1024;

/** There is no git program here. */
const NO_GIT = { program: '/nowhere/git', environment: {} };

async function isomorphicOf(
  owner: Owner,
  url: string,
  more: Partial<IsomorphicOptions> = {},
): Promise<GitDriver> {
  const remote = readRemote(url);
  assert.ok(remote.kind === 'http');
  const folder = join(await tempFolder(owner, 'mirror'), 'r');
  const driver = await makeIsomorphic({ git: NO_GIT, name: 'r', remote, access: NO_ACCESS, folder, ...more });
  atEnd(owner, () => driver.close());
  return driver;
}

eachContract('isomorphic mirror over HTTP', async (owner, repository) =>
  isomorphicOf(owner, (await serveGit(owner, repository)).url),
);

mirrorContract('isomorphic mirror', (_owner, wish) => makeIsomorphic({ git: NO_GIT, name: 'r', ...wish }));

test('a blob that would take too much memory ends the thread, not the hub, and the next repository is read', async (t) => {
  const repository = await makeRepository(t);
  await repository.commit('Large', { large: Buffer.alloc(300 * MIB) });
  const server = await serveGit(t, repository);
  const driver = await isomorphicOf(t, server.url, { thread: { maxBytes: 128 * MIB } });
  const found = await driver.fetch(MAIN, { anew: false });
  assert.ok(found.kind === 'failed' && found.state === 'QuotaExceeded', JSON.stringify(found));
  assert.match(found.message, /more than 128 MiB of memory/);
  assert.ok(process.memoryUsage.rss() < 1024 * MIB);
  await repository.git('reset', '--quiet', '--soft', 'HEAD');
  await repository.commit('Small', { large: null, small: 'x' });
  assert.equal((await newest(driver)).commit.subject, 'Small');
});

test('a hundred thousand refs cost what one costs', async (t) => {
  const repository = await makeRepository(t);
  const id = await repository.commit('One', { a: '1' });
  const lines = Array.from({ length: 100_000 }, (_, n) => `${id} refs/heads/b${String(n).padStart(6, '0')}`);
  await appendFile(
    join(repository.folder, '.git/packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${lines.join('\n')}\n`,
  );
  const server = await serveGit(t, repository);
  const driver = await isomorphicOf(t, server.url);
  const before = server.sent();
  assert.equal((await newest(driver)).commit.id, id);
  assert.ok(server.sent() - before < 100_000, `${server.sent() - before} bytes`);
});
