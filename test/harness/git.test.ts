import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { makeRepository } from './git.ts';
import { serveGit, type Fault, type GitServer } from './serve.ts';
import { tempFolder } from './temp.ts';

test('equal commits get equal ids, and null removes a file', async (t) => {
  const [one, other] = [await makeRepository(t), await makeRepository(t)];
  const first = { 'apps/a.txt': 'a', 'b.txt': 'b', '.gitignore': 'b.txt' };
  assert.equal(await one.commit('First', first), await other.commit('First', first));
  await one.commit('Second', { 'b.txt': null });
  assert.equal(await one.git('ls-files'), '.gitignore\napps/a.txt');
  assert.equal(
    await one.git('log', '--format=%s %an %at'),
    'Second Author 1767225720\nFirst Author 1767225660',
  );
  assert.equal(existsSync(join(one.folder, 'b.txt')), false);
});

test('the settings of the person who runs the tests do not reach a repository', async (t) => {
  const repository = await makeRepository(t);
  const origins = await repository.git('config', '--list', '--show-origin');
  assert.doesNotMatch(origins, /^(?!file:\.git\/config)/m);
});

test('a served repository can be cloned, and requests are recorded', async (t) => {
  const { server, clone, head } = await serveOne(t);
  assert.equal(await clone(), head);
  assert.deepEqual(
    server.requests.map(({ method, path, protocol }) => `${method} ${path} ${protocol}`).slice(0, 2),
    ['GET /repository/info/refs version=2', 'POST /repository/git-upload-pack version=2'],
  );
});

const faults: readonly { fault: Fault; on: string; says: RegExp }[] = [
  { fault: { kind: 'refuse' }, on: 'info/refs', says: /Empty reply|unable to access/ },
  { fault: { kind: 'status', status: 503 }, on: 'info/refs', says: /503/ },
  {
    fault: { kind: 'truncate', afterBytes: 40 },
    on: 'info/refs',
    says: /transfer closed|early EOF|hung up|pkt/i,
  },
  {
    fault: { kind: 'truncate', afterBytes: 200 },
    on: 'git-upload-pack',
    says: /transfer closed|early EOF|hung up/i,
  },
];
for (const { fault, on, says } of faults)
  test(`a clone fails by ${JSON.stringify(fault)} on ${on} and works again afterwards`, async (t) => {
    const { server, clone, head } = await serveOne(t);
    server.fail(({ path }) => (path.endsWith(on) ? fault : undefined));
    await assert.rejects(clone(), says);
    server.fail(undefined);
    assert.equal(await clone(), head);
  });

test('a protected repository wants its name and password', async (t) => {
  const { server, clone, head } = await serveOne(t);
  server.protect({ username: 'reader', password: 'pass' });
  await assert.rejects(clone(), /could not read Username|Authentication failed/);
  assert.equal(await clone(server.url.replace('://', '://reader:pass@')), head);
});

test('a request that hangs is cut when the fault ends', async (t) => {
  const { server } = await serveOne(t);
  server.fail(() => ({ kind: 'hang' }));
  const answer = assert.rejects(fetch(`${server.url}/info/refs`));
  while (server.requests.length === 0) await new Promise(setImmediate);
  server.fail(undefined);
  await answer;
});

interface Served {
  readonly server: GitServer;
  readonly head: string;
  /** Clones into a new folder and resolves to the id of what it got. */
  clone(url?: string): Promise<string>;
}

async function serveOne(t: test.TestContext): Promise<Served> {
  const repository = await makeRepository(t);
  const head = await repository.commit('First', {
    'large.txt': 'content\n'.repeat(20_000),
    'small.txt': 's',
  });
  const server = await serveGit(t, repository);
  const clone = async (url = server.url): Promise<string> => {
    const folder = await tempFolder(t, 'clone');
    await repository.git('clone', '--quiet', url, folder);
    return repository.git('-C', folder, 'rev-parse', 'HEAD');
  };
  return { server, head, clone };
}
