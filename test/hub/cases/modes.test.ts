/** Symlinks, submodules, modes, and files that Git keeps in another form. */
import { both, BYSTANDER, executable, link, manifest, moved, program, project, submodule } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const modes: readonly Case[] = [
  {
    name: 'only the mode of a file',
    files: { ...BYSTANDER, ...program('a', '', { files: { 'run.sh': 'true\n' } }) },
    steps: [
      { edit: { 'stacks/a/run.sh': executable('true\n') }, then: { a: changed('stacks/a/run.sh') } },
      { edit: { 'fleet/README.md': '' }, then: {} },
      { edit: { 'stacks/a/run.sh': 'true\n' }, then: { a: changed('stacks/a/run.sh') } },
    ],
  },
  {
    name: 'a file becomes a symlink of the same bytes, and a file again',
    files: { ...BYSTANDER, ...program('a', '', { files: { x: 'index.ts' } }) },
    steps: [
      { edit: { 'stacks/a/x': link('index.ts') }, then: { a: changed('stacks/a/x') } },
      { edit: { 'stacks/a/x': 'index.ts' }, then: { a: changed('stacks/a/x') } },
    ],
  },
];

const links: readonly Case[] = [
  {
    name: 'a symlink gets another target: its owner runs, and who imports through it',
    files: {
      ...BYSTANDER,
      ...program('a', '', { files: { link: link('../../libs/one.ts') } }),
      ...program('b', "import '../../shared/x';\n"),
      'shared/x.ts': link('../libs/one.ts'),
      'libs/one.ts': '',
      'libs/two.ts': '',
    },
    steps: [
      {
        edit: { 'stacks/a/link': link('../../libs/two.ts'), 'shared/x.ts': link('../libs/two.ts') },
        then: {
          a: changed('stacks/a/link', 'libs/one.ts', 'libs/two.ts'),
          b: changed('shared/x.ts', 'libs/one.ts', 'libs/two.ts'),
        },
      },
      { edit: { 'libs/one.ts': '1' }, then: {} },
      { edit: { 'libs/two.ts': '1' }, then: { a: changed('libs/two.ts'), b: changed('libs/two.ts') } },
    ],
  },
  {
    name: 'a symlink to a folder: what comes there is an input',
    files: {
      ...BYSTANDER,
      ...program('a', '', { files: { libs: link('../../libs/x') } }),
      'libs/x/y.ts': '',
      'libs/xy.ts': '',
    },
    steps: [
      { edit: { 'libs/x/new.ts': '1', 'libs/xy.ts': '1' }, then: { a: changed('libs/x/new.ts') } },
      { edit: { 'libs/x/y.ts': null }, then: { a: changed('libs/x/y.ts') } },
    ],
  },
  {
    name: 'a symlink to nothing: what appears at its target is an input',
    files: { ...BYSTANDER, ...program('a', '', { files: { later: link('../../later') } }) },
    steps: [{ edit: { later: '1' }, then: { a: changed('later') } }],
  },
  {
    name: 'symlinks that lead through symlinks',
    files: {
      ...BYSTANDER,
      ...program('a', '', { files: { l: link('../../one/x') } }),
      one: link('two'),
      'two/x': link('../three/x'),
      'three/x': '',
    },
    steps: [
      { edit: { 'three/x': '1' }, then: { a: changed('three/x') } },
      {
        edit: { one: link('four'), 'four/x': '1' },
        then: { a: changed('four/x', 'one', 'three/x', 'two/x') },
      },
    ],
  },
  {
    name: 'symlinks that lead out of the repository, or in a circle, refuse their stack only',
    files: { ...BYSTANDER, ...program('a', ''), ...program('b', '') },
    steps: [
      {
        edit: {
          'stacks/a/out': link('../../../etc/passwd'),
          'stacks/b/x': link('y'),
          'stacks/b/y': link('x'),
          'stacks/bystander/index.ts': '2',
        },
        then: {
          a: /^refused Invalid: .*stacks\/a\/out leads out of the repository/,
          b: /^refused Invalid: .*in a circle/,
          bystander: changed('stacks/bystander/index.ts'),
        },
      },
      { edit: { 'stacks/a/out': null, 'stacks/b/x': null, 'stacks/b/y': null }, then: {} },
    ],
  },
  {
    name: 'the folder of a stack becomes a symlink to where it is now',
    files: {
      ...BYSTANDER,
      'manifests/a.yaml': manifest('a', { source: { dir: '/stacks/a' } }),
      'stacks/a/Pulumi.yaml': project('a'),
    },
    steps: [
      {
        edit: both(moved('stacks/a', 'real/a'), { 'stacks/a': link('../real/a') }),
        then: { a: /^refused Invalid: .*stacks\/a of repository fleet has no Pulumi\.yaml/ },
      },
    ],
  },
];

const linked: readonly Case[] = [
  {
    name: 'a manifest and a project file become symlinks: nothing is read through them, nothing is destroyed',
    files: { ...program('a', ''), ...program('b', ''), ...BYSTANDER },
    steps: [
      {
        edit: both(moved('stacks/a/towline.yaml', 'shared/a.yml'), {
          'stacks/a/towline.yaml': link('../../shared/a.yml'),
          'shared/a.yml': '',
          'shared/Pulumi.yaml': project('b'),
          'stacks/b/Pulumi.yaml': link('../../shared/Pulumi.yaml'),
        }),
        then: { a: /^hold Orphaned/, b: /^refused Invalid: .*has no Pulumi\.yaml/ },
      },
    ],
  },
];

