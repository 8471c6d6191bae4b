import assert from 'node:assert/strict';
import test from 'node:test';
import type { Finding } from './finding.ts';
import {
  anyTypes,
  barrels,
  environmentReads,
  moduleMocks,
  names,
  switchedOffTests,
  undocumented,
} from './language.ts';
import { placesOf, plant } from './plant.ts';
import type { Source } from './source.ts';

interface Case {
  readonly rule: (sources: readonly Source[]) => readonly Finding[];
  readonly found: readonly (readonly [path: string, text: string])[];
  readonly free: readonly (readonly [path: string, text: string])[];
}

const table: readonly Case[] = [
  {
    rule: anyTypes,
    found: [
      ['a.ts', 'const x: any = 1;'],
      ['a.ts', 'const x = y as any;'],
      ['a.ts', 'let x: Map<string, any[]>;'],
    ],
    free: [['a.ts', 'const any: unknown = "any"; // any']],
  },
  {
    rule: moduleMocks,
    found: [
      ['test/a.test.ts', "mock.module('node:fs', {});"],
      ['test/a.test.ts', "t.mock.module('node:fs', {});"],
    ],
    free: [['test/a.test.ts', 'mock.timers.enable();']],
  },
  {
    rule: environmentReads,
    found: [
      ['hub/plan.ts', 'process.env.HOME;'],
      ['agent/config.ts', "process.env['HOME'];"],
      ['deploy/local/fleet.ts', 'process.argv[2];'],
    ],
    free: [
      ['hub/main.ts', 'process.env;'],
      ['agent/main.ts', 'process.argv;'],
      ['deploy/local/main.ts', 'process.env;'],
      ['hub/cli/main.ts', 'process.argv;'],
      ['test/a.test.ts', 'process.env;'],
      ['hub/plan.ts', 'process.pid;'],
    ],
  },
  {
    rule: switchedOffTests,
    found: [
      ['test/a.test.ts', "test.only('x', () => {});"],
      ['test/a.test.ts', "describe.skip('x', () => {});"],
      ['test/a.test.ts', "test.todo('x');"],
    ],
    free: [['test/a.test.ts', "test('x', (t) => t.skip('needs Linux'));"]],
  },
  {
    rule: names,
    found: [
      'hub/utils.ts',
      'hub/types.ts',
      'agent/run-helpers.ts',
      'hub/index.ts',
      'hub/order-service.ts',
    ].map((path) => [path, ''] as const),
    free: ['hub/detypes.ts', 'hub/plan.ts', 'hub/serviced.ts'].map((path) => [path, ''] as const),
  },
  {
    rule: barrels,
    found: [['hub/a.ts', "export * from './b.ts';\nexport { c } from './c.ts';"]],
    free: [
      ['hub/a.ts', "export * from './b.ts';\nexport const c = 1;"],
      ['hub/a.ts', ''],
    ],
  },
  {
    rule: undocumented,
    found: [
      ['hub/a.ts', 'export function f() {}'],
      ['hub/a.ts', 'export const f = () => 1;'],
      ['hub/a.ts', '// why\nexport class C {}'],
    ],
    free: [
      ['hub/a.ts', '/** What. */\nexport function f() {}'],
      ['hub/a.ts', 'export interface I {}\nexport const limit = 1;\nfunction g() {}'],
      ['test/a.ts', 'export function f() {}'],
    ],
  },
];

for (const { rule, found, free } of table) {
  for (const [path, text] of found)
    test(`${rule.name} finds ${text || path}`, () => {
      assert.deepEqual(new Set(placesOf(rule(plant({ [path]: text })))).size, 1);
    });
  for (const [path, text] of free)
    test(`${rule.name} lets pass ${text || path} in ${path}`, () => {
      assert.deepEqual(rule(plant({ [path]: text })), []);
    });
}
