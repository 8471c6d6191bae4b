import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonical, hashOfSet, sha256 } from '../../shared/canonical.ts';

/** The same value with the keys of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, turned(inner)]),
  );
}

test('the order of keys makes no difference, at any depth', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(canonical(turned(value)), canonical(value))));
});

test('nothing of a value is lost', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) =>
      assert.deepEqual(JSON.parse(canonical(value)), JSON.parse(JSON.stringify(value))),
    ),
  );
});

const pairs: readonly [string, unknown, unknown, boolean][] = [
  ['a field that is undefined counts as absent', { a: 1, b: undefined }, { a: 1 }, true],
  ['null does not count as absent', { a: null }, {}, false],
  ['the order of a list counts', [1, 2], [2, 1], false],
  ['a number and its text differ', { a: 1 }, { a: '1' }, false],
];

for (const [name, left, right, same] of pairs) {
  test(name, () => assert.equal(canonical(left) === canonical(right), same));
}

test('digits as keys are sorted like any other', () => {
  assert.equal(canonical({ b: 1, a: { 2: 'x', 10: 'y' } }), canonical({ a: { 10: 'y', 2: 'x' }, b: 1 }));
});

test('sha256 of a known text', () => {
  assert.equal(sha256('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('the hash of a set does not depend on the order of its rows, but on each of them', () => {
  const rows = fc.uniqueArray(fc.stringMatching(/^[a-z/@0-9]{1,12}$/), { minLength: 1 });
  fc.assert(
    fc.property(rows, (list) => {
      assert.equal(hashOfSet(list.toReversed()), hashOfSet(list));
      assert.notEqual(hashOfSet(list.slice(1)), hashOfSet(list));
      assert.notEqual(hashOfSet([...list, '_']), hashOfSet(list));
    }),
  );
});
