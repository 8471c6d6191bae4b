/** Stacks in the folders of other stacks, several stacks of one project, and stacks with the same names elsewhere. */
import { BYSTANDER, manifest, other, program, project, stack, together, type Files } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const settings = (text: string): string => `config: { p:text: '${text}' }\n`;

/** Two stacks of one project, each with settings of its own. */
const SHARED: Files = {
  ...BYSTANDER,
  'apps/towline.yaml': `${manifest('one', { pulumiStack: 'organization/p/one' })}---\n${manifest('two', { pulumiStack: 'organization/p/two' })}`,
  'apps/Pulumi.yaml': project('p'),
  'apps/index.ts': '',
  'apps/Pulumi.one.yaml': settings('1'),
  'apps/Pulumi.two.yaml': settings('1'),
};

const CLUSTERS: Files = together(
  ['d', 'e'].map((name) => ({
    [`fleet/${name}.yaml`]: other('Cluster', name, { vars: { size: '1' } }),
  })),
);

const BIGGER = { clusters: { names: ['d'] }, config: { size: '2' } };

const nested: readonly Case[] = [
  {
    name: 'a stack in the root of the repository, and stacks below it',
    files: {
      ...program('root', '', { folder: '.' }),
      ...program('a', ''),
      ...program('inner', '', { folder: 'stacks/a/inner' }),
      'src/x.ts': '',
    },
    steps: [
      { edit: { 'stacks/a/index.ts': '1' }, then: { a: changed('stacks/a/index.ts') } },
      { edit: { 'stacks/a/inner/index.ts': '1' }, then: { inner: changed('stacks/a/inner/index.ts') } },
      { edit: { 'src/x.ts': '1', 'stacks/x.ts': '1' }, then: { root: changed('src/x.ts', 'stacks/x.ts') } },
    ],
  },
  {
    name: 'a stack that includes the folder of one below it',
    files: {
      ...program('a', '', { spec: { source: { include: ['inner/**'] } } }),
      ...program('inner', '', { folder: 'stacks/a/inner' }),
      ...program('ignored', '', { folder: 'stacks/a/ignored' }),
    },
    steps: [
      {
        edit: { 'stacks/a/inner/index.ts': '1' },
        then: { a: changed('stacks/a/inner/index.ts'), inner: changed('stacks/a/inner/index.ts') },
      },
      { edit: { 'stacks/a/ignored/index.ts': '1' }, then: { ignored: changed('stacks/a/ignored/index.ts') } },
    ],
  },
  {
    name: 'a folder below a stack becomes a project, and is none any more',
    files: { ...BYSTANDER, ...program('a', '', { files: { 'inner/x.ts': '' } }) },
    steps: [
      {
        edit: { 'stacks/a/inner/Pulumi.yaml': project('inner') },
        then: { a: changed('stacks/a/inner/x.ts') },
      },
      { edit: { 'stacks/a/inner/x.ts': '1' }, then: {} },
      { edit: { 'stacks/a/inner/Pulumi.yaml': null }, then: { a: changed('stacks/a/inner/x.ts') } },
    ],
  },
  {
    name: 'stacks with the names of others, in other folders and namespaces',
    files: {
      ...program('web', '', { folder: 'apps/web' }),
      ...program('old-web', '', { folder: 'old/apps/web' }),
      'shop/web/towline.yaml': manifest('web', { pulumiStack: 'organization/shop-web/{cluster}' }, 'shop'),
      'shop/web/Pulumi.yaml': project('shop-web'),
      'shop/web/index.ts': '',
    },
    steps: [
      { edit: { 'apps/web/index.ts': '1' }, then: { web: changed('apps/web/index.ts') } },
      { edit: { 'old/apps/web/index.ts': '1' }, then: { 'old-web': changed('old/apps/web/index.ts') } },
      { edit: { 'shop/web/index.ts': '1' }, then: { 'shop/web': changed('shop/web/index.ts') } },
    ],
  },
];

const siblings: readonly Case[] = [
  {
    name: 'two stacks of one project share its program, not their settings',
    files: SHARED,
    steps: [
      { edit: { 'apps/Pulumi.one.yaml': settings('2') }, then: { one: changed('apps/Pulumi.one.yaml') } },
      {
        edit: { 'apps/index.ts': '1' },
        then: { one: changed('apps/index.ts'), two: changed('apps/index.ts') },
      },
      { edit: { 'apps/Pulumi.three.yaml': settings('1'), 'apps/Pulumi.one.json': '{}' }, then: {} },
      { edit: { 'apps/Pulumi.two.yaml': null }, then: { two: changed('apps/Pulumi.two.yaml') } },
    ],
  },
  {
    name: 'settings in a folder of their own',
    files: {
      ...SHARED,
      'apps/Pulumi.yaml': project('p', 'nodejs', { stackConfigDir: '../settings' }),
      'settings/Pulumi.one.yaml': settings('1'),
      'settings/Pulumi.two.yaml': settings('1'),
    },
    steps: [
      {
        edit: { 'settings/Pulumi.one.yaml': settings('2') },
        then: { one: changed('settings/Pulumi.one.yaml') },
      },
      { edit: { 'apps/Pulumi.one.yaml': settings('2') }, then: {} },
    ],
  },
  {
    name: 'one stack on several clusters: what changes for one of them runs there',
    files: { ...CLUSTERS, ...program('a', '', { spec: { clusters: { all: true } } }) },
    steps: [
      {
        edit: { 'stacks/a/towline.yaml': manifest('a', { clusters: { all: true }, overrides: [BIGGER] }) },
        then: { 'd/a': 'ConfigChanged: config.a:size' },
      },
      {
        edit: { 'stacks/a/index.ts': '1' },
        then: Object.fromEntries(['a', 'd/a', 'e/a'].map((name) => [name, changed('stacks/a/index.ts')])),
      },
      {
        edit: { 'stacks/a/Pulumi.e.yaml': settings('1') },
        then: { 'e/a': changed('stacks/a/Pulumi.e.yaml') },
      },
    ],
  },
  {
    name: 'a value of a cluster runs who uses it, and only there',
    files: {
      ...{ 'fleet/c.yaml': other('Cluster', 'c', { vars: { size: '1' } }) },
      ...CLUSTERS,
      ...stack('a', { spec: { clusters: { all: true }, config: { size: '{var:size}' } } }),
      ...stack('b', { spec: { clusters: { all: true } } }),
    },
    steps: [
      {
        edit: { 'fleet/d.yaml': other('Cluster', 'd', { vars: { size: '2' } }) },
        then: { 'd/a': 'ConfigChanged: config.a:size' },
      },
    ],
  },
];

runCases('nested stacks and siblings', [...nested, ...siblings]);
