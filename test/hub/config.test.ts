import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hubSettings, parseRepositories } from '../../hub/config.ts';
import { parseSettings } from '../../shared/config.ts';

test('every missing setting is said at once', () => {
  const parsed = parseSettings(hubSettings, [], {});
  assert.equal(parsed.kind, 'errors');
  assert.deepEqual(parsed.kind === 'errors' && parsed.errors.map((error) => error.split(' ')[0]), [
    '--data-dir',
    '--repositories',
    '--nats-seed-file',
    '--secret-file',
  ]);
});

test('a repository has defaults', () => {
  const read = parseRepositories(
    'r.yaml',
    'repositories:\n  - {name: fleet, url: /srv/fleet, trust: fleet}\n',
  );
  assert.deepEqual(read, {
    kind: 'repositories',
    repositories: [
      {
        name: 'fleet',
        url: '/srv/fleet',
        ref: { branch: 'main' },
        manifests: ['**/*.yaml', '**/*.yml'],
        trust: 'fleet',
        driver: 'auto',
        intervalMs: 15_000,
      },
    ],
  });
});

const row = (change: string): string => `repositories:\n  - {name: fleet, url: u, trust: fleet${change}}\n`;
const remote = (scheme: string, auth: string): string =>
  row(`, auth: ${auth}`).replace('url: u', `url: '${scheme}://git.example.com/x'`);
const bad: readonly [string, string, RegExp][] = [
  ['not YAML', 'repositories: [', /^r\.yaml:1: /],
  ['unknown field', row(', brunch: main'), /^r\.yaml:2: .*brunch/],
  ['unknown trust', row('').replace('trust: fleet', 'trust: full'), /^r\.yaml:2: repositories\.0\.trust/],
  ['two refs', row(', ref: {branch: a, tag: b}'), /^r\.yaml:2: repositories\.0\.ref/],
  ['a short commit', row(', ref: {commit: abc}'), /ref/],
  ['a bad interval', row(', interval: soon'), /15s/],
  ['twice the same name', `${row('')}  - {name: fleet, url: v, trust: stacks}\n`, /fleet is listed twice/],
  ['no fleet', row('').replace('trust: fleet', 'trust: stacks'), /trust: fleet/],
  [
    'user info',
    row('').replace('url: u', 'url: https://token@host/x'),
    /^r\.yaml:2: repository fleet: .*auth: /,
  ],
  [
    'a secret in place',
    row(', auth: {token: abc}'),
    /^r\.yaml:2: .*auth\.token: .*does not stand in this file/,
  ],
  [
    'two ways in',
    remote('https', '{token: {env: T}, username: u, password: {env: P}}'),
    /more than one of token/,
  ],
  ['no way in', remote('https', '{username: u}'), /auth\.username needs/],
  ['plain http', remote('http', '{token: {env: T}}'), /git\.example\.com unencrypted: use https/],
  ['ssh without host keys', remote('ssh', '{privateKey: {file: k}}'), /needs auth\.knownHosts/],
  ['ssh with a token', remote('ssh', '{token: {env: T}}'), /auth\.token is for https/],
  ['https with a key', remote('https', '{privateKey: {file: k}}'), /auth\.privateKey is for ssh/],
  ['auth of a path', row(', auth: {token: {env: T}}'), /leave it out/],
  ['none', 'repositories: []\n', /^r\.yaml:1/],
];

for (const [name, text, expected] of bad) {
  test(`repositories file: ${name} is refused with its place`, () => {
    const read = parseRepositories('r.yaml', text);
    assert.equal(read.kind, 'errors');
    assert.match(read.kind === 'errors' ? read.errors.join('\n') : '', expected);
  });
}
