/** What Node.js programs import and name outside of their folder. */
import { both, BYSTANDER, moved, program, together } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const imports: readonly Case[] = [
  {
    name: 'imports of imports of imports',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/one/index.ts';\n"),
      'libs/one/index.ts': "export * from '../two';\n",
      'libs/two/index.ts': "module.exports = require('../three/deep/x.js');\n",
      'libs/three/deep/x.js': 'export const x = 1;\n',
      'libs/three/y.js': '',
    },
    steps: [
      {
        edit: { 'libs/three/deep/x.js': 'export const x = 2;\n' },
        then: { a: changed('libs/three/deep/x.js') },
      },
      { edit: { 'libs/three/y.js': '2', 'libs/README.md': '2' }, then: {} },
    ],
  },
  {
    name: 'two libraries, each with a consumer of its own',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/one';\n"),
      ...program('b', "import '../../libs/two';\n"),
      'libs/one/index.ts': '',
      'libs/two/index.ts': '',
    },
    steps: [
      { edit: { 'libs/one/index.ts': '1' }, then: { a: changed('libs/one/index.ts') } },
      { edit: { 'libs/two/index.ts': '1' }, then: { b: changed('libs/two/index.ts') } },
      { edit: { 'libs/one/new.ts': '1', 'libs/new.ts': '1' }, then: {} },
    ],
  },
  {
    name: 'the same words of an import in two folders lead to two files',
    files: {
      ...program('a', "import '../../modules/x/main';\nimport '../../modules/nested/y/main';\n"),
      'modules/x/main.ts': "import '../common';\n",
      'modules/nested/y/main.ts': "import '../common';\n",
      'modules/common.ts': '',
      'modules/nested/common.ts': '',
    },
    steps: [
      { edit: { 'modules/common.ts': '1' }, then: { a: changed('modules/common.ts') } },
      { edit: { 'modules/nested/common.ts': '1' }, then: { a: changed('modules/nested/common.ts') } },
    ],
  },
  {
    name: 'a new file that is found before the index of a folder',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/x';\n"),
      'libs/x/index.ts': '',
      'libs/x/other.ts': '',
    },
    steps: [
      { edit: { 'libs/x.ts': '1' }, then: { a: /^InputChanged: file .*libs\/x\.ts/ } },
      { edit: { 'libs/x.ts': null }, then: { a: /^InputChanged: file .*libs\/x\.ts/ } },
    ],
  },
  {
    name: 'an import that led nowhere leads to a file that comes, and goes again',
    files: { ...BYSTANDER, ...program('a', "try { require('../../libs/later'); } catch {}\n") },
    steps: [
      { edit: { 'libs/later.js': '1' }, then: { a: changed('libs/later.js') } },
      { edit: { 'libs/later.js': null }, then: { a: changed('libs/later.js') } },
    ],
  },
  {
    name: 'a program that starts to import, and stops',
    files: { ...BYSTANDER, ...program('a', ''), 'libs/x.ts': '' },
    steps: [
      { edit: { 'libs/x.ts': '1' }, then: {} },
      {
        edit: { 'stacks/a/index.ts': "import '../../libs/x';\n", 'libs/x.ts': '2' },
        then: { a: changed('libs/x.ts', 'stacks/a/index.ts') },
      },
      { edit: { 'stacks/a/index.ts': '' }, then: { a: changed('libs/x.ts', 'stacks/a/index.ts') } },
      { edit: { 'libs/x.ts': '3' }, then: {} },
    ],
  },
  {
    name: 'the library moves, and the import with it',
    files: { ...BYSTANDER, ...program('a', "import '../../libs/x';\n"), 'libs/x.ts': '' },
    steps: [
      {
        edit: both(moved('libs/x.ts', 'common/x.ts'), { 'stacks/a/index.ts': "import '../../common/x';\n" }),
        then: { a: changed('common/x.ts', 'libs/x.ts', 'stacks/a/index.ts') },
      },
    ],
  },
  {
    name: 'programs that import each other in a circle',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../b/index.ts';\n"),
      ...program('b', "import '../a/index.ts';\n"),
    },
    steps: [
      {
        edit: { 'stacks/a/index.ts': "import '../b/index.ts';\n//\n" },
        then: { a: changed('stacks/a/index.ts'), b: changed('stacks/a/index.ts') },
      },
    ],
  },
  {
    name: 'files that a program names by their paths',
    files: {
      ...BYSTANDER,
      ...program(
        'a',
        "import * as pulumi from '@pulumi/pulumi';\nimport { readFileSync } from 'node:fs';\n" +
          "new pulumi.asset.FileAsset('../../assets/logo.png');\nnew pulumi.asset.FileArchive('../../assets/site');\n" +
          "readFileSync('../../config/data.json');\nawait import('../../libs/late.js');\nrequire('../../config/other.json');\n",
      ),
      ...together([{ 'assets/logo.png': '', 'assets/site/index.html': '' }, { 'config/data.json': '{}' }]),
      ...together([{ 'libs/late.js': '' }, { 'config/other.json': '{}', 'config/unread.json': '{}' }]),
    },
    steps: [
      {
        edit: {
          'assets/logo.png': '1',
          'assets/site/new.html': '1',
          'config/data.json': '[]',
          'libs/late.js': '1',
          'config/other.json': '[]',
          'config/unread.json': '[]',
        },
        then: {
          a: changed(
            ...['assets/logo.png', 'assets/site/new.html', 'config/data.json'],
            ...['config/other.json', 'libs/late.js'],
          ),
        },
      },
    ],
  },
  {
    name: 'paths and settings of tsconfig files',
    files: {
      ...BYSTANDER,
      ...program('a', "import '@libs/x';\n", {
        files: { 'tsconfig.json': '{"extends": "../../tsconfig.base.json"}' },
      }),
      'tsconfig.base.json': '{"compilerOptions": {"baseUrl": ".", "paths": {"@libs/*": ["libs/*"]}}}',
      'libs/x.ts': '',
      'other/x.ts': '',
    },
    steps: [
      { edit: { 'libs/x.ts': '1', 'other/x.ts': '1' }, then: { a: changed('libs/x.ts') } },
      {
        edit: {
          'tsconfig.base.json': '{"compilerOptions": {"baseUrl": ".", "paths": {"@libs/*": ["other/*"]}}}',
        },
        then: { a: changed('libs/x.ts', 'other/x.ts', 'tsconfig.base.json') },
      },
    ],
  },
];

runCases('imports', imports);
