import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRef, readRemote } from '../../../hub/git/remote.ts';

test('urls', () => {
  const rows: readonly (readonly [string, object])[] = [
    ['https://host/a.git', { kind: 'http', url: 'https://host/a.git' }],
    ['https://host/a/', { kind: 'http', url: 'https://host/a' }],
    ['ssh://git@host/a', { kind: 'ssh', url: 'ssh://git@host/a' }],
    ['git@host:a/b.git', { kind: 'ssh', url: 'git@host:a/b.git' }],
    ['/srv/repo', { kind: 'local', path: '/srv/repo', url: '/srv/repo' }],
    ['file:///srv/re%20po', { kind: 'local', path: '/srv/re po', url: '/srv/re po' }],
  ];
  for (const [url, expected] of rows) assert.deepEqual(readRemote(url), expected, url);
  assert.equal(readRemote('some/folder').kind, 'local');
  for (const url of [
    '',
    '-oProxyCommand=x',
    'ext::sh -c x',
    'git://host/x',
    'ftp://h/x',
    'ssh://u:p@h/x',
    'https://bot:p%40ss@host/a',
    'https://token@host/a',
    'https://h/\nx',
    'file://host/x',
  ])
    assert.equal(readRemote(url).kind, 'refused', url);
});

test('refs', () => {
  const id = 'a'.repeat(40);
  assert.deepEqual(readRef({ branch: 'main' }), { kind: 'ref', name: 'refs/heads/main' });
  assert.deepEqual(readRef({ branch: 'refs/heads/feature/x' }), {
    kind: 'ref',
    name: 'refs/heads/feature/x',
  });
  assert.deepEqual(readRef({ branch: 'HEAD' }), { kind: 'ref', name: 'HEAD' });
  assert.deepEqual(readRef({ tag: 'v1.2' }), { kind: 'ref', name: 'refs/tags/v1.2' });
  assert.deepEqual(readRef({ commit: id }), { kind: 'ref', name: id });
  for (const branch of [
    '',
    'a b',
    'a..b',
    'a:b',
    'a*',
    '.a',
    'a.lock',
    'a/',
    '/a',
    'a@{1}',
    'a\nb',
    '@',
    'a//b',
    'a.',
  ])
    assert.equal(readRef({ branch }).kind, 'refused', branch);
  assert.deepEqual(readRef({ semver: '^1.2' }), { kind: 'ref', name: 'semver:^1.2', range: '^1.2' });
  for (const choice of [{ commit: 'abc' }, { commit: 'main' }, { semver: 'latest' }, { semver: '' }])
    assert.equal(readRef(choice).kind, 'refused');
});
