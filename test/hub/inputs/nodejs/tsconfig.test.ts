/** What tsconfig.json leads to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check, found, stack, type Row } from './found.ts';

const X = { 'libs/x.ts': '' };

const rows: Readonly<Record<string, Row>> = {
  'leads to what it extends': {
    tree: {
      'stacks/a/tsconfig.json': `{ // base\n "extends": "../../tsconfig.base", }`,
      'tsconfig.base.json': { extends: ['./a.json', './b.json'] },
      'a.json': '{}',
      'b.json': '{"extends": "./a.json"}',
    },
    files: ['a.json', 'b.json', 'tsconfig.base.json'],
  },
  'extends itself, in a ring': {
    tree: {
      'stacks/a/tsconfig.json': { extends: '../../b.json' },
      'b.json': { extends: './stacks/a/tsconfig.json' },
    },
    files: ['b.json'],
  },
  'leads to projects that it refers to, and to what they import': {
    tree: {
      'stacks/a/tsconfig.json': { references: [{ path: '../../libs' }] },
      'libs/tsconfig.json': { extends: '../b.json' },
      'libs/x.ts': `import "../more/y"`,
      'b.json': '{}',
      'more/y.ts': '',
    },
    files: ['b.json', 'more/y.ts'],
    folders: ['libs'],
  },
  'maps imports by paths, the closest pattern first': {
    program: `import "@lib/x"; import "@lib/y/z"; import "exact";`,
    tree: {
      'stacks/a/tsconfig.json': {
        compilerOptions: {
          paths: {
            '@lib/*': ['../../none/*', '../../libs/*'],
            '@lib/y/*': ['../../ys/*'],
            exact: ['../../libs/e.ts'],
          },
        },
      },
      ...X,
      'libs/y/z.ts': '',
      'ys/z.ts': '',
      'libs/e.ts': '',
    },
    files: ['libs/e.ts', 'libs/x.ts', 'ys/z.ts'],
  },
  'maps imports by paths of what it extends': {
    program: `import "@lib/x";`,
    tree: {
      'stacks/a/tsconfig.json': { extends: '../../base.json' },
      'base.json': { compilerOptions: { baseUrl: './libs', paths: { '@lib/*': ['./*'] } } },
      ...X,
    },
    files: ['base.json', 'libs/x.ts'],
  },
  'maps imports by baseUrl': {
    program: `import "libs/x"; import "@pulumi/pulumi";`,
    tree: { 'stacks/a/tsconfig.json': { compilerOptions: { baseUrl: '../..' } }, ...X },
    files: ['libs/x.ts'],
  },
  'names files and folders of types': {
    tree: {
      'stacks/a/tsconfig.json': {
        files: ['../../t.d.ts'],
        include: ['../../types/**/*.ts', 'src'],
        compilerOptions: { typeRoots: ['../../roots', 'node_modules/@types'] },
      },
      't.d.ts': '',
      'types/x/y.d.ts': '',
      'roots/z.d.ts': '',
    },
    files: ['t.d.ts'],
    folders: ['roots', 'types'],
  },
  'is found where Pulumi.yaml names it': {
    tree: {
      'stacks/a/Pulumi.yaml': 'name: a\nruntime:\n  name: nodejs\n  options: {tsconfig: conf/ts.json}\n',
      'stacks/a/conf/ts.json': { extends: '../../../base.json' },
      'base.json': '{}',
    },
    files: ['base.json'],
  },
};

describe('tsconfig.json', () => {
  check(rows);
  it('with a mistake holds nothing up, and is named', () => {
    const seen = found(
      stack('', { 'stacks/a/tsconfig.json': '{"extends": "../../b.json", ]', 'b.json': '{}' }),
    );
    assert.deepEqual(seen.files, ['b.json']);
    assert.match(seen.warnings.join('\n'), /stacks\/a\/tsconfig\.json has a mistake/);
  });
});
