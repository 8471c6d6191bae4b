import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { bearsToken, hostOf, isLoopback, parseListen, parseTokens } from '../../../hub/api/auth.ts';

const TOKEN = 'one-token-of-enough-characters';
const hash = createHash('sha256').update(TOKEN).digest('hex');

const listens: readonly { text: string; tokens?: true; expected: string }[] = [
  { text: '127.0.0.1:8420', expected: '127.0.0.1 8420' },
  { text: 'localhost:0', expected: 'localhost 0' },
  { text: '[::1]:80', expected: '::1 80' },
  { text: '0.0.0.0:8420', expected: 'set --api-token-file' },
  { text: '[::]:8420', expected: 'set --api-token-file' },
  { text: '10.1.2.3:8420', expected: 'set --api-token-file' },
  { text: 'hub.example:8420', expected: 'set --api-token-file' },
  { text: '127.0.0.1.evil.example:1', expected: 'set --api-token-file' },
  { text: '0.0.0.0:8420', tokens: true, expected: '0.0.0.0 8420' },
  { text: ':8420', expected: 'is not host:port' },
  { text: '127.0.0.1', expected: 'is not host:port' },
  { text: '127.0.0.1:99999', expected: 'is not host:port' },
  { text: '::1:80', expected: 'is not host:port' },
];
for (const { text, tokens = false, expected } of listens) {
  test(`listen on ${text} ${tokens ? 'with' : 'without'} tokens: ${expected}`, () => {
    const read = parseListen(text, tokens);
    const said = read.kind === 'address' ? `${read.host} ${read.port}` : read.error;
    assert.ok(said.includes(expected), said);
  });
}

const files: readonly { name: string; text: string; expected: number | RegExp }[] = [
  { name: 'one token', text: `${TOKEN}\n`, expected: 1 },
  { name: 'a hash and a comment', text: `# ci\nsha256:${hash}\n\n${TOKEN}x\n`, expected: 2 },
  { name: 'nothing', text: '# none\n', expected: /no token/ },
  { name: 'a short token', text: 'short', expected: /at least 20/ },
  { name: 'half a hash', text: `sha256:${hash.slice(1)}`, expected: /64 hex/ },
];
for (const { name, text, expected } of files) {
  test(`a token file with ${name}`, () => {
    const read = parseTokens(text);
    if (typeof expected === 'number')
      assert.equal(read.kind === 'tokens' ? read.hashes.length : read.error, expected);
    else assert.match(read.kind === 'error' ? read.error : 'read', expected);
  });
}

test('an error never repeats the token', () => {
  const read = parseTokens('too-short-secret');
  assert.ok(read.kind === 'error' && !read.error.includes('too-short-secret'));
});

test('a token is borne as it is or by its hash', () => {
  for (const text of [TOKEN, `sha256:${hash}`]) {
    const read = parseTokens(`another-token-of-enough-characters\n${text}`);
    assert.ok(read.kind === 'tokens');
    assert.equal(bearsToken(`Bearer ${TOKEN}`, read.hashes), true);
    assert.equal(bearsToken(`bearer  ${TOKEN}`, read.hashes), true);
    for (const header of [undefined, '', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${hash}`])
      assert.equal(bearsToken(header, read.hashes), false);
  }
});

test('names of this machine', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) assert.equal(isLoopback(host), true);
  for (const host of ['0.0.0.0', '::', '127.evil', 'localhost.evil', ''])
    assert.equal(isLoopback(host), false);
  assert.equal(hostOf('[::1]:80'), '::1');
  assert.equal(hostOf('LocalHost:80'), 'localhost');
  assert.equal(hostOf(undefined), '');
});
