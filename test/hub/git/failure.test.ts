import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchFailure, httpFailure, retryAfterMs, scrub } from '../../../hub/git/failure.ts';

test('what git wrote becomes a state', () => {
  const rows: readonly (readonly [string, string])[] = [
    ["fatal: Authentication failed for 'https://host/x'", 'AuthFailed'],
    ["fatal: could not read Username for 'https://host': terminal prompts disabled", 'AuthFailed'],
    ['git@host: Permission denied (publickey).\nfatal: Could not read from remote repository.', 'AuthFailed'],
    ['Host key verification failed.\nfatal: Could not read from remote repository.', 'AuthFailed'],
    ["fatal: couldn't find remote ref refs/heads/main", 'RefMissing'],
    ['error: Server does not allow request for unadvertised object 1234', 'RefMissing'],
    ["fatal: unable to access 'https://host/x': Could not resolve host: host", 'Unreachable'],
    ['error: RPC failed; curl 18\nfatal: early EOF', 'Unreachable'],
    ['fatal: mismatched algorithms: client sha1; server sha256', 'Unreachable'],
    ['error: object file .git/objects/ab/cd is empty\nfatal: loose object abcd is corrupt', 'Corrupt'],
    ['fatal: not a git repository', 'Corrupt'],
    ['', 'Corrupt'],
  ];
  for (const [stderr, state] of rows) assert.equal(fetchFailure(stderr).state, state, stderr);
});

test('messages hold no credentials and no control characters', () => {
  const message = scrub("fatal: 'https://bot:t0ken@host/x'\nAuthorization: Basic dG9r\x1b[31m");
  assert.equal(message, "fatal: 'https://host/x' Authorization: [redacted]");
  assert.ok(scrub('x'.repeat(10_000)).length <= 400);
});

test('refused requests', () => {
  assert.equal(httpFailure(401, undefined).state, 'AuthFailed');
  assert.equal(httpFailure(403, undefined).state, 'AuthFailed');
  assert.equal(httpFailure(404, undefined).state, 'Unreachable');
  assert.deepEqual(
    [httpFailure(429, 7_000).state, httpFailure(429, 7_000).retryAfterMs],
    ['Unreachable', 7_000],
  );
});

test('Retry-After is seconds or a date', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(retryAfterMs('120', now), 120_000);
  assert.equal(retryAfterMs(new Date(now + 5_000).toUTCString(), now), 5_000);
  assert.equal(retryAfterMs(new Date(now - 5_000).toUTCString(), now), 0);
  assert.equal(retryAfterMs('soon', now), undefined);
  assert.equal(retryAfterMs(undefined, now), undefined);
});
