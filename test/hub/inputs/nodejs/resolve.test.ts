/** What an import means. */
import { describe } from 'node:test';
import { check, type Tree, type Row } from './found.ts';

const X = { 'libs/x.ts': '' };

const all = (...paths: string[]): Tree =>
  Object.fromEntries(paths.map((path) => [path, path.endsWith('.json') ? '{}' : '']));

const rows: Readonly<Record<string, Row>> = {
  'a file before a folder': {
    program: `import "../../libs/x";`,
    tree: all('libs/x.ts', 'libs/x/index.ts'),
    files: ['libs/x.ts'],
  },
  'a folder': {
    program: `import "../../libs/x";`,
    tree: all('libs/x/index.ts'),
    files: ['libs/x/index.ts'],
  },
  'only a folder, after a slash': {
    program: `import "../../libs/x/";`,
    tree: all('libs/x.ts', 'libs/x/index.ts'),
    files: ['libs/x/index.ts'],
  },
  'the folder above': { program: `import "..";`, tree: all('stacks/index.ts'), files: ['stacks/index.ts'] },
  'both, where tools prefer different ones': {
    program: `import "../../libs/x";`,
    tree: all('libs/x.ts', 'libs/x.js'),
    files: ['libs/x.js', 'libs/x.ts'],
  },
  'declarations with the code': {
    program: `import "../../libs/x";`,
    tree: all('libs/x.d.ts', 'libs/x/index.js'),
    files: ['libs/x.d.ts', 'libs/x/index.js'],
  },
  'the source of compiled JavaScript': {
    program: `import "../../libs/x.js";`,
    tree: all('libs/x.ts'),
    files: ['libs/x.ts'],
  },
  'the source of a compiled module': {
    program: `import "../../libs/x.mjs";`,
    tree: all('libs/x.mts'),
    files: ['libs/x.mts'],
  },
  'a file with dots in its name': {
    program: `import "../../libs/x.prod";`,
    tree: all('libs/x.prod.ts'),
    files: ['libs/x.prod.ts'],
  },
  'what main of a folder says': {
    program: `import "../../libs/x";`,
    tree: { 'libs/x/package.json': { main: './lib/y.js' }, 'libs/x/lib/y.ts': '', 'libs/x/index.ts': '' },
    files: ['libs/x/lib/y.ts', 'libs/x/package.json'],
  },
  'what exports of a folder says': {
    program: `import "../../libs/x";`,
    tree: {
      'libs/x/package.json': { exports: { '.': { types: './y.d.ts', default: './y.js' } } },
      'libs/x/y.d.ts': '',
      'libs/x/y.js': '',
    },
    files: ['libs/x/package.json', 'libs/x/y.d.ts', 'libs/x/y.js'],
  },
  'the package.json that says how a file is loaded': {
    program: `import "../../libs/x";`,
    tree: { ...X, 'libs/package.json': { type: 'module' } },
    files: ['libs/package.json', 'libs/x.ts'],
  },
  'what imports of a package.json says': {
    program: `import "../../libs/x";`,
    tree: {
      'libs/x.ts': `import "#in/y"; import "#z";`,
      'libs/package.json': { imports: { '#in/*': './in/*.ts', '#z': { node: './z.js' } } },
      'libs/in/y.ts': '',
      'libs/z.js': '',
    },
    files: ['libs/in/y.ts', 'libs/package.json', 'libs/x.ts', 'libs/z.js'],
  },
};

describe('an import means what Node.js and TypeScript take it for', () => {
  check(rows);
});
