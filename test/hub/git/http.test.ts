import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { makeTipReader } from '../../../hub/git/tips.ts';
import { makeAccess } from '../../../hub/git/access.ts';
import type { Credentials } from '../../../hub/git/credentials.ts';
import { readRemote } from '../../../hub/git/remote.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';

const ID = 'c'.repeat(40);
const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;
const CAPABILITIES = `${line('# service=git-upload-pack\n')}0000${line('version 2\n')}${line('ls-refs\n')}0000`;
const REFS = `${line(`${'d'.repeat(40)} refs/heads/main-2\n`)}${line(`${ID} refs/heads/main\n`)}0000`;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** What a Git server says, but for what a test makes of it. */
const ordinary: Answer = (request, response) => {
  const advertisement = request.method === 'GET';
  const kind = advertisement ? 'advertisement' : 'result';
  response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${kind}` });
  response.end(advertisement ? CAPABILITIES : REFS);
};

async function serve(owner: Owner, answer: Answer): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  }).on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(owner, () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
  };
}

function readerOf(
  owner: Owner,
  url: string,
  credentials: Credentials = { kind: 'none' },
): ReturnType<typeof makeTipReader> {
  const remote = readRemote(url);
  assert.ok(remote.kind === 'http');
  const access = makeAccess({ credentials, environment: { PASSWORD: 'secret' }, folder: '/nowhere' });
  const git = { program: 'git', environment: {} };
  const reader = makeTipReader({ git, remote, access, ref: 'refs/heads/main' });
  atEnd(owner, () => reader.close());
  return reader;
}

test('polls share a connection and ask once what the server can do', async (t) => {
  const methods: (string | undefined)[] = [];
  const server = await serve(t, (request, response) => {
    methods.push(request.method);
    ordinary(request, response);
  });
  const reader = readerOf(t, `${server.url}/x`);
  for (let n = 0; n < 3; n++) assert.deepEqual(await reader.tip(), { kind: 'tip', id: ID });
  assert.deepEqual(methods, ['GET', 'POST', 'POST', 'POST']);
  assert.equal(server.connections(), 1);
});

test('a connection that the server closed in the meantime is no failure', async (t) => {
  const sockets = new Set<IncomingMessage['socket']>();
  const server = await serve(t, (request, response) => {
    sockets.add(request.socket);
    ordinary(request, response);
  });
  const reader = readerOf(t, `${server.url}/x`);
  for (let n = 0; n < 5; n++) {
    assert.equal((await reader.tip()).kind, 'tip');
    for (const socket of sockets) socket.destroy();
  }
});

test('an answer that is cut off is a failure, not a missing ref', async (t) => {
  const bodies = ['', '0000'.slice(0, 2), REFS.slice(0, -4), '<html>sign in</html>'];
  for (const body of bodies) {
    const server = await serve(t, (request, response) => {
      if (request.method === 'GET') return ordinary(request, response);
      response.end(body);
    });
    const tip = await readerOf(t, `${server.url}/x`).tip();
    assert.equal(tip.kind === 'failed' && tip.state, 'Unreachable', JSON.stringify(body));
  }
  const server = await serve(t, (request, response) =>
    request.method === 'GET' ? ordinary(request, response) : void response.end('0000'),
  );
  const tip = await readerOf(t, `${server.url}/x`).tip();
  assert.equal(tip.kind === 'failed' && tip.state, 'RefMissing');
});

test('a server that asks for patience gets it', async (t) => {
  const server = await serve(
    t,
    (_, response) => void response.writeHead(429, { 'retry-after': '120' }).end(),
  );
  const tip = await readerOf(t, `${server.url}/x`).tip();
  assert.equal(tip.kind === 'failed' && tip.retryAfterMs, 120_000);
});

const BOT: Credentials = { kind: 'basic', username: 'bot', password: { env: 'PASSWORD' } };

test('redirects are followed, but credentials stay with their host', async (t) => {
  const seen: (string | undefined)[] = [];
  const target = await serve(t, (request, response) => {
    seen.push(request.headers.authorization);
    ordinary(request, response);
  });
  const server = await serve(t, (request, response) => {
    assert.match(request.headers.authorization ?? '', /^Basic /);
    response.writeHead(307, { location: `${target.url}${request.url}` }).end();
  });
  const reader = readerOf(t, `${server.url}/x`, BOT);
  assert.deepEqual(await reader.tip(), { kind: 'tip', id: ID });
  assert.deepEqual(seen, [undefined, undefined]);
  const loop = await serve(
    t,
    (request, response) => void response.writeHead(302, { location: request.url }).end(),
  );
  const tip = await readerOf(t, `${loop.url}/x`).tip();
  assert.equal(tip.kind === 'failed' && tip.state, 'Unreachable');
});
