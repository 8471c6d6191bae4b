/** One tree, and the digest that each version gives it: one that changes here would run stacks of every fleet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestV1 } from '../../../hub/digest/v1.ts';
import { digestV2, filesDigest } from '../../../hub/digest/v2.ts';
import { infer } from '../../../hub/inputs/runtimes.ts';
import { wholeLockfile } from '../../../hub/inputs/whole.ts';
import { choose, type Chosen, type Files } from '../inputs/tree.ts';

const FILES: Files = {
  '.gitattributes': '*.txt text\n',
  '.npmrc': 'a=b',
  '.nvmrc': '24',
  '.pulumi-version': '3',
  'package.json': '{"name": "root", "workspaces": ["stacks/*", "libs/*"]}',
  'package-lock.json': '{"lockfileVersion": 3, "packages": {}}',
  'libs/ui/package.json': '{"name": "ui"}',
  'libs/ui/index.js': 'exports.a = 1;',
  'stacks/web/Pulumi.yaml': 'name: web\nruntime: nodejs\n',
  'stacks/web/Pulumi.prod.yaml': 'config: {}\n',
  'stacks/web/Pulumi.dev.yaml': 'config: {}\n',
  'stacks/web/package.json': '{"name": "web", "dependencies": {"ui": "*"}}',
  'stacks/web/index.js': 'require("../../libs/ui")',
  'stacks/web/link': '-> ../../shared',
  'shared/x': '+x',
  'stacks/web/vendor': '@',
  'stacks/web/nested/Pulumi.yaml': 'name: n\nruntime: yaml\n',
  'stacks/web/ü.txt': 'ü',
  'docs/readme.md': 'no',
};
const inputs = { project: 'stacks/web', pulumiStack: 'organization/web/prod' };
const asked = { project: 'stacks/web', stack: 'organization/web/prod', include: ['/docs/**', '!*.md'] };
const chosenBy = (how: typeof infer): Chosen => choose(FILES, asked, { infer: how });

test('version 1: the folder, the settings, the lockfile as it is', () =>
  assert.equal(
    digestV1(inputs, chosenBy(wholeLockfile).files),
    'v1:66246bf83360cc39fd576cc6a102c68a648e3f2832fda47dc4ed0e96f1b18334',
  ));

test('version 2: what inference finds, the lockfile cut', () => {
  const chosen = chosenBy(infer);
  assert.deepEqual(
    chosen.paths.filter((path) => path.startsWith('libs/')),
    ['libs/ui/index.js', 'libs/ui/package.json'],
  );
  assert.equal(
    digestV2(inputs, filesDigest(chosen.files)),
    'v2:d33efeffce8855dada0c5aecbe2492c1fcb96bad81ee465d0f089cfe9947dd18',
  );
});
