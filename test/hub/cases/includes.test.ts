/** Patterns of `include`: what they add, take away and say of what is gone. */
import { both, BYSTANDER, gone, manifest, program, type Spec } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const including = (include: readonly string[], more: Spec = {}): { spec: Spec } => ({
  spec: { source: { include, ...more } },
});

const includes: readonly Case[] = [
  {
    name: 'only files that a pattern names are changed, added and deleted',
    files: {
      ...BYSTANDER,
      ...program('a', '', including(['../../data/**/*.json'])),
      'data/x.json': '',
      'data/deep/er/y.json': '',
    },
    steps: [
      { edit: { 'data/deep/er/y.json': '1' }, then: { a: changed('data/deep/er/y.json') } },
      { edit: { 'data/new.json': '1', 'data/new.txt': '1' }, then: { a: changed('data/new.json') } },
      { edit: { 'data/x.json': null }, then: { a: changed('data/x.json') } },
    ],
  },
  {
    name: 'a folder, a pattern that takes away, and the last one that decides',
    files: {
      ...BYSTANDER,
      ...program('a', '', including(['/libs', '!**/*.md', '/libs/keep.md'])),
      'libs/x/y.ts': '',
      'libs/x/README.md': '',
      'libs/keep.md': '',
    },
    steps: [
      { edit: { 'libs/x/README.md': '1', 'stacks/a/README.md': '1' }, then: {} },
      {
        edit: { 'libs/x/y.ts': '1', 'libs/keep.md': '1' },
        then: { a: changed('libs/keep.md', 'libs/x/y.ts') },
      },
    ],
  },
  {
    name: 'patterns that only take away leave everything else',
    files: { ...BYSTANDER, ...program('a', '', { ...including(['!*.md']), files: { 'README.md': '' } }) },
    steps: [
      { edit: { 'stacks/a/README.md': '1' }, then: {} },
      { edit: { 'stacks/a/index.ts': '1' }, then: { a: changed('stacks/a/index.ts') } },
    ],
  },
  {
    name: 'what is inferred and what is included add up, whoever has changed',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/x';\n", including(['/libs/y.ts'])),
      'libs/x.ts': '',
      'libs/y.ts': '',
      'libs/z.ts': '',
    },
    steps: [
      { edit: { 'libs/x.ts': '1', 'libs/z.ts': '1' }, then: { a: changed('libs/x.ts') } },
      { edit: { 'libs/y.ts': '1' }, then: { a: changed('libs/y.ts') } },
    ],
  },
  {
    name: 'with inference switched off only patterns count',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/x';\n", including(['/libs/y.ts'], { inferInputs: false })),
      'libs/x.ts': '',
      'libs/y.ts': '',
    },
    steps: [
      { edit: { 'libs/x.ts': '1', 'libs/x/index.ts': '1' }, then: {} },
      { edit: { 'libs/y.ts': '1' }, then: { a: changed('libs/y.ts') } },
    ],
  },
  {
    name: 'the commit that takes a pattern away also changes what it named',
    files: { ...BYSTANDER, ...program('a', '', including(['/libs/x.ts'])), 'libs/x.ts': '', 'libs/y.ts': '' },
    steps: [
      {
        edit: { 'stacks/a/towline.yaml': manifest('a', including(['/libs/y.ts']).spec), 'libs/x.ts': '1' },
        then: { a: changed('libs/x.ts', 'libs/y.ts') },
      },
      { edit: { 'libs/x.ts': '2' }, then: {} },
    ],
  },
  {
    name: 'the commit that deletes a library also deletes the pattern that named it',
    files: { ...BYSTANDER, ...program('a', '', including(['/libs/x/**'])), 'libs/x/y.ts': '' },
    steps: [
      {
        edit: both(gone('libs'), { 'stacks/a/towline.yaml': manifest('a') }),
        then: { a: changed('libs/x/y.ts') },
      },
    ],
  },
  {
    name: 'a pattern that no commit has a file for is warned of, until it has one',
    files: {
      ...BYSTANDER,
      ...program('a', '', including(['/libs/**', '/data/*.json'])),
      'data/x.json': '',
    },
    steps: [
      {
        edit: { 'data/x.json': '1' },
        then: { a: changed('data/x.json') },
        warns: [/include “\/libs\/\*\*” matches no file/],
      },
      { edit: { 'libs/x.ts': '1' }, then: { a: changed('libs/x.ts') }, warns: [] },
      {
        edit: gone('data'),
        then: { a: changed('data/x.json') },
        warns: [/include “\/data\/\*\.json” matches no file/],
      },
    ],
  },
  {
    name: 'a pattern that leads out of the repository',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      {
        edit: { 'stacks/a/towline.yaml': manifest('a', including(['../../../secrets/**']).spec) },
        then: { a: /^refused Invalid: .*leads out of the repository/ },
      },
    ],
  },
];

runCases('includes', includes);