const submodules: readonly Case[] = [
  {
    name: 'a submodule in the folder of a stack comes, moves on and goes',
    files: { ...BYSTANDER, ...program('a', '') },
    steps: [
      { edit: { 'stacks/a/vendor': submodule('1') }, then: { a: changed('stacks/a/vendor') } },
      { edit: { 'stacks/a/vendor': submodule('2') }, then: { a: changed('stacks/a/vendor') } },
      { edit: { 'stacks/a/vendor': null }, then: { a: changed('stacks/a/vendor') } },
    ],
  },
  {
    name: 'a submodule that stacks import from, include and link to',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../vendor/lib/index';\n"),
      ...program('b', '', { spec: { source: { include: ['/vendor'] } } }),
      ...program('c', '', { files: { v: link('../../vendor') } }),
      vendor: submodule('1'),
      vendored: submodule('1'),
    },
    steps: [
      {
        edit: { vendor: submodule('2'), vendored: submodule('2') },
        then: { a: changed('vendor'), b: changed('vendor'), c: changed('vendor') },
      },
    ],
  },
  {
    name: 'a submodule becomes a folder of files',
    files: { ...BYSTANDER, ...program('a', '', { files: { vendor: submodule('1') } }) },
    steps: [
      {
        edit: { 'stacks/a/vendor': null, 'stacks/a/vendor/x.ts': '1' },
        then: { a: changed('stacks/a/vendor', 'stacks/a/vendor/x.ts') },
      },
    ],
  },
  {
    name: 'the address of a submodule',
    files: {
      ...BYSTANDER,
      ...program('a', '', { files: { vendor: submodule('1') } }),
      '.gitmodules': '[submodule "v"]\n\tpath = stacks/a/vendor\n\turl = https://git.example/v.git\n',
    },
    steps: [
      {
        edit: {
          '.gitmodules': '[submodule "v"]\n\tpath = stacks/a/vendor\n\turl = https://git.example/w.git\n',
        },
        then: { a: changed('.gitmodules') },
      },
    ],
  },
];

const POINTER = (digit: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize 3\n`;

const attributes: readonly Case[] = [
  {
    name: 'attributes of line ends, in the folder of a stack and above it',
    files: { ...BYSTANDER, ...program('a', '', { folder: 'teams/x/a' }), 'other/.gitattributes': '' },
    steps: [
      {
        edit: { 'teams/x/a/.gitattributes': '*.ts text eol=crlf\n' },
        then: { a: changed('teams/x/a/.gitattributes') },
      },
      {
        edit: { 'teams/x/.gitattributes': '*.ts text eol=lf\n' },
        then: { a: changed('teams/x/.gitattributes') },
      },
      { edit: { 'other/.gitattributes': '*.ts ident\n', 'stacks/a/.gitattributes': '' }, then: {} },
      {
        edit: { '.gitattributes': '*.ts ident\n' },
        then: { a: changed('.gitattributes'), bystander: changed('.gitattributes') },
      },
    ],
  },
  {
    name: 'a filter on inputs refuses the stacks that have them, until it goes',
    files: { ...program('a', ''), ...program('b', '') },
    steps: [
      {
        edit: { 'stacks/a/.gitattributes': 'index.ts filter=git-crypt diff=git-crypt\n' },
        then: { a: /^refused Invalid: .*index\.ts is stored through the Git filter “git-crypt”/ },
      },
      { edit: { 'stacks/a/.gitattributes': null }, then: {} },
    ],
  },
  {
    name: 'a pointer of Git LFS whose content is not here keeps its stack back; a file that is marked and no pointer does not',
    files: {
      ...program('a', '', { files: { 'x.bin': 'content', '.gitattributes': '*.bin filter=lfs\n' } }),
      ...program('b', ''),
    },
    steps: [
      { edit: { 'stacks/a/x.bin': 'other content' }, then: { a: changed('stacks/a/x.bin') } },
      {
        edit: { 'stacks/a/x.bin': POINTER('1') },
        then: { a: /^waiting SourceUnavailable: .*x\.bin is not in the Git LFS of/ },
      },
      {
        edit: { 'stacks/a/x.bin': POINTER('2') },
        then: { a: /^waiting SourceUnavailable: .*x\.bin is not in the Git LFS of/ },
      },
    ],
  },
  {
    name: 'what Git ignores is told outside of projects; in one it is a file that programs may read',
    files: {
      ...BYSTANDER,
      ...program('a', ''),
      ...program('b', '', { spec: { source: { include: ['!.gitignore'] } } }),
    },
    steps: [
      { edit: { '.gitignore': 'x\n', 'stacks/.gitignore': 'x\n' }, then: {} },
      {
        edit: { 'stacks/a/.gitignore': 'x\n', 'stacks/b/.gitignore': 'x\n' },
        then: { a: changed('stacks/a/.gitignore') },
      },
    ],
  },
];

runCases('links, submodules and modes', [...modes, ...links, ...linked, ...submodules, ...attributes]);
