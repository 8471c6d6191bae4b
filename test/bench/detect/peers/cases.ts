/** What is asked of each tool: two commits of the workspace, and the stacks that must run because of what differs. Pure. */
import type { Edit } from '../estate.ts';
import type { Case } from './case.ts';
import { lockfileCases } from './lockcases.ts';
import { IGNORED, namesOfStacks, stacksUsing, type Workspace } from './workspace.ts';

const inStack = (stack: string, path: string, content = 'changed\n'): Edit => ({
  path: `stacks/${stack}/${path}`,
  content,
});
const notIn = (stack: string, path: string): Edit => ({
  path: `stacks/${stack}/${path}`,
  content: undefined,
});
const change = (path: string): Edit => ({ path, content: 'export const name = "changed";\n' });

/** Every one of them. Each has stacks of its own, so that all can start from one commit. */
export const casesOf = (workspace: Workspace): readonly Case[] => [
  ...plainCases(workspace),
  ...sharedCases(workspace),
  ...nameCases,
  ...renameCases,
  ...kindCases(workspace),
  ...historyCases,
  ...lockfileCases(workspace),
];

const plainCases = (workspace: Workspace): readonly Case[] => [
  { name: 'a file of one stack', commits: [[inStack('s010', 'src/a.ts')]], affects: ['s010'] },
  { name: 'a deleted file', commits: [[notIn('s011', 'src/b.ts')]], affects: ['s011'] },
  { name: 'a file of no package', commits: [[change('README.md'), change('docs/a.md')]], affects: [] },
  { name: 'what git ignores', commits: [[{ path: '.gitignore', content: `${IGNORED}out/\n` }]], affects: [] },
  {
    name: 'a file of no package and one of a stack',
    commits: [[change('.ci/a.yaml'), inStack('s012', 'src/a.ts')]],
    affects: ['s012'],
  },
  {
    name: '5,000 files of no package and one of a stack',
    commits: [
      [
        ...Array.from({ length: 5_000 }, (_, n) => ({ path: `assets/${n}.txt`, content: `${n}\n` })),
        inStack('s013', 'src/z.ts'),
      ],
    ],
    affects: ['s013'],
  },
  ...['tsconfig.base.json', '.npmrc', '.nvmrc'].map((path) => ({
    name: `${path}, which all use`,
    commits: [[{ path, content: path.endsWith('.json') ? '{"compilerOptions": {}}\n' : '22\n' }]],
    affects: namesOfStacks(workspace.members),
  })),
];

const sharedCases = (workspace: Workspace): readonly Case[] => [
  ...['l005', 'l061', 'l098', 'net', 'net-core'].map((name) => ({
    name: `the library ${name}`,
    commits: [[change(`libs/${name}/src/a.ts`)]],
    affects: stacksUsing(workspace, `@fleet/${name}`),
  })),
  {
    name: 'a shared file that two stacks import by its path',
    before: [
      change('shared/dns.ts'),
      ...['s020', 's021'].map((stack) => inStack(stack, 'index.ts', "import '../../shared/dns.ts';\n")),
    ],
    commits: [[{ path: 'shared/dns.ts', content: 'export {};\n' }]],
    affects: ['s020', 's021'],
  },
];

const odd = ['src/ü.ts', 'src/u\u0308/é.ts', 'src/🚀.ts', 'src/a.ts ', 'src/"a"\t\\\n.ts'];

const nameCases: readonly Case[] = [
  ...odd.map((path, n) => ({
    name: `the file ${JSON.stringify(path)}`,
    before: [inStack(`s03${n}`, path, 'first\n')],
    commits: [[inStack(`s03${n}`, path)]],
    affects: [`s03${n}`],
  })),
  { name: 'a stack whose name others begin with', commits: [[inStack('app', 'src/a.ts')]], affects: ['app'] },
  { name: 'a folder that ends like one of a stack', commits: [[change('old/stacks/app/a.ts')]], affects: [] },
];

