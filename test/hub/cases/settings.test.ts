/** Files that decide which tools run, and how. */
import { BYSTANDER, manifest, program, project, stack, type Files } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

/** One stack of each runtime, in folders of one team. */
const RUNTIMES: Files = {
  ...stack('node', {
    folder: 'team/node',
    runtime: 'nodejs',
    files: { 'index.js': '', 'package.json': '{}' },
  }),
  ...stack('python', { folder: 'team/python', runtime: 'python', files: { '__main__.py': '' } }),
  ...stack('net', { folder: 'team/net', runtime: 'dotnet', files: { 'net.csproj': '<Project />' } }),
  ...stack('go', {
    folder: 'team/go',
    runtime: 'go',
    files: { 'go.mod': 'module m\n', 'main.go': 'package main\n' },
  }),
  ...stack('yaml', { folder: 'team/yaml', runtime: 'yaml' }),
};
const ALL = ['node', 'python', 'net', 'go', 'yaml'];

/** A file in the root, and the stacks that its change runs. */
const TOOLS: readonly (readonly [string, readonly string[]])[] = [
  ['.nvmrc', ['node']],
  ['.node-version', ['node']],
  ['.npmrc', ['node']],
  ['.python-version', ['python']],
  ['global.json', ['net']],
  ['Directory.Build.props', ['net']],
  ['Directory.Build.targets', ['net']],
  ['Directory.Packages.props', ['net']],
  ['.pulumi-version', ALL],
  ['.tool-versions', ALL],
  ['README.md', []],
  ['.github/workflows/ci.yaml', []],
];

const tools = TOOLS.map(([path, stacks]): Case => {
  const then = (at: string): Record<string, string> =>
    Object.fromEntries(stacks.map((name) => [name, changed(at)]));
  return {
    name: `${path}, in the root and nearer`,
    files: RUNTIMES,
    steps: [
      { edit: { [path]: '{}' }, then: then(path) },
      {
        edit: { [`team/${path}`]: '{}', [`other/${path}`]: '{}', [`${path}.bak`]: '{}' },
        then: then(`team/${path}`),
      },
      { edit: { [path]: null }, then: then(path) },
    ],
  };
});

const settings: readonly Case[] = [
  {
    name: 'the project file, its program, its plugins and the paths of its options',
    files: {
      ...BYSTANDER,
      'apps/a/towline.yaml': manifest('a'),
      'apps/a/Pulumi.yaml': project('a', 'nodejs', {
        main: '../../programs/a',
        plugins: { providers: [{ name: 'x', path: '../../plugins/x' }] },
      }),
      'programs/a/index.js': '',
      'programs/b/index.js': '',
      'plugins/x/PulumiPlugin.yaml': 'runtime: nodejs\n',
      'plugins/x/index.js': "require('../shared.js');\n",
      'plugins/shared.js': '',
      'plugins/y/index.js': '',
    },
    steps: [
      {
        edit: { 'programs/a/index.js': '1', 'programs/b/index.js': '1' },
        then: { a: changed('programs/a/index.js') },
      },
      {
        edit: { 'plugins/shared.js': '1', 'plugins/y/index.js': '1' },
        then: { a: changed('plugins/shared.js') },
      },
      {
        edit: { 'apps/a/Pulumi.yaml': project('a', 'nodejs', { main: '../../programs/b' }) },
        then: { a: /^InputChanged: / },
      },
      { edit: { 'programs/a/index.js': '2', 'plugins/shared.js': '2' }, then: {} },
    ],
  },
  {
    name: 'a manifest of which nothing changes but its place in the file',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [{ edit: { 'stacks/a/towline.yaml': `# moved down\n\n\n${manifest('a')}` }, then: {} }],
  },
  {
    name: 'plain settings of a manifest',
    files: { ...BYSTANDER, ...program('a', ''), ...program('b', '') },
    steps: [
      {
        edit: {
          'stacks/a/towline.yaml': manifest('a', { config: { size: '2' }, env: [{ name: 'X', value: '1' }] }),
        },
        then: { a: 'ConfigChanged: config.a:size, env' },
      },
    ],
  },
];

runCases('settings', [...tools, ...settings]);
