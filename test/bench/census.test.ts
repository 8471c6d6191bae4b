import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { countIn, familyOf, parseLine, ticksOf, type Census, type ProcessLine } from './census.ts';

const HUB = 10;
const roots = new Set([HUB]);

const line = (pid: number, parent: number, more: Partial<ProcessLine> = {}): ProcessLine => ({
  ...{ pid, parent, ticks: 0, reapedFaults: 0 },
  ...more,
});

const counted = (looks: readonly (readonly ProcessLine[])[]): number => {
  let census: Census | undefined;
  for (const look of looks) census = countIn(census, familyOf(look, roots));
  return census?.started ?? 0;
};

test('a line is read, whatever the name of the program', () => {
  const text = '42 (a) (b 7) S 10 42 42 0 -1 4194560 6094 63154 0 3 1 3 36 10 20 0 1 0 455710 5255168';
  assert.deepEqual(parseLine(text), { pid: 42, parent: 10, reapedFaults: 63154, ticks: 50 });
  assert.equal(parseLine(''), undefined);
});

test('the family is all below the roots, and its time is the sum', () => {
  const table = [
    line(1, 0),
    line(HUB, 1, { ticks: 5 }),
    line(20, HUB, { ticks: 7 }),
    line(30, 20),
    line(40, 1),
  ];
  const family = familyOf(table, roots);
  assert.deepEqual([...family.keys()], [HUB, 20, 30]);
  assert.equal(ticksOf(family), 12);
});

const cases: readonly (readonly [
  what: string,
  looks: readonly (readonly ProcessLine[])[],
  started: number,
])[] = [
  [
    'what was there before',
    [
      [line(HUB, 1), line(20, HUB)],
      [line(HUB, 1), line(20, HUB)],
    ],
    0,
  ],
  ['a new child', [[line(HUB, 1)], [line(HUB, 1), line(20, HUB)], [line(HUB, 1), line(20, HUB)]], 1],
  [
    'a new child of a child',
    [
      [line(HUB, 1), line(20, HUB)],
      [line(HUB, 1), line(20, HUB), line(30, 20)],
    ],
    1,
  ],
  ['the end of an old child', [[line(HUB, 1), line(20, HUB)], [line(HUB, 1, { reapedFaults: 9 })]], 0],
  ['a child between two looks', [[line(HUB, 1)], [line(HUB, 1, { reapedFaults: 9 })]], 1],
  ['a stranger', [[line(HUB, 1)], [line(HUB, 1), line(20, 1)]], 0],
];
for (const [what, looks, started] of cases)
  test(`${what}: ${started} started`, () => assert.equal(counted(looks), started));

test('the kernel counts the faults of even the shortest child', () => {
  const own = (): ProcessLine | undefined => parseLine(readFileSync('/proc/self/stat', 'utf8'));
  const before = own()?.reapedFaults ?? 0;
  spawnSync('/bin/true');
  assert.ok((own()?.reapedFaults ?? 0) > before);
});
