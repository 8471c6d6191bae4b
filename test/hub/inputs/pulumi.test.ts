import assert from 'node:assert/strict';
import test from 'node:test';
import { infer } from '../../../hub/inputs/runtimes.ts';
import type { Files } from './tree.ts';
import { assertStandsOnItsFiles, foundIn, inferOn, projectAt } from './views.ts';

interface Case {
  readonly says: string;
  readonly files: Files;
  readonly found: readonly string[];
  readonly warnings?: readonly RegExp[];
  readonly problems?: readonly RegExp[];
}

const project = 'name: p\nruntime: yaml\n';

const cases: readonly Case[] = [
  { says: 'a project that names nothing', files: { 'a/Pulumi.yaml': project }, found: [] },
  {
    says: 'the folder of a program elsewhere',
    files: { 'a/Pulumi.yaml': `${project}main: ../programs/web\n`, 'programs/web/Main.yaml': '{}' },
    found: ['programs/web/'],
  },
  {
    says: 'the folder of a main file elsewhere',
    files: { 'a/Pulumi.yaml': `${project}main: ../programs/web/Main.yaml\n`, 'programs/web/Main.yaml': '{}' },
    found: ['programs/web/'],
  },
  {
    says: 'plugins of each kind, as folders and as files',
    files: {
      'a/Pulumi.yaml': `${project}plugins:
  providers: [{ name: x, path: ../plugins/x }]
  languages: [{ name: y, path: ../plugins/pulumi-language-y }]
  analyzers: [{ name: z, path: ../policies }]
`,
      'plugins/x/pulumi-resource-x': '+x',
      'plugins/pulumi-language-y': '+x',
      'plugins/other': '+x',
      'policies/rules.js': '',
    },
    found: ['plugins/pulumi-language-y', 'plugins/x/', 'policies/'],
  },
  {
    says: 'local packages, their parameters, and nothing of published ones',
    files: {
      'a/Pulumi.yaml': `${project}packages:
  random: random@4.18.0
  bucket: ../components/bucket
  infra: { source: terraform-module, version: 0.1.0, parameters: [../modules/vpc, vpc] }
  far: github.com/somebody/components@1.0.0
`,
      'components/bucket/PulumiPlugin.yaml': 'runtime: yaml',
      'components/other/PulumiPlugin.yaml': 'runtime: yaml',
      'modules/vpc/main.tf': '',
      random: 'no package',
    },
    found: ['components/bucket/', 'modules/vpc/'],
  },
  {
    says: 'what a plugin reads, and what a plugin of a plugin reads, in a circle',
    files: {
      'a/Pulumi.yaml': `${project}packages: { b: ../b }\n`,
      'b/PulumiPlugin.yaml': 'runtime: { name: yaml }\npackages: { c: ../c }\n',
      'c/PulumiPlugin.yaml': `runtime: yaml
packages: { b: ../b }
components: { x: { resources: { y: { properties: { z: { fn::readFile: ../texts/z.txt } } } } } }
`,
      'texts/z.txt': 'z',
    },
    found: ['b/', 'c/', 'texts/z.txt'],
  },
  {
    says: 'a prebuilt binary, and scripts among the options; a virtual environment is none',
    files: {
      'a/Pulumi.yaml': `name: p
runtime:
  name: yaml
  options: { binary: ../bin/web, nodeargs: "--import ../hooks/a.mjs --max-http-header-size=1", virtualenv: ../venv }
`,
      'bin/web': '+x',
      'hooks/a.mjs': '',
      'venv/pyvenv.cfg': '',
    },
    found: ['bin/web', 'hooks/a.mjs'],
  },
  {
    says: 'the link or the submodule that stands on the way',
    files: {
      'a/Pulumi.yaml': `${project}packages: { b: ../linked/b, c: ../sub/c }\n`,
      linked: '-> real',
      'real/b/PulumiPlugin.yaml': 'runtime: yaml',
      sub: '@',
    },
    found: ['linked', 'sub'],
  },
  {
    says: 'plugins that are not there, with the remedy',
    files: { 'a/Pulumi.yaml': `${project}plugins: { providers: [{ name: x, path: ./bin }] }\n` },
    found: [],
    warnings: [/a\/Pulumi\.yaml names \.\/bin, which no commit has: .* run\.build/],
  },
  {
    says: 'plugins out of the repository, as what must not be planned',
    files: { 'a/Pulumi.yaml': `${project}plugins: { providers: [{ name: x, path: ../../bin }] }\n` },
    found: [],
    problems: [/a\/Pulumi\.yaml names \.\.\/\.\.\/bin, which is not in the repository/],
  },
];

for (const { says, files, found, warnings = [], problems = [] } of cases)
  test(`a project file names ${says}`, () => {
    const inferred = inferOn(infer, projectAt('a', 'yaml'), files);
    assert.deepEqual(foundIn(inferred), [...found]);
    assert.equal(inferred.warnings.length, warnings.length, inferred.warnings.join('\n'));
    warnings.forEach((pattern, at) => assert.match(inferred.warnings[at] ?? '', pattern));
    assert.equal(inferred.problems.length, problems.length, inferred.problems.join('\n'));
    problems.forEach((pattern, at) => assert.match(inferred.problems[at] ?? '', pattern));
    assertStandsOnItsFiles(infer, projectAt('a', 'yaml'), files);
  });

test('a runtime that is not known is said, and what its project file names is found all the same', () => {
  const files = { 'a/Pulumi.yaml': 'name: p\nruntime: cobol\nmain: ../b', 'b/x': '' };
  const inferred = inferOn(infer, projectAt('a', 'cobol'), files);
  assert.deepEqual(foundIn(inferred), ['b/']);
  assert.match(inferred.warnings.join(), /a\/Pulumi\.yaml has the runtime cobol, .* include/);
});

test('plugins that lead to each other without end are refused', () => {
  const files: Record<string, string> = { 'a/Pulumi.yaml': `${project}packages: { p: ../p0 }\n` };
  for (let n = 0; n < 200; n++)
    files[`p${n}/PulumiPlugin.yaml`] = `runtime: yaml\npackages: { p: ../p${n + 1} }\n`;
  assert.match(inferOn(infer, projectAt('a', 'yaml'), files).problems.join(), /more than 100 plugins/);
});

const hostile: Readonly<Record<string, string>> = {
  'does not parse': 'name: [',
  'is nested without end': `name: ${'['.repeat(50_000)}`,
  'has aliases that stand for each other': `${project}main: &a [${'*a,'.repeat(200)}]\nplugins: *a\n`,
  'is a list': '- a\n- b\n',
  'is empty': '',
};
for (const [what, content] of Object.entries(hostile))
  test(`a project file that ${what} holds up nothing`, () => {
    const inferred = inferOn(infer, projectAt('a', 'yaml'), { 'a/Pulumi.yaml': content });
    assert.deepEqual(foundIn(inferred), []);
    assert.deepEqual(inferred.problems, []);
  });
