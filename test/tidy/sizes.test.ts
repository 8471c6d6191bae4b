import assert from 'node:assert/strict';
import test from 'node:test';
import { placesOf, plant } from './plant.ts';
import {
  FILE_BARS,
  fileSizes,
  FUNCTION_BARS,
  functionSizes,
  overBars,
  PARAMETER_BARS,
  parameterCounts,
  testFunctionSizes,
  type Measure,
} from './sizes.ts';

const lines = (count: number): string => 'x;\n'.repeat(count);
const measures = (...sizes: readonly number[]): readonly Measure[] =>
  sizes.map((size, index) => ({ path: `f${index}.ts`, line: 0, name: 'the file', size }));

test('bars: the share is counted, and all that are over are named, the largest first', () => {
  const bars = [{ share: 0.9, atMost: 25 }];
  const nine = Array.from({ length: 9 }, () => 25);
  assert.deepEqual(overBars(measures(...nine, 60), bars, 'lines'), []);
  assert.deepEqual(
    overBars(measures(...nine, 60, 61), bars, 'lines').map(({ path, message }) => `${path} ${message}`),
    [
      'f10.ts the file has 61 lines, wanted: 90 % have at most 25',
      'f9.ts the file has 60 lines, wanted: 90 % have at most 25',
    ],
  );
  assert.deepEqual(overBars([], bars, 'lines'), []);
});

test('files: one that is too long is found, and a median that is too high', () => {
  const files = { 'a.ts': lines(100), 'b.ts': lines(101), 'c.ts': lines(401) };
  const found = overBars(fileSizes(plant(files)), FILE_BARS, 'lines');
  assert.deepEqual(
    found.map(({ path, message }) => `${path} ${message.split(' wanted: ')[1]}`),
    [
      'c.ts 50 % have at most 100',
      'b.ts 50 % have at most 100',
      'c.ts 90 % have at most 200',
      'c.ts at most 400',
    ],
  );
  assert.deepEqual(overBars(fileSizes(plant({ 'a.ts': lines(100) })), FILE_BARS, 'lines'), []);
});

test('functions: one that is too long is found, whatever its form', () => {
  const body = `{\n${lines(59)}}`;
  const forms = [
    `function f() ${body}`,
    `const f = () => ${body}`,
    `class C { m() ${body} }`,
    `const o = { m() ${body}, get g() ${body} }`,
  ];
  for (const form of forms) {
    const found = overBars(functionSizes(plant({ 'a.ts': form })), FUNCTION_BARS.slice(-1), 'lines');
    assert.ok(found.length > 0, form);
  }
  const short = `function f() {\n${lines(58)}}`;
  assert.deepEqual(overBars(functionSizes(plant({ 'a.ts': short })), FUNCTION_BARS.slice(-1), 'lines'), []);
});

test('functions: one-line functions do not dilute the share', () => {
  const text = `const a = () => 1;\n`.repeat(100) + `function f() {\n${lines(30)}}`;
  assert.deepEqual(placesOf(overBars(functionSizes(plant({ 'a.ts': text })), FUNCTION_BARS, 'lines')), [
    'a.ts:101',
  ]);
});

test('functions: in tests a list of tests may be long, a test may not', () => {
  const list = `function contract() {\n  test('x', () => {\n${lines(60)}});\n}`;
  assert.deepEqual(
    testFunctionSizes(plant({ 'test/a.ts': list })).map(({ line }) => line),
    [2],
  );
});

test('parameters: the fourth is found', () => {
  const text = 'const f = (a, b, c) => a;\nfunction g(a, b, c, d) {}\n';
  assert.deepEqual(
    overBars(parameterCounts(plant({ 'a.ts': text })), PARAMETER_BARS, 'parameters').map(
      ({ message }) => message,
    ),
    ['g has 4 parameters, wanted: at most 3'],
  );
});
