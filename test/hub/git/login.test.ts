/** Credentials against real servers: who gets in, and where secrets must not be seen. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Auth } from '../../../hub/git/auth.ts';
import { makeSources } from '../../../hub/git/poller.ts';
import type { Sources, SourceView } from '../../../hub/git/source.ts';
import { makeRepository, type Repository } from '../../harness/git.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { serveGit } from '../../harness/serve.ts';
import { noSshd, serveSsh } from '../../harness/sshd.ts';
import { tempFolder } from '../../harness/temp.ts';

const CANARY = 's3cret-canary';

interface Rig {
  readonly folder: string;
  poll(): Promise<SourceView>;
}

async function rigOf(
  owner: Owner,
  { url, auth, variables = {} }: { url: string; auth: Auth; variables?: Record<string, string> },
): Promise<Rig> {
  const folder = await tempFolder(owner, 'login');
  const home = await tempFolder(owner, 'home');
  const environment = { PATH: process.env['PATH'], HOME: home, ...variables };
  const sources: Sources = await makeSources({
    repositories: [
      {
        name: 'fleet',
        url,
        auth,
        ref: { branch: 'main' },
        trust: 'fleet',
        manifests: ['**'],
        intervalMs: 1_000,
      },
    ],
    folder,
    git: { program: 'git', environment },
    onHint: () => undefined,
    graceMs: 60_000,
  });
  atEnd(owner, () => sources.close());
  let now = 1_000_000;
  return {
    folder,
    async poll() {
      now = Math.max(now, sources.nextDue());
      const [view] = await sources.refresh(now);
      assert.ok(view !== undefined);
      return view;
    },
  };
}

async function started(owner: Owner): Promise<Repository> {
  const repository = await makeRepository(owner);
  await repository.commit('One', { 'a.yaml': '1' });
  return repository;
}

async function serveAnswer(
  owner: Owner,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(owner, () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Arguments of every process of this machine that is one of git's, ssh's or the shell's. */
function argumentsSeen(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    });
}

/** Looks at the processes as often as it can until the work is done. */
async function watching<T>(work: Promise<T>): Promise<{ result: T; seen: Set<string> }> {
  const seen = new Set<string>();
  let done = false;
  const result = work.finally(() => (done = true));
  while (!done) {
    for (const line of argumentsSeen()) seen.add(line);
    await turn();
  }
  return { result: await result, seen };
}

async function filesBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.pack'));
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')));
  return texts.join('\n');
}

test('a token lets in over HTTP, is changed without a restart, and shows nowhere', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  server.protect({ username: 'x-access-token', password: `${CANARY}-1` });
  const file = join(await tempFolder(t, 'secret'), 'token');
  await writeFile(file, `${CANARY}-1\n`);
  const rig = await rigOf(t, { url: server.url, auth: { token: { file } } });
  const { result, seen } = await watching(rig.poll());
  assert.equal(result.state, 'Ready');
  assert.ok(
    [...seen].some((line) => line.includes('fetch')),
    'a fetch was seen',
  );
  assert.ok(![...seen].some((line) => line.includes('canary')), 'in no argument');
  assert.doesNotMatch(await filesBelow(rig.folder), /canary|eC1hY2Nlc3M/);
  server.protect({ username: 'x-access-token', password: `${CANARY}-2` });
  const refused = await rig.poll();
  assert.equal(refused.state, 'AuthFailed');
  assert.doesNotMatch(JSON.stringify(refused), /canary|eC1hY2Nlc3M/);
  await writeFile(file, `${CANARY}-2\n`);
  await repository.commit('Two', { 'a.yaml': '2' });
  assert.equal((await rig.poll()).tree?.commit.subject, 'Two');
});

test('what a server says back is shown without the secrets that it was told', async (t) => {
  const url = await serveAnswer(t, ({ headers }, response) => {
    const told = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    response.writeHead(200, 'OK').end(`bad login ${told} ${headers.authorization ?? ''}`);
  });
  const rig = await rigOf(t, {
    url: `${url}/x`,
    auth: { username: 'bot', password: { env: 'PASSWORD' } },
    variables: { PASSWORD: CANARY },
  });
  const view = await rig.poll();
  assert.equal(view.state, 'Unreachable');
  assert.doesNotMatch(JSON.stringify(view), /canary|Ym90/);
});

