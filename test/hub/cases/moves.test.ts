/** Files, folders and manifests that are moved, copied, swapped or deleted. */
import { both, BYSTANDER, gone, manifest, moved, program, project, stack, type Files } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const TWO = {
  ...BYSTANDER,
  ...program('a', 'a\n', { files: { 'shared.ts': 'same\n' } }),
  ...program('b', 'b\n'),
};

/** A program whose manifest lies elsewhere. */
const PROGRAM: Files = { 'stacks/a/Pulumi.yaml': project('a'), 'stacks/a/index.ts': '' };

const ORPHANED = /^hold Orphaned: /;

const files: readonly Case[] = [
  {
    name: 'a file that is moved from one stack to another',
    files: TWO,
    steps: [
      {
        edit: moved('stacks/a/shared.ts', 'stacks/b/shared.ts'),
        then: { a: changed('stacks/a/shared.ts'), b: changed('stacks/b/shared.ts') },
      },
    ],
  },
  {
    name: 'a file that is copied from one stack to another',
    files: TWO,
    steps: [{ edit: { 'stacks/b/shared.ts': 'same\n' }, then: { b: changed('stacks/b/shared.ts') } }],
  },
  {
    name: 'a file that leaves every stack, and one that comes from outside',
    files: { ...TWO, 'outside/x.ts': 'x\n' },
    steps: [
      {
        edit: both(moved('stacks/a/shared.ts', 'outside/shared.ts'), moved('outside/x.ts', 'stacks/b/x.ts')),
        then: { a: changed('stacks/a/shared.ts'), b: changed('stacks/b/x.ts') },
      },
    ],
  },
  {
    name: 'two files that change places',
    files: TWO,
    steps: [
      {
        edit: { 'stacks/a/index.ts': 'b\n', 'stacks/b/index.ts': 'a\n' },
        then: { a: changed('stacks/a/index.ts'), b: changed('stacks/b/index.ts') },
      },
    ],
  },
  {
    name: 'the only file of a program is deleted',
    files: TWO,
    steps: [{ edit: { 'stacks/b/index.ts': null }, then: { b: changed('stacks/b/index.ts') } }],
  },
  {
    name: 'a path that is in no commit, a file outside of every stack, and one beside their folders',
    files: { ...TWO, ...program('c', '', { spec: { source: { include: ['../../never/**'] } } }) },
    steps: [
      {
        edit: { 'README.md': '1', 'stacks/README.md': '1', 'stacks/a/shared.ts': '2' },
        then: { a: changed('stacks/a/shared.ts') },
      },
      { edit: { 'README.md': null, 'stacks/README.md': '2' }, then: {} },
    ],
  },
  {
    name: 'a file that becomes a folder, and a folder that becomes a file',
    files: { ...TWO, 'stacks/a/swap': '1' },
    steps: [
      {
        edit: { 'stacks/a/swap': null, 'stacks/a/swap/inner': '1' },
        then: { a: changed('stacks/a/swap', 'stacks/a/swap/inner') },
      },
      {
        edit: moved('stacks/a/swap/inner', 'stacks/a/swap'),
        then: { a: changed('stacks/a/swap', 'stacks/a/swap/inner') },
      },
    ],
  },
  {
    name: 'only line ends',
    files: TWO,
    steps: [{ edit: { 'stacks/a/index.ts': 'a\r\n' }, then: { a: changed('stacks/a/index.ts') } }],
  },
];