const moved = (from: string, to: string): Pick<Case, 'before' | 'commits'> => ({
  before: [inStack(from, 'src/moved.ts', 'export const moved = "from here to there";\n')],
  commits: [
    [
      notIn(from, 'src/moved.ts'),
      inStack(to, 'src/moved.ts', 'export const moved = "from here to there";\n'),
    ],
  ],
});

const renameCases: readonly Case[] = [
  { name: 'a file moved to another stack', ...moved('s040', 's041'), affects: ['s040', 's041'] },
  {
    name: 'a file moved to another stack, where git looks for copies',
    ...moved('s042', 's043'),
    settings: { 'diff.renames': 'copies' },
    affects: ['s042', 's043'],
  },
  {
    name: 'a name that changes case',
    commits: [[notIn('s044', 'src/b.ts'), inStack('s044', 'src/B.ts', "export const b = 's044';\n")]],
    affects: ['s044'],
  },
  {
    name: 'a folder in place of a file',
    commits: [[notIn('s045', 'src/b.ts'), inStack('s045', 'src/b.ts/index.ts')]],
    affects: ['s045'],
  },
];

const COMMITS = ['1'.repeat(40), '2'.repeat(40)] as const;
const submodule = (path: string, commit: string): Edit => ({ path, content: commit, mode: '160000' });
const modules = ['stacks/s062/vendor', 'stacks/s063/vendor', 'libs/l040/vendor'];
const link = (path: string, content: string): Edit => ({ path, content, mode: '120000' });
const shared = (name: string, content = '{}\n'): Edit => ({ path: `shared/${name}.json`, content });

const kindCases = (workspace: Workspace): readonly Case[] => [
  {
    name: 'a file that can be run now',
    before: [inStack('s060', 'run.sh')],
    commits: [[{ ...inStack('s060', 'run.sh'), mode: '100755' }]],
    affects: ['s060'],
  },
  {
    name: 'a link that leads elsewhere',
    before: [shared('one'), shared('two'), link('stacks/s061/settings.json', '../../shared/one.json')],
    commits: [[link('stacks/s061/settings.json', '../../shared/two.json')]],
    affects: ['s061'],
  },
  {
    name: 'a file that a link leads to',
    before: [shared('three'), link('stacks/s064/settings.json', '../../shared/three.json')],
    commits: [[shared('three', '{"changed": true}\n')]],
    affects: ['s064'],
  },
  ...modules.map((path, n) => ({
    name: `the submodule ${path}${n === 1 ? ', where git ignores submodules' : ''}`,
    before: [submodule(path, COMMITS[0]), ...(n === 0 ? [gitmodules] : [])],
    commits: [[submodule(path, COMMITS[1])]],
    ...(n === 1 ? { settings: { 'diff.ignoreSubmodules': 'all' } } : {}),
    affects: n === 2 ? stacksUsing(workspace, '@fleet/l040') : [`s06${2 + n}`],
  })),
];

const gitmodules: Edit = {
  path: '.gitmodules',
  content: modules
    .map((path) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = https://git.example/vendor.git\n`)
    .join(''),
};

const historyCases: readonly Case[] = [
  { name: 'a commit without changes', commits: [[]], affects: [] },
  {
    name: 'a change and its revert',
    commits: [[inStack('s070', 'src/a.ts')], [inStack('s070', 'src/a.ts', "export const a = 's070';\n")]],
    affects: [],
  },
  {
    name: 'two commits at once',
    commits: [[inStack('s071', 'src/a.ts')], [inStack('s072', 'src/a.ts')]],
    affects: ['s071', 's072'],
  },
  {
    name: 'a history that was rewritten',
    rewritten: [inStack('s073', 'src/a.ts')],
    commits: [[inStack('s074', 'src/a.ts')]],
    affects: ['s073', 's074'],
  },
  {
    name: 'a history that begins anew',
    unrelated: true,
    commits: [[inStack('s075', 'src/a.ts')]],
    affects: ['s075'],
  },
];