test('credentials go to no other host, neither with a poll nor with a fetch', async (t) => {
  const repository = await started(t);
  const other = await serveGit(t, repository);
  const url = await serveAnswer(t, (request, response) => {
    assert.match(request.headers.authorization ?? '', /^Basic /);
    const place = `${other.url}${(request.url ?? '').replace(/^\/x/, '')}`;
    response.writeHead(301, { location: place }).end();
  });
  const rig = await rigOf(t, {
    url: `${url}/x`,
    auth: { token: { env: 'TOKEN' } },
    variables: { TOKEN: CANARY },
  });
  const view = await rig.poll();
  assert.equal(view.state, 'Unreachable');
  assert.match(view.message ?? '', /redirects to another address.*correct the url/);
  assert.ok(other.requests.length > 0);
  assert.deepEqual(
    other.requests.filter(({ authorization }) => authorization !== undefined),
    [],
  );
});

test('a repository that moved on its host is fetched from where it is now', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  server.protect({ username: 'x-access-token', password: CANARY });
  server.move('/former', '/repository');
  const rig = await rigOf(t, {
    url: server.url.replace('/repository', '/former'),
    auth: { token: { env: 'TOKEN' } },
    variables: { TOKEN: CANARY },
  });
  const view = await rig.poll();
  assert.equal(view.state, 'Ready', view.message);
  assert.equal(view.tree?.commit.subject, 'One');
});

test('a GitHub App gets in with the token of its installation, and with a new one when that is refused', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  let granted = 0;
  const apiUrl = await serveAnswer(t, (_, response) => {
    granted += 1;
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    response.writeHead(201).end(JSON.stringify({ token: `${CANARY}-${granted}`, expires_at: expires }));
  });
  server.protect({ username: 'x-access-token', password: `${CANARY}-1` });
  const file = join(await tempFolder(t, 'secret'), 'app.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const app = { appId: '1', installationId: '2', privateKey: { file }, apiUrl };
  const rig = await rigOf(t, { url: server.url, auth: { githubApp: app } });
  assert.equal((await rig.poll()).state, 'Ready');
  assert.equal((await rig.poll()).state, 'Ready');
  assert.equal(granted, 1);
  server.protect({ username: 'x-access-token', password: `${CANARY}-2` });
  assert.equal((await rig.poll()).state, 'AuthFailed');
  assert.equal((await rig.poll()).state, 'Ready');
});

test(
  'over ssh the host must have the key that is named, and the passphrase shows nowhere',
  { skip: noSshd },
  async (t) => {
    const repository = await started(t);
    const server = await serveSsh(t, CANARY);
    const url = `ssh://${userInfo().username}@127.0.0.1:${server.port}${repository.folder}`;
    const privateKey = { file: server.key };
    const variables = { PASSPHRASE: CANARY };
    const auth = { privateKey, passphrase: { env: 'PASSPHRASE' }, knownHosts: server.knownHosts };
    const rig = await rigOf(t, { url, auth, variables });
    const { result, seen } = await watching(rig.poll());
    assert.equal(result.state, 'Ready', result.message);
    assert.ok(
      [...seen].some((line) => line.startsWith('ssh ')),
      'ssh was seen',
    );
    assert.ok(![...seen].some((line) => line.includes('canary')));
    assert.doesNotMatch(await filesBelow(rig.folder), /canary/);
    await repository.commit('Two', { 'a.yaml': '2' });
    assert.equal((await rig.poll()).tree?.commit.subject, 'Two');

    const another = (await serveSsh(t)).knownHosts.replace(/^\S+/, `[127.0.0.1]:${server.port}`);
    const wrong: readonly [Partial<Auth>, RegExp][] = [
      [{ knownHosts: another }, /[Hh]ost key verification failed/],
      [
        { knownHosts: server.knownHosts.replace('127.0.0.1', '127.0.0.2') },
        /[Hh]ost key verification failed/,
      ],
      [{ passphrase: { env: 'HOME' } }, /Permission denied/],
    ];
    for (const [change, words] of wrong) {
      const view = await (await rigOf(t, { url, auth: { ...auth, ...change }, variables })).poll();
      assert.equal(view.state, 'AuthFailed', view.message);
      assert.match(view.message ?? '', words);
    }
  },
);