const stacks: readonly Case[] = [
  {
    name: 'the folder of a stack is deleted: it is orphaned, and who reads its files runs',
    files: { ...TWO, ...program('c', "import '../a/shared.ts';\n") },
    steps: [
      { edit: gone('stacks/a'), then: { a: ORPHANED, c: changed('stacks/a/shared.ts') } },
      { edit: { 'stacks/b/index.ts': '2' }, then: { a: ORPHANED, b: changed('stacks/b/index.ts') } },
    ],
  },
  {
    name: 'the folder of a stack is deleted and comes back as it was',
    files: TWO,
    steps: [
      { edit: gone('stacks/a'), then: { a: ORPHANED } },
      { edit: TWO, then: { a: /^policy OnlyPolicyChanged: no longer Orphaned/ } },
    ],
  },
  {
    name: 'every stack is deleted',
    files: { ...program('a', ''), ...program('b', '') },
    steps: [{ edit: gone('stacks'), then: { a: ORPHANED, b: ORPHANED } }],
  },
  {
    name: 'a stack moves to another folder with all its files: the same placement, updated in place',
    files: TWO,
    steps: [
      {
        edit: moved('stacks/a', 'teams/x/a'),
        then: {
          a: `${changed(
            ...['stacks/a/Pulumi.yaml', 'stacks/a/index.ts', 'stacks/a/shared.ts'],
            ...['teams/x/a/Pulumi.yaml', 'teams/x/a/index.ts', 'teams/x/a/shared.ts'],
          )} + ConfigChanged: project`,
        },
      },
    ],
  },
  {
    name: 'a manifest moves and its program does not',
    files: { ...BYSTANDER, ...program('a', ''), 'stacks/a/towline.yaml': manifest('a') },
    steps: [
      {
        edit: {
          'stacks/a/towline.yaml': null,
          'manifests/a.yaml': manifest('a', { source: { dir: '/stacks/a' } }),
        },
        then: {
          a: /^policy OnlyPolicyChanged: the inputs are the same; the manifest is now manifests\/a\.yaml/,
        },
      },
    ],
  },
  {
    name: 'the folder of a stack becomes a file, and a folder again',
    files: { ...BYSTANDER, 'manifests/a.yaml': manifest('a', { source: { dir: '/stacks/a' } }), ...PROGRAM },
    steps: [
      {
        edit: both(gone('stacks/a'), { 'stacks/a': 'a file\n' }),
        then: { a: /^refused Invalid: .*stacks\/a of repository fleet has no Pulumi\.yaml/ },
      },
      { edit: both({ 'stacks/a': null }, PROGRAM), then: {} },
    ],
  },
  {
    name: 'the project file is deleted, the manifest stays: the order in force stays',
    files: TWO,
    steps: [
      { edit: { 'stacks/a/Pulumi.yaml': null }, then: { a: /^refused Invalid: .*no Pulumi\.yaml/ } },
      { edit: { 'stacks/a/Pulumi.yaml': project('a') }, then: {} },
    ],
  },
  {
    name: 'the project file changes its extension, and its settings with it',
    files: { ...BYSTANDER, ...program('a', '', { files: { 'Pulumi.c.yaml': 'config: {}\n' } }) },
    steps: [
      {
        edit: moved('stacks/a/Pulumi.yaml', 'stacks/a/Pulumi.yml'),
        then: { a: changed('stacks/a/Pulumi.yaml', 'stacks/a/Pulumi.yml', 'stacks/a/Pulumi.c.yaml') },
      },
      {
        edit: moved('stacks/a/Pulumi.c.yaml', 'stacks/a/Pulumi.c.yml'),
        then: { a: changed('stacks/a/Pulumi.c.yml') },
      },
    ],
  },
  {
    name: 'the manifest of one stack in the folder of another, and one beside other documents',
    files: {
      ...program('a', ''),
      ...program('b', ''),
      'stacks/a/c.yaml': manifest('c', { source: { dir: '/programs/c' } }),
      'programs/c/Pulumi.yaml': project('c'),
      'stacks/b/mixed.yaml': `${manifest('d', { source: { dir: '/programs/c' }, pulumiStack: 'organization/c/d' })}---\nkind: Other\n`,
    },
    steps: [
      {
        edit: { 'stacks/a/c.yaml': manifest('c', { source: { dir: '/programs/c' }, runRequest: 'x' }) },
        then: { c: 'RunRequested' },
      },
      {
        edit: {
          'stacks/b/mixed.yaml': `${manifest('d', { source: { dir: '/programs/c' }, pulumiStack: 'organization/c/d' })}---\nkind: Another\n`,
        },
        then: { b: changed('stacks/b/mixed.yaml') },
        warns: [/stacks\/b\/mixed\.yaml holds Towline documents and others/],
      },
    ],
  },
  {
    name: 'two project files in one folder',
    files: { ...BYSTANDER, ...stack('a') },
    steps: [
      {
        edit: { 'stacks/a/Pulumi.yml': project('a') },
        then: { a: /^refused Invalid: .*more than one project file/ },
      },
    ],
  },
];

runCases('moves and deletions', [...files, ...stacks]);
