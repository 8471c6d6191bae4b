import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeModules, isBelowUrl, moduleUrl, normalUrl } from '../../../hub/git/gitmodules.ts';
import { readRemote, type Remote } from '../../../hub/git/remote.ts';

function remote(url: string): Remote {
  const read = readRemote(url);
  assert.ok(read.kind !== 'refused', url);
  return read;
}

test('paths and urls of submodules, whatever their names hold', () => {
  const output =
    'submodule.a.b\\c.path\nlibs/ü\0submodule.a.b\\c.url\n../x\0submodule.n.path\nn/\0submodule.n.url\nold\0submodule.n.url\nnew\0submodule.half.path\nh\0core.bare\ntrue\0';
  assert.deepEqual(
    [...decodeModules(Buffer.from(output))],
    [
      ['libs/ü', '../x'],
      ['n', 'new'],
    ],
  );
});

const relative: readonly [string, string, string | undefined][] = [
  ['https://h/a/b.git', '../c.git', 'https://h/a/c.git'],
  ['https://h/a/b', './c', 'https://h/a/b/c'],
  ['https://h/a/b', '../../c', 'https://h/c'],
  ['https://h/a/b', '../../../c', undefined],
  ['ssh://git@h:22/a/b', '../c', 'ssh://git@h:22/a/c'],
  ['git@host:a/b.git', '../c.git', 'git@host:a/c.git'],
  ['/srv/a', '../b', '/srv/b'],
  ['https://h/a', 'https://other/x', 'https://other/x'],
];

for (const [base, url, expected] of relative) {
  test(`the submodule ${url} of ${base} is at ${expected ?? 'no address'}`, () => {
    assert.equal(moduleUrl(url, remote(base)), expected);
  });
}

test('spellings of one address are one', () => {
  for (const url of ['https://H.example/a/b', 'https://h.example/a/b.git', 'https://h.example:443/a/b/'])
    assert.equal(normalUrl(remote(url)), 'https://h.example/a/b');
  assert.notEqual(normalUrl(remote('https://h.example/a')), normalUrl(remote('https://h.example/A')));
});

const below: readonly [string, string, boolean][] = [
  ['https://h/team/lib.git', 'https://h/team', true],
  ['https://h/team/lib', 'https://h/team/', true],
  ['https://h/team/lib', 'https://h/team/lib', true],
  ['https://h/team/lib', 'https://h', true],
  ['git@host:team/lib', 'ssh://git@host/team', false],
  ['https://h/team-evil/lib', 'https://h/team', false],
  ['https://h/team/../evil/lib', 'https://h/team', false],
  ['https://h.evil/team/lib', 'https://h/team', false],
  ['http://h/team/lib', 'https://h/team', false],
  ['ssh://git@h/team/lib', 'https://h/team', false],
  ['ssh://git@h/team/lib', 'ssh://git@h/team', true],
  ['/srv/lib', 'https://h/srv', false],
];

for (const [url, allowed, expected] of below) {
  test(`${url} is ${expected ? '' : 'not '}allowed by ${allowed}`, () => {
    assert.equal(isBelowUrl(remote(url), allowed), expected);
  });
}
