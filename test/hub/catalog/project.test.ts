/** What the hub takes from Pulumi project files. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { readProject } from '../../../hub/catalog/project.ts';
import { file } from './files.ts';

const READ: readonly (readonly [path: string, text: string, expected: object])[] = [
  [
    'Pulumi.yaml',
    'name: web\nruntime: nodejs\n',
    { folder: '.', file: 'Pulumi.yaml', name: 'web', runtime: 'nodejs' },
  ],
  [
    'a/b/Pulumi.yml',
    'name: web\nruntime: {name: nodejs, options: {typescript: false}}\nbackend: {url: "s3://state"}\nstackConfigDir: cfg\n',
    {
      folder: 'a/b',
      file: 'Pulumi.yml',
      name: 'web',
      runtime: 'nodejs',
      backendUrl: 's3://state',
      stackConfigDir: 'cfg',
    },
  ],
  [
    'Pulumi.json',
    '{"name": "web", "runtime": "yaml", "config": "settings"}',
    { folder: '.', file: 'Pulumi.json', name: 'web', runtime: 'yaml', stackConfigDir: 'settings' },
  ],
  [
    'Pulumi.yaml',
    'name: web\nruntime: yaml\nconfig: {a: {type: string}}\nversion: 1.0\n',
    { folder: '.', file: 'Pulumi.yaml', name: 'web', runtime: 'yaml' },
  ],
];
for (const [path, text, expected] of READ) {
  test(`${path}: ${text.replaceAll('\n', ' ')}`, () => {
    assert.deepEqual(readProject(file(path, text)), {
      kind: 'project',
      project: { repository: 'fleet', ...expected },
    });
  });
}

const REFUSED: readonly (readonly [text: string, line: number, said: RegExp])[] = [
  ['', 1, /is empty/],
  ['- a\n', 1, /must be a map/],
  ['name: web\nruntime: [\n', 3, /does not parse/],
  ['runtime: yaml\nname: ${PROJECT}\n', 2, /needs a name/],
  ['name: web\n\nruntime: {}\n', 3, /name one, such as nodejs/],
  ['name: web\nruntime: yaml\n---\nname: b\n', 4, /one document/],
];
for (const [text, line, said] of REFUSED) {
  test(`refused: ${text.replaceAll('\n', ' ')}`, () => {
    const read = readProject(file('Pulumi.yaml', text));
    assert.equal(read.kind, 'refused');
    assert.equal(read.problem.origin.line, line);
    assert.match(read.problem.text, said);
  });
}
