/** What holds for every tree. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { inferNodejs } from '../../../../hub/inputs/nodejs.ts';
import type { Files } from '../tree.ts';
import { assertStandsOnItsFiles, inferOn } from '../views.ts';
import { holds, projectIn, stack, textsOf, type Tree } from './found.ts';

const A = projectIn('stacks/a');

/** One of each kind of thing that is found. */
const rich: Tree = stack(
  `import "../../libs/x"; import "@acme/y"; import "@map/z"; readFileSync("../../data/d.json"); new FileArchive("../../app");`,
  {
    'package.json': { workspaces: ['stacks/*', 'libs/*'] },
    'bun.lock': '',
    '.npmrc': '',
    'stacks/a/package.json': { name: 'a', dependencies: { '@acme/y': '*', v: 'file:../../vendor/v.tgz' } },
    'stacks/a/tsconfig.json': {
      extends: '../../base.json',
      compilerOptions: { paths: { '@map/*': ['../../map/*'] } },
    },
    'base.json': '{}',
    'libs/x/index.ts': `import "../../more/m"`,
    'libs/y/package.json': { name: '@acme/y', dependencies: { w: 'file:../w' } },
    'libs/y/y.ts': 'export * from "../../more/n.js"',
    'libs/w/package.json': '{}',
    'map/z.ts': '',
    'more/m.ts': '',
    'more/n.ts': '',
    'data/d.json': '{}',
    'app/index.js': '',
    'vendor/v.tgz': '',
  },
);

it('each file that is found is one that the answer stands on, and others change nothing', () => {
  assertStandsOnItsFiles(inferNodejs, A, textsOf(rich));
});

it('each folder that is found is one that the answer stands on', () => {
  const files = textsOf(rich);
  const { folders } = inferOn(inferNodejs, A, files);
  assert.deepEqual(folders, ['app', 'libs/w', 'libs/y']);
  for (const folder of folders) {
    const without = Object.fromEntries(
      Object.entries(files).filter(([path]) => !path.startsWith(`${folder}/`)),
    );
    assert.ok(!inferOn(inferNodejs, A, without).folders.includes(folder));
  }
});

it('the order in which files are listed says nothing', () => {
  const files = textsOf(rich);
  fc.assert(
    fc.property(
      fc.shuffledSubarray(Object.entries(files), { minLength: Object.keys(files).length }),
      (entries) => {
        assert.deepEqual(
          inferOn(inferNodejs, A, Object.fromEntries(entries)),
          inferOn(inferNodejs, A, files),
        );
      },
    ),
    { numRuns: 20 },
  );
});

it('a file that comes to stand before another one is noticed', () => {
  const before = stack(`import "../../libs/x";`, { 'libs/x/index.ts': '' });
  for (const path of ['libs/x.ts', 'libs/x.tsx', 'libs/x.js', 'libs/x/package.json', 'libs/x/index.js'])
    assert.equal(holds(before, { ...before, [path]: '{}' }), false, path);
  assert.equal(holds(before, { ...before, 'libs/y.ts': '' }), true);
});

const name = fc.constantFrom('a', 'b', 'c', 'd');
const place = fc.constantFrom('stacks/a', 'stacks/b', 'libs/x', 'libs/x/y', 'libs/z', '.');
const spec = fc.constantFrom(
  '*',
  'workspace:*',
  'file:../x',
  'link:..',
  'file:../../..',
  'patch:x@1#./p',
  '^1',
  '',
);
const source = fc
  .array(
    fc.constantFrom(
      'import "../x";',
      'import "..";',
      'require("../../libs/x/y/index");',
      'import "a";',
      'readdirSync("../..");',
      'import "./q";',
      '}',
      'new FileArchive("../../libs");',
      'export * from "./index";',
    ),
  )
  .map((lines) => lines.join('\n'));
const manifest = fc
  .record(
    {
      name,
      workspaces: fc.array(fc.constantFrom('libs/*', '**', '!libs/x', 'stacks/a', '.', '..')),
      dependencies: fc.dictionary(name, spec),
      devDependencies: fc.dictionary(name, spec),
      main: fc.constantFrom('x.js', '.', '..', './dist'),
    },
    { requiredKeys: [] },
  )
  .map((fields) => JSON.stringify(fields));
const tsconfig = fc
  .record(
    {
      extends: fc.constantFrom('./tsconfig.json', '../tsconfig.json', '../../tsconfig', 'a'),
      references: fc.array(fc.record({ path: fc.constantFrom('..', '../x', '.') })),
    },
    { requiredKeys: [] },
  )
  .map((fields) => JSON.stringify(fields));
const file = fc.tuple(
  place,
  fc.oneof(
    fc.tuple(fc.constantFrom('index.ts', 'q.js', 'x.tsx'), source),
    fc.tuple(fc.constant('package.json'), manifest),
    fc.tuple(fc.constant('tsconfig.json'), tsconfig),
    fc.tuple(
      fc.constantFrom(
        'Pulumi.yaml',
        'yarn.lock',
        'package-lock.json',
        'pnpm-workspace.yaml',
        'pnpm-lock.yaml',
      ),
      fc.constantFrom('', '{}', 'packages: ["libs/*"]', '{"lockfileVersion":3,"packages":{"":{}}}'),
    ),
  ),
);
const trees: fc.Arbitrary<Files> = fc.array(file, { maxLength: 25 }).map((files) => ({
  'stacks/a/Pulumi.yaml': 'name: a\nruntime: nodejs\n',
  ...Object.fromEntries(
    files.map(([folder, [at, content]]) => [folder === '.' ? at : `${folder}/${at}`, content]),
  ),
}));

it('whatever a repository holds, there is an answer of files and folders that it has', () => {
  fc.assert(
    fc.property(trees, (files) => {
      const found = inferOn(inferNodejs, A, files);
      for (const path of found.files) assert.ok(Object.hasOwn(files, path), path);
      for (const folder of found.folders)
        assert.ok(folder === '.' || Object.keys(files).some((path) => path.startsWith(`${folder}/`)), folder);
    }),
    { numRuns: 300 },
  );
});

it('a file that no answer stands on changes none', () => {
  fc.assert(
    fc.property(trees, (files) => {
      assert.deepEqual(
        inferOn(inferNodejs, A, { ...files, 'zz/unrelated.md': 'x' }).files,
        inferOn(inferNodejs, A, files).files,
      );
    }),
    { numRuns: 100 },
  );
});
