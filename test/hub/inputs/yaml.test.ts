import assert from 'node:assert/strict';
import test from 'node:test';
import { inferYaml } from '../../../hub/inputs/yaml.ts';
import type { Files } from './tree.ts';
import { assertStandsOnItsFiles, foundIn, inferOn, projectAt } from './views.ts';

const head = 'name: p\nruntime: yaml\n';
const shared: Files = {
  'texts/one.txt': '1',
  'texts/two.txt': '2',
  'texts/three.txt': '3',
  'site/index.html': '',
  'site/app/app.js': '',
};

const cases: Readonly<Record<string, { readonly program: string; readonly found: readonly string[] }>> = {
  'files that are read': {
    program: 'variables: { a: { fn::readFile: ../texts/one.txt } }',
    found: ['texts/one.txt'],
  },
  'assets and archives, whatever the case of the function': {
    program: `resources:
  a:
    properties:
      source: { Fn::FileAsset: ../texts/one.txt }
      content: { fn::fileArchive: ../site }
`,
    found: ['site/', 'texts/one.txt'],
  },
  'assets in archives of archives': {
    program: `resources:
  a:
    properties:
      source:
        fn::assetArchive:
          one: { fn::fileAsset: ../texts/one.txt }
          more: { fn::assetArchive: { two: { fn::fileAsset: ../texts/two.txt }, site: { fn::fileArchive: ../site/app } } }
`,
    found: ['site/app/', 'texts/one.txt', 'texts/two.txt'],
  },
  'no text that is an asset itself, and no remote one': {
    program: `resources:
  a:
    properties:
      b: { fn::stringAsset: texts/one.txt }
      c: { fn::remoteAsset: "https://registry.example/texts/two.txt" }
`,
    found: [],
  },
  'paths below the working folder of the program': {
    program: 'variables: { a: { fn::readFile: "${pulumi.cwd}/../texts/one.txt" } }',
    found: ['texts/one.txt'],
  },
  'the folder of a name that only the run knows': {
    program: 'variables: { a: { fn::readFile: "../texts/${pulumi.stack}.txt" } }',
    found: ['texts/'],
  },
  'paths that leave the folder, as any property': {
    program: 'resources: { a: { properties: { file: ../texts/three.txt, context: ../site } } }',
    found: ['site/', 'texts/three.txt'],
  },
  'files behind an anchor': {
    program: `variables:
  a: &file { fn::readFile: ../texts/one.txt }
  b: *file
`,
    found: ['texts/one.txt'],
  },
};

for (const [says, { program, found }] of Object.entries(cases))
  test(`a program in YAML reads ${says}`, () => {
    const files = { ...shared, 'a/Pulumi.yaml': head + program };
    assert.deepEqual(foundIn(inferOn(inferYaml, projectAt('a', 'yaml'), files)), [...found]);
    assertStandsOnItsFiles(inferYaml, projectAt('a', 'yaml'), files);
  });

test('a program in its own file, in another folder, reads from there', () => {
  const files = {
    ...shared,
    'a/Pulumi.yaml': `${head}main: ../b/c`,
    'b/c/Main.yaml': 'variables: { a: { fn::readFile: ../../texts/two.txt } }',
    'b/texts/two.txt': 'another',
  };
  assert.deepEqual(foundIn(inferOn(inferYaml, projectAt('a', 'yaml'), files)), ['texts/two.txt']);
});

test('a file that appears where a program reads one is found', () => {
  const files = { 'a/Pulumi.yaml': `${head}variables: { a: { fn::readFile: ../texts/one.txt } }` };
  assert.deepEqual(foundIn(inferOn(inferYaml, projectAt('a', 'yaml'), files)), []);
  const later = { ...files, 'texts/one.txt': '' };
  assert.deepEqual(foundIn(inferOn(inferYaml, projectAt('a', 'yaml'), later)), ['texts/one.txt']);
});

test('a name that only the run knows, in a folder that holds the program, is said with its line', () => {
  const program = 'variables:\n  a: { fn::readFile: "../${pulumi.stack}.txt" }\n';
  const inferred = inferOn(inferYaml, projectAt('x/a', 'yaml'), {
    'x/a/Pulumi.yaml': head + program,
    'x/y': '',
  });
  assert.deepEqual(foundIn(inferred), []);
  assert.deepEqual(inferred.warnings, [
    'x/a/Pulumi.yaml line 4 reads below x what only the run knows: list it in include',
  ]);
});

test('a broken program is said with file and line, and the others go on', () => {
  const files = {
    ...shared,
    'a/Main.yaml': 'variables:\n  a: {\n',
    'a/Pulumi.yaml': `${head}variables: { a: { fn::readFile: ../texts/one.txt } }`,
  };
  const inferred = inferOn(inferYaml, projectAt('a', 'yaml'), files);
  assert.deepEqual(foundIn(inferred), ['texts/one.txt']);
  assert.match(inferred.warnings.join(), /^a\/Main\.yaml line 3 cannot be understood .*include$/);
});
