import assert from 'node:assert/strict';
import test from 'node:test';
import { ratiosOf, rounded, summaryOf } from './statistics.ts';

const table: readonly (readonly [values: readonly number[], median: number, min: number, max: number])[] = [
  [[7], 7, 7, 7],
  [[3, 1], 2, 1, 3],
  [[10, 9, 1], 9, 1, 10],
  [[4, 100, 2, 3], 3.5, 2, 100],
];
for (const [values, median, min, max] of table)
  test(`the median of ${values.join()} is ${median}`, () => {
    const given = [...values];
    assert.deepEqual(summaryOf(given), { count: values.length, median, min, max });
    assert.deepEqual(given, values);
  });

test('nothing has no median', () => assert.throws(() => summaryOf([]), /nothing was measured/));

test('ratios are taken within pairs, so a slow moment of the machine counts on both sides', () => {
  const pairs = [
    { measured: 110, base: 100 },
    { measured: 1_200, base: 1_000 },
    { measured: 130, base: 100 },
  ];
  assert.deepEqual(ratiosOf(pairs), { count: 3, median: 1.2, min: 1.1, max: 1.3 });
});

test('rounding keeps the number a number', () => assert.equal(rounded(1.14499, 2), 1.14));
