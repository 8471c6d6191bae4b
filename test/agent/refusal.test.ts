/** What is made unreadable, and how refusals are found in what programs print. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeRun } from '../../agent/failures.ts';
import { poisonPlan, undeclaredIn, type Scene } from '../../agent/undeclared.ts';
import type { Surroundings } from '../../shared/surroundings.ts';

const SURROUNDINGS: Surroundings = {
  '.': { undeclared: ['README.md', 'services/'] },
  apps: { closed: true },
  'apps/web': { undeclared: ['nested/'], withheld: ['Pulumi.prod.yaml', 'stack.yaml'] },
};
const SCENE: Scene = { surroundings: SURROUNDINGS, work: '/data/runs/1/work', project: 'apps/web' };

test('missing names are laid out unreadable, and folders that Pulumi or Python must list stay listed', () => {
  const plan = poisonPlan(SURROUNDINGS, { project: 'apps/web', runtime: 'nodejs' });
  assert.deepEqual(plan.entries, [
    { path: 'README.md', isFolder: false },
    { path: 'services', isFolder: true },
    { path: 'apps/web/nested', isFolder: true },
  ]);
  assert.deepEqual(plan.unlisted, ['.', 'apps']);
  assert.deepEqual(poisonPlan(SURROUNDINGS, { project: 'apps/web', runtime: 'python' }).unlisted, []);
});

const TABLE: readonly (readonly [string, string, RegExp | undefined])[] = [
  [
    'a list of a folder',
    "ls: cannot open directory '../..': Permission denied",
    /more in its root .*add "\/"/,
  ],
  ['a file by a relative path', 'cat: ../../README.md: Permission denied', /README\.md .*add "\/README\.md"/],
  [
    'a file by its full path',
    "Error: EACCES: permission denied, open '/data/runs/1/work/services/a.json'",
    /services\/ .*add "\/services\/a\.json"/,
  ],
  [
    'a compiler that reads through a link',
    'error TS5083: Cannot read file "/data/runs/1/work/services/tsconfig.json": EACCES',
    /add "\/services\/tsconfig\.json"/,
  ],
  ['Python', "PermissionError: [Errno 13] Permission denied: '../../services'", /add "\/services\/"/],
  [
    'a module of Node.js',
    "Cannot find module '/data/runs/1/work/services/x.mjs' imported from /data/runs/1/work/apps/web/index.mjs",
    /add "\/services\/x\.mjs"/,
  ],
  [
    'a manifest',
    "EACCES: permission denied, open 'stack.yaml'",
    /stack\.yaml is a manifest, .* never an input/,
  ],
  ['what is elsewhere', "EACCES: permission denied, open '/etc/shadow'", undefined],
  ['what is declared', "EACCES: permission denied, open 'own.txt'", undefined],
  ['a name in a closed folder that nobody knows', "EACCES: permission denied, open '../x'", undefined],
  ['another failure', "Error: ENOENT: no such file or directory, open '../../README.md'", undefined],
];

describe('a refusal is found in what is said of', () => {
  for (const [what, line, says] of TABLE)
    test(what, () => {
      const found = undeclaredIn(['other words', line], SCENE);
      if (says === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', says);
    });
});

const changes = { create: 0, update: 0, delete: 0, replace: 0, same: 0 };
const ending = (exit: number, text: string) => ({
  exit,
  outcome: { changes, resources: [], planned: [], errors: [{ text }], failedResources: 0 },
  tail: [],
  timeoutMs: 1_000,
  scene: SCENE,
});

test('a run that met one is a mistake in the manifest; one that was cut off is cut off', () => {
  const text = "Error: EACCES: permission denied, open '../../README.md'";
  const judged = judgeRun(ending(1, text));
  assert.ok(judged.result === 'failed');
  assert.deepEqual([judged.failure, judged.reason.code], ['Config', 'UndeclaredInput']);
  const killed = judgeRun(ending(137, text));
  assert.ok(killed.result === 'failed');
  assert.equal(killed.failure, 'Lost');
  const { scene: _, ...whole } = ending(1, text);
  const other = judgeRun(whole);
  assert.ok(other.result === 'failed');
  assert.equal(other.failure, 'Program');
});
