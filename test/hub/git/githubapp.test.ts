import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { makeAppTokens } from '../../../hub/git/githubapp.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(owner: Owner, answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(owner, () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3/`;
}

const MINUTE = 60_000;
const grant = (response: ServerResponse, token: string, endsIn: number): void =>
  void response
    .writeHead(201, { 'content-type': 'application/json' })
    .end(JSON.stringify({ token, expires_at: new Date(Date.now() + endsIn).toISOString() }));

test('an app says who it is by a token that it has signed, and keeps what it gets until shortly before its end', async (t) => {
  const asked: IncomingMessage[] = [];
  const ends = [60 * MINUTE, 4 * MINUTE, 60 * MINUTE];
  const apiUrl = await serve(t, (request, response) => {
    asked.push(request);
    grant(response, `ghs_${asked.length}`, ends[asked.length - 1] ?? 0);
  });
  const tokens = makeAppTokens({ appId: '12', installationId: '34', apiUrl });
  const both = await Promise.all([tokens.token(KEY), tokens.token(KEY)]);
  assert.deepEqual(both, [
    { kind: 'token', token: 'ghs_1' },
    { kind: 'token', token: 'ghs_1' },
  ]);
  assert.equal(asked.length, 1);
  const [request] = asked;
  assert.equal(request?.method, 'POST');
  assert.equal(request?.url, '/api/v3/app/installations/34/access_tokens');
  const [head = '', body = '', signature = ''] = (request?.headers.authorization ?? '')
    .replace('Bearer ', '')
    .split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  assert.equal(claims['iss'], '12');
  assert.ok(Number(claims['exp']) - Number(claims['iat']) <= 600);
  const signed = Buffer.from(`${head}.${body}`);
  assert.ok(verify('RSA-SHA256', signed, createPublicKey(privateKey), Buffer.from(signature, 'base64url')));
  tokens.forget();
  assert.deepEqual(
    await tokens.token(KEY),
    { kind: 'token', token: 'ghs_2' },
    'a refused one is not used again',
  );
  assert.deepEqual(
    await tokens.token(KEY),
    { kind: 'token', token: 'ghs_3' },
    'one that ends soon is renewed',
  );
  assert.deepEqual(await tokens.token(KEY), { kind: 'token', token: 'ghs_3' });
});

const refusals: readonly [string, Answer, string, RegExp][] = [
  ['another app', (_, response) => void response.writeHead(401).end(), 'AuthFailed', /HTTP 401.*appId/],
  ['no installation', (_, response) => void response.writeHead(404).end(), 'AuthFailed', /installationId/],
  ['an outage', (_, response) => void response.writeHead(502).end(), 'Unreachable', /502/],
  ['an odd answer', (_, response) => void response.end('{}'), 'Unreachable', /not one of GitHub/],
  ['no answer', (request) => void request.socket.destroy(), 'Unreachable', /asking http/],
];

for (const [name, answer, state, words] of refusals) {
  test(`a GitHub App that gets no token says why: ${name}`, async (t) => {
    const apiUrl = await serve(t, answer);
    const found = await makeAppTokens({ appId: '1', installationId: '2', apiUrl }).token(KEY);
    assert.ok(found.kind === 'failed');
    assert.equal(found.state, state);
    assert.match(found.message, words);
  });
}

test('the word of an app is not sent on where the API redirects to', async (t) => {
  let reached = 0;
  const target = await serve(t, (_, response) => ((reached += 1), grant(response, 'x', MINUTE)));
  const apiUrl = await serve(t, (_, response) => void response.writeHead(307, { location: target }).end());
  const found = await makeAppTokens({ appId: '1', installationId: '2', apiUrl }).token(KEY);
  assert.equal(found.kind === 'failed' && found.state, 'Unreachable');
  assert.equal(reached, 0);
});

test('a key that is none is said without a word of it', async () => {
  const tokens = makeAppTokens({ appId: '1', installationId: '2', apiUrl: 'http://127.0.0.1:1' });
  const found = await tokens.token('-----BEGIN s3cret-canary');
  assert.ok(found.kind === 'failed' && found.state === 'AuthFailed' && /no RSA key/.test(found.message));
  assert.doesNotMatch(found.message, /canary/);
});
