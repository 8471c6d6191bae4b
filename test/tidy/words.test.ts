import assert from 'node:assert/strict';
import test from 'node:test';
import { forbiddenWords } from './words.ts';

/** Taken apart, so that this file does not say them. */
const found: readonly (readonly string[])[] = [
  ['// TO', 'DO: later'],
  ['// FIX', 'ME'],
  ['// eslint-dis', 'able-next-line'],
  ['// @ts-ig', 'nore'],
  ['https://registry.', 'npmjs.org/x'],
  ['GOPROXY=https://proxy.', 'golang.org'],
  ['see /wo', 'rk/main/x'],
  ['"/ro', 'ot/.cache"'],
  ['as the br', 'ief says: this br', 'ief'],
  ['an assis', 'tant wrote it'],
  ['see iss', 'ue 12'],
  ['(desi', 'gn 4)'],
  ['a stub for n', 'ow'],
];
for (const parts of found)
  test(`words: ${parts.join('·')}`, () => {
    const text = `fine\n${parts.join('')}\n`;
    assert.deepEqual(
      forbiddenWords([{ path: 'docs/a.md', text }]).map(({ path, line }) => `${path}:${line}`),
      ['docs/a.md:2'],
    );
  });

const free = [
  'an issuer issues a token for the task runner',
  'the session of the process',
  'const work = `${root}/work/x`;',
  'network/root/x',
  'design decisions of 2026',
];
for (const text of free)
  test(`no forbidden word: ${text}`, () => assert.deepEqual(forbiddenWords([{ path: 'a.md', text }]), []));
