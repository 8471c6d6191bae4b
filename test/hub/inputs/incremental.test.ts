/** What was chosen step by step, commit after commit, is what would be chosen from nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ProjectFile } from '../../../hub/catalog/catalog.ts';
import { filesDigest } from '../../../hub/digest/v2.ts';
import type { Tree } from '../../../hub/git/source.ts';
import { folderOf, isBelow, nameOf } from '../../../hub/inputs/paths.ts';
import { infer } from '../../../hub/inputs/runtimes.ts';
import type { SelectRequest } from '../../../hub/inputs/select.ts';
import { makeSelections, type Selections } from '../../../hub/inputs/selections.ts';
import { wholeLockfile } from '../../../hub/inputs/whole.ts';
import { contentsOf, entriesOf, placementOf, type Files } from './tree.ts';

/** A commit of files; one whose text starts with `unread` cannot be read. */
function treeOf(files: Files, id: string): Tree {
  const contents = contentsOf(files);
  return {
    repository: 'r',
    ref: 'refs/heads/main',
    commit: { id, subject: '', author: '', time: 0 },
    entries: async () => entriesOf(files),
    blob: async (blob) => contents.get(blob) ?? assert.fail(`no object ${blob}`),
  };
}

const RUNTIMES = ['nodejs', 'python', 'go', 'yaml'] as const;
const FOLDERS = ['a', 'a/b', 'aa', 'libs/x', 'libs/y', '.'] as const;
const NAMES = [
  'index.ts',
  'x.ts',
  'package.json',
  '.npmrc',
  '.gitattributes',
  'l',
  'Pulumi.yaml',
  'Pulumi.p.yaml',
] as const;
const file = fc
  .tuple(
    fc.constantFrom(...FOLDERS),
    fc.constantFrom(
      ...NAMES,
      'package-lock.json',
      'go.mod',
      'main.go',
      '__main__.py',
      'requirements.txt',
      'libs',
    ),
  )
  .map(([folder, name]) => (folder === '.' ? name : `${folder}/${name}`));
const content = fc.constantFrom(
  '',
  'one',
  'two',
  '-> ../libs',
  '-> x.ts',
  '-> ../../a',
  '@',
  '+x',
  '*.ts filter=lfs\n',
  'import "../libs/x/index.ts"; import "./x"; require("../x");',
  'from ..libs import x\nopen("../libs/x/l")',
  'package main\nimport "m/libs/x"\n',
  'module m\nreplace n => ../libs/x\n',
  '-r ../libs/x/requirements.txt\n-e ../libs/y\n',
  'resources: {r: {properties: {f: {fn::readFile: ../libs/x/l}}}}',
  '{"name": "root", "workspaces": ["libs/*", "a"]}',
  '{"name": "x", "dependencies": {"y": "*", "n": "^1.0.0"}}',
  '{"name": "y", "devDependencies": {"x": "*"}}',
  JSON.stringify({
    lockfileVersion: 3,
    packages: {
      '': { workspaces: ['libs/*', 'a'] },
      a: { name: 'x', dependencies: { y: '*', n: '^1.0.0' } },
      'libs/y': { name: 'y' },
      'node_modules/y': { resolved: 'libs/y', link: true },
      'node_modules/n': { version: '1.0.0' },
    },
  }),
);
const edit = fc.record({ path: file, content: fc.option(content, { nil: undefined, freq: 4 }) });
const history = fc.record({
  runtime: fc.constantFrom(...RUNTIMES),
  first: fc.array(edit, { maxLength: 20 }),
  commits: fc.array(fc.array(edit, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 }),
});

const ASKED = [
  { project: 'a' },
  { project: 'a/b', include: ['../../libs/**', '!**/x.ts'] },
  { project: '.', include: ['/libs/x'] },
  { project: 'libs/x', stack: 'organization/q/p' },
];

function requestsOf(files: Files, runtime: string): Map<string, SelectRequest> {
  const folders = Object.keys(files)
    .filter((path) => nameOf(path) === 'Pulumi.yaml')
    .map(folderOf);
  const projects = new Map<string, ProjectFile>(
    folders.map((folder) => [
      `r:${folder}`,
      { repository: 'r', folder, file: 'Pulumi.yaml', name: 'p', runtime },
    ]),
  );
  const requests = ASKED.flatMap((asked) =>
    [infer, wholeLockfile].map((how, n): [string, SelectRequest] => [
      `${n} ${JSON.stringify(asked)}`,
      { placement: placementOf(asked), projects, documents: new Map(), infer: how },
    ]),
  );
  return new Map(requests);
}

/** Paths that are a folder of another one cannot be files in the same tree. */
function apply(files: Files, edits: readonly { path: string; content: string | undefined }[]): Files {
  const next: Record<string, string> = { ...files };
  for (const { path, content: text } of edits) {
    for (const other of Object.keys(next))
      if (other === path || isBelow(other, path) || isBelow(path, other)) delete next[other];
    if (text !== undefined) next[path] = text;
  }
  return next;
}

async function shown(
  selections: Selections,
  tree: Tree,
  requests: Map<string, SelectRequest>,
): Promise<unknown> {
  const selected = await selections.selectAll(tree, requests);
  return [...selected].map(([key, { files, made, problems, warnings, filesDigest: digest }]) => ({
    key,
    files,
    made: [...made.keys()],
    problems,
    warnings,
    digest,
  }));
}

test('what is chosen commit by commit is what is chosen from nothing', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ runtime, first, commits }) => {
      const kept = makeSelections(filesDigest);
      let files: Files = {};
      for (const [n, edits] of [first, ...commits].entries()) {
        files = apply(files, edits);
        const requests = requestsOf(files, runtime);
        const tree = treeOf(files, String(n));
        const fresh = await shown(makeSelections(filesDigest), tree, requests);
        assert.deepEqual(await shown(kept, tree, requests), fresh);
        for (const { made } of (await kept.selectAll(tree, requests)).values())
          for (const one of made.values()) await kept.contentOf(one);
      }
    }),
    { numRuns: 300 },
  );
});
