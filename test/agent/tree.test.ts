import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkTree, type TreeEntry } from '../../agent/tree.ts';

const file = (name: string): TreeEntry => ({ name, type: 'file' });
const link = (name: string, target: string): TreeEntry => ({ name, type: 'symlink', target });

describe('what is refused', () => {
  const rows: readonly (readonly [string, readonly TreeEntry[], RegExp])[] = [
    ['an absolute path', [file('/etc/passwd')], /absolute/],
    ['a path that leaves', [file('a/../../b')], /\.\./],
    ['a path with .. that stays', [file('a/../b')], /\.\./],
    ['no path', [file('./')], /empty/],
    ['a zero byte', [file('a\0b')], /zero byte/],
    ['a device, a pipe, a hard link', [{ name: 'a', type: 'other' }], /neither/],
    ['twins by case', [file('Readme'), file('README')], /same path as Readme/],
    ['twins by case of a folder', [file('Lib/a'), file('lib/b')], /same path as Lib/],
    ['twins by composition', [file('caf\u00e9'), file('cafe\u0301')], /same path/],
    ['an absolute link', [link('a', '/etc')], /leaves/],
    ['a link that leaves', [link('a/b', '../../c')], /leaves/],
    [
      'a link that leaves through another one',
      [link('a/b/c/x', '../../..'), link('a/b/c/y', 'x/..')],
      /leaves/,
    ],
    ['links in a circle', [link('a', 'b'), link('b', 'a')], /leaves/],
    ['a file behind a link', [link('a', 'b'), file('b/c'), file('a/d')], /leaves|behind/],
  ];
  for (const [name, entries, why] of rows)
    test(name, () => {
      const checked = checkTree(entries);
      assert.equal(checked.kind, 'refused');
      assert.match(checked.kind === 'refused' ? checked.why : '', why);
    });
});

describe('what is taken', () => {
  const rows: readonly (readonly [string, readonly TreeEntry[]])[] = [
    ['files and folders', [{ name: 'a/', type: 'directory' }, file('a/b'), file('./c')]],
    ['a link to a neighbour', [file('lib/x'), link('app/lib', '../lib')]],
    ['a link to nothing, inside', [link('a', 'b/c')]],
    ['a link through a link', [file('x/y'), link('a', 'x'), link('b', 'a/y')]],
    ['a link to the root', [link('a/root', '..')]],
    ['names that only look alike', [file('ab'), file('abc'), file('a-b')]],
  ];
  for (const [name, entries] of rows)
    test(name, () => assert.equal(checkTree(entries).kind, 'safe', JSON.stringify(checkTree(entries))));
});
