import assert from 'node:assert/strict';
import test from 'node:test';
import { plant } from './plant.ts';
import { idleEntries, worldAccess } from './world.ts';

const found = [
  "import { readFile } from 'node:fs/promises';",
  "import { createServer } from 'node:http';",
  "import { spawn } from 'node:child_process';",
  "import fastify from 'fastify';",
  'setTimeout(() => 1, 10);',
  'await fetch(url);',
  'const now = Date.now();',
  'const now = new Date();',
  'const start = performance.now();',
  'const one = Math.random();',
];
for (const text of found)
  test(`world: ${text}`, () => {
    assert.equal(worldAccess(plant({ 'hub/plan.ts': text }), []).length, 1);
    assert.deepEqual(worldAccess(plant({ 'hub/plan.ts': text }), ['hub/plan.ts']), []);
    assert.deepEqual(worldAccess(plant({ 'test/hub/plan.test.ts': text }), []), []);
  });

const free = [
  "import type { Stats } from 'node:fs';",
  "import { createHash } from 'node:crypto';",
  "import { join } from 'node:path';",
  'const then = new Date(now);',
  'clock.now();',
];
for (const text of free)
  test(`pure: ${text}`, () => assert.deepEqual(worldAccess(plant({ 'hub/plan.ts': text }), []), []));

test('an entry that nothing needs is idle', () => {
  const sources = plant({ 'hub/a.ts': 'Date.now();', 'hub/b.ts': '' });
  assert.deepEqual(idleEntries(sources, ['hub/a.ts', 'hub/b.ts', 'hub/gone.ts']), [
    'hub/b.ts',
    'hub/gone.ts',
  ]);
});
