/** “Did you mean”. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { didYouMean, editDistance, nearest } from '../../hub/nearest.ts';

const WORDS = ['Stack', 'Cluster', 'Defaults', 'dir', 'pulumiStack'];
const ROWS: readonly (readonly [word: string, found: string | undefined])[] = [
  ['Stak', 'Stack'],
  ['stack', 'Stack'],
  ['Clutser', 'Cluster'],
  ['pulumistack', 'pulumiStack'],
  ['dri', 'dir'],
  ['d', undefined],
  ['Service', undefined],
  ['', undefined],
];
for (const [word, found] of ROWS) {
  test(`“${word}” → ${found ?? 'none'}`, () => {
    assert.equal(nearest(word, WORDS), found);
  });
}

test('nothing close says nothing', () => {
  assert.equal(didYouMean('Service', WORDS), '');
});

test('the distance is that of single changes, and none for equal words', () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, fc.nat(12), (text, other, at) => {
      const shorter = text.slice(0, at) + text.slice(at + 1);
      assert.equal(editDistance(text, text), 0);
      assert.equal(editDistance(text, other), editDistance(other, text));
      assert.equal(editDistance(text, shorter), text.length - shorter.length);
    }),
  );
});

test('no hint is looked for among very many words', () => {
  const words = Array.from({ length: 300 }, (_, n) => `stack-${n}`);
  assert.equal(didYouMean('stack-x', words), '');
  assert.match(didYouMean('stack-x', words.slice(0, 100)), /did you mean/);
});
