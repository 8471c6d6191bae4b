import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Selection } from '../../../hub/inputs/select.ts';
import type { ProjectFile } from '../../../hub/catalog/catalog.ts';
import { choose, type Asked, type Files } from './tree.ts';

interface Row {
  readonly name: string;
  readonly files: Files;
  readonly asked: Asked;
  readonly project?: Partial<ProjectFile>;
  readonly expected: readonly string[];
}

const yaml = { runtime: 'yaml' };

const ROWS: readonly Row[] = [
  {
    name: 'the project folder, and nothing beside it or with a name that begins alike',
    files: { 'a/Pulumi.yaml': '', 'a/x': '', 'a/b/y': '', 'aa/x': '', 'a-b/x': '', 'a.b/x': '', README: '' },
    asked: { project: 'a' },
    expected: ['a/Pulumi.yaml', 'a/b/y', 'a/x'],
  },
  {
    name: 'a root project without the folders of nested projects',
    files: {
      'Pulumi.yaml': '',
      'x.ts': '',
      'lib/y.ts': '',
      'n/Pulumi.yaml': '',
      'n/z': '',
      'n/m/Pulumi.yml': '',
      'n/m/q': '',
      'o/z': '',
    },
    asked: { project: '.' },
    expected: ['Pulumi.yaml', 'lib/y.ts', 'o/z', 'x.ts'],
  },
  {
    name: 'a nested project that is included',
    files: {
      'Pulumi.yaml': '',
      'n/Pulumi.yaml': '',
      'n/z': '',
      'n/Pulumi.prod.yaml': '',
      'm/Pulumi.yaml': '',
    },
    asked: { project: '.', include: ['n/**'] },
    expected: ['Pulumi.yaml', 'n/Pulumi.yaml', 'n/z'],
  },
  {
    name: 'only the settings of its own stack, in the spelling that Pulumi reads',
    files: {
      'a/Pulumi.yaml': '',
      'a/Pulumi.prod.yaml': '',
      'a/Pulumi.prod.yml': '',
      'a/Pulumi.dev.yaml': '',
      'a/Pulumi.dev.eu.json': '',
      'a/sub/Pulumi.dev.yaml': '',
    },
    asked: { project: 'a' },
    expected: ['a/Pulumi.prod.yaml', 'a/Pulumi.yaml', 'a/sub/Pulumi.dev.yaml'],
  },
  {
    name: 'settings in a folder of their own',
    files: {
      'a/Pulumi.yaml': '',
      'config/Pulumi.prod.yaml': '',
      'config/Pulumi.dev.yaml': '',
      'a/Pulumi.prod.yaml': '',
    },
    asked: { project: 'a' },
    project: { stackConfigDir: '../config' },
    expected: ['a/Pulumi.yaml', 'config/Pulumi.prod.yaml'],
  },
  {
    name: 'no settings when they are ignored',
    files: { 'a/Pulumi.yaml': '', 'a/Pulumi.prod.yaml': '' },
    asked: { project: 'a', ignoreConfig: true },
    expected: ['a/Pulumi.yaml'],
  },
  {
    name: 'foreign settings that a pattern names literally',
    files: { 'a/Pulumi.yaml': '', 'b/Pulumi.yaml': '', 'b/Pulumi.dev.yaml': '', 'b/Pulumi.qa.yaml': '' },
    asked: { project: 'a', include: ['/b/*', '../b/Pulumi.dev.yaml'] },
    expected: ['a/Pulumi.yaml', 'b/Pulumi.dev.yaml', 'b/Pulumi.yaml'],
  },
  {
    name: 'included folders, with a later negation at any depth',
    files: {
      's/a/Pulumi.yaml': '',
      's/a/notes.md': '',
      'libs/ui/x.ts': '',
      'libs/ui/d/y.ts': '',
      'libs/ui/d/README.md': '',
      'libs/api/z.ts': '',
    },
    asked: { project: 's/a', include: ['../../libs/ui/**', '!**/*.md'] },
    expected: ['libs/ui/d/y.ts', 'libs/ui/x.ts', 's/a/Pulumi.yaml'],
  },
  {
    name: 'a negation that a later pattern takes back',
    files: { 'a/Pulumi.yaml': '', 'lib/keep.md': '', 'lib/drop.md': '', 'lib/x': '' },
    asked: { project: 'a', include: ['/lib', '!/lib/*.md', '/lib/keep.md'] },
    expected: ['a/Pulumi.yaml', 'lib/keep.md', 'lib/x'],
  },
  {
    name: 'patterns are exact about case and do not match inside names',
    files: { 'a/Pulumi.yaml': '', 'Lib/x': '', 'lib/x': '', 'lib2/x': '', 'b/lib/x': '' },
    asked: { project: 'a', include: ['/[l]ib'] },
    expected: ['a/Pulumi.yaml', 'lib/x'],
  },
  {
    name: 'a pattern of up-steps alone is that folder',
    files: { 'g/a/Pulumi.yaml': '', 'g/b/x': '', 'g/y': '', 'h/z': '' },
    asked: { project: 'g/a', include: ['..'] },
    expected: ['g/a/Pulumi.yaml', 'g/b/x', 'g/y'],
  },
  {
    name: 'folders whose names hold characters of patterns',
    files: { 'a[1]/Pulumi.yaml': '', 'a[1]/x': '', 'lib#1/x': '', 'a1/x': '' },
    asked: { project: 'a[1]', include: ['../lib#1/*', './*.md'] },
    expected: ['a[1]/Pulumi.yaml', 'a[1]/x', 'lib#1/x'],
  },
  {
    name: 'the nearest npm lockfile with the manifests down to the project',
    files: {
      'package-lock.json': '',
      'package.json': '',
      'g/package-lock.json': '',
      'g/package.json': '',
      'g/.npmrc': '',
      'g/h/package.json': '',
      'g/h/a/Pulumi.yaml': '',
      'g/i/package.json': '',
    },
    asked: { project: 'g/h/a' },
    expected: ['g/.npmrc', 'g/h/a/Pulumi.yaml', 'g/h/package.json', 'g/package-lock.json', 'g/package.json'],
  },
  {
    name: 'no lockfile for a runtime that reads none',
    files: {
      'package-lock.json': '',
      'package.json': '',
      '.nvmrc': '',
      '.pulumi-version': '',
      'a/Pulumi.yaml': '',
    },
    asked: { project: 'a' },
    project: yaml,
    expected: ['.pulumi-version', 'a/Pulumi.yaml'],
  },
  {
    name: 'tool files of parent folders only',
    files: {
      '.nvmrc': '',
      '.tool-versions': '',
      'g/.node-version': '',
      'b/.nvmrc': '',
      'g/a/Pulumi.yaml': '',
    },
    asked: { project: 'g/a' },
    expected: ['.nvmrc', '.tool-versions', 'g/.node-version', 'g/a/Pulumi.yaml'],
  },
  {
    name: 'what symlinks lead to, transitively, with the links on the way',
    files: {
      'a/Pulumi.yaml': '',
      'a/l': '-> ../links/one/deep',
      'links/one': '-> ../real',
      'real/deep/x': '',
      'real/deep/f': '-> ../file',
      'real/file': '',
      'real/other': '',
    },
    asked: { project: 'a' },
    expected: ['a/Pulumi.yaml', 'a/l', 'links/one', 'real/deep/f', 'real/deep/x', 'real/file'],
  },
  {
    name: 'what a link names, also where a pattern or a folder would not add it',
    files: {
      'a/Pulumi.yaml': '',
      'a/Pulumi.prod.yaml': '-> Pulumi.base.yaml',
      'a/Pulumi.base.yaml': '',
      'a/l': '-> ../b',
      'b/Pulumi.yaml': '',
      'b/Pulumi.dev.yaml': '',
    },
    asked: { project: 'a' },
    expected: ['a/Pulumi.base.yaml', 'a/Pulumi.prod.yaml', 'a/Pulumi.yaml', 'a/l', 'b/Pulumi.yaml'],
  },
  {
    name: 'a link to nothing, and one to itself through its folder',
    files: { 'a/Pulumi.yaml': '', 'a/gone': '-> ../missing/x', 'a/self': '-> .' },
    asked: { project: 'a' },
    expected: ['a/Pulumi.yaml', 'a/gone', 'a/self'],
  },
];

for (const { name, files, asked, project, expected } of ROWS)
  test(`inputs: ${name}`, () => {
    const chosen = choose(files, asked, project === undefined ? {} : { project });
    assert.deepEqual(chosen.texts, []);
    assert.deepEqual(chosen.paths, [...expected].sort());
  });

const base = { 'a/Pulumi.yaml': '' };
const LFS = 'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n';

const PROBLEMS: readonly (readonly [string, Files, Asked, RegExp])[] = [
  ['no project file', { 'a/x': '' }, { project: 'a' }, /no Pulumi\.yaml in a of r/],
  [
    'a link out of the repository',
    { ...base, 'a/l': '-> ../../etc/passwd' },
    { project: 'a' },
    /symlink a\/l leads out/,
  ],
  ['an absolute link', { ...base, 'a/l': '-> /etc/passwd' }, { project: 'a' }, /symlink a\/l leads out/],
  [
    'a link whose target leaves',
    { ...base, 'a/l': '-> ../b', b: '-> ../c' },
    { project: 'a' },
    /symlink (a\/l|b) leads out/,
  ],
  ['links in a circle', { ...base, 'a/l': '-> m', 'a/m': '-> l' }, { project: 'a' }, /circle/],
  [
    'an include out of the repository',
    base,
    { project: 'a', include: ['../../x/**'] },
    /“\.\.\/\.\.\/x\/\*\*” leads out/,
  ],
  ['an include with .. in the middle', base, { project: 'a', include: ['x/../../y'] }, /“x\/\.\.\/\.\.\/y”/],
  ['an include that takes too long to try', base, { project: 'a', include: ['**/b/**/c/**/d/**'] }, /“\*\*”/],
  [
    'a file too deep for patterns',
    { ...base, [`a/${'x/'.repeat(70)}y`]: '' },
    { project: 'a' },
    /64 folders deep/,
  ],
  [
    'a file too deep for patterns that an include may mean',
    { ...base, [`b/${'x/'.repeat(70)}y`]: '' },
    { project: 'a', include: ['/b/**/z'] },
    /64 folders deep/,
  ],
  [
    'an encrypted file by a pattern that takes too long to try',
    { ...base, 'a/s': '', '.gitattributes': '**/b/**/c/**/d/** filter=crypt' },
    { project: 'a' },
    /a\/s .*“crypt”/,
  ],
  ['an empty include', base, { project: 'a', include: [''] }, /no pattern/],
  [
    'an include into a submodule',
    { ...base, 'v/m': '@' },
    { project: 'a', include: ['/v/m/lib/**'] },
    /submodule v\/m/,
  ],
  [
    'an encrypted file',
    { ...base, 'a/secret.key': '', '.gitattributes': '*.key filter=git-crypt diff=git-crypt' },
    { project: 'a' },
    /a\/secret\.key .*“git-crypt”/,
  ],
  [
    'an encrypted file by a macro',
    { ...base, 'a/s': '', '.gitattributes': '[attr]secret filter=crypt\n/a/s secret' },
    { project: 'a' },
    /“crypt”/,
  ],
  [
    'an LFS pointer',
    { ...base, 'a/big.bin': LFS, 'a/.gitattributes': '*.bin filter=lfs -text' },
    { project: 'a' },
    /a\/big\.bin is a Git LFS pointer/,
  ],
  ['a name that is not UTF-8', { ...base, 'a/\udcff': '' }, { project: 'a' }, /not valid UTF-8/],
  [
    'a name that Git does not check out',
    { ...base, 'a/.git/config': '' },
    { project: 'a' },
    /not one that Git checks out/,
  ],
];

for (const [name, files, asked, expected] of PROBLEMS)
  test(`inputs: ${name} is refused`, () => {
    const chosen = choose(files, asked);
    assert.match(chosen.texts.join('\n'), expected);
    assert.ok(chosen.problems.every((problem) => problem.code === 'Invalid'));
  });

test('inputs: filters that do not apply are no problem', () => {
  const attributes =
    '*.key filter=git-crypt\na/open.key -filter\nother/** filter=crypt\nsub filter=crypt\n# * filter=x\n*.txt filter=lfs';
  const files = {
    ...base,
    'a/open.key': '',
    'a/sub/x': '',
    'a/t.txt': 'content, not a pointer',
    'b/closed.key': '',
    '.gitattributes': attributes,
  };
  assert.deepEqual(choose(files, { project: 'a' }).texts, []);
});

test('inputs: the attributes nearest to a file decide', () => {
  const files = {
    ...base,
    'a/x.key': '',
    '.gitattributes': '*.key -filter',
    'a/.gitattributes': '*.key filter=crypt',
  };
  assert.match(choose(files, { project: 'a' }).texts.join(), /“crypt”/);
});

test('inputs: manifests are never inputs, mixed files are, with a warning', () => {
  const files = { ...base, 'a/stack.yaml': '', 'a/both.yaml': '', 'lib/m.yaml': '' };
  const documents = new Map([
    ['a/stack.yaml', 'only'],
    ['a/both.yaml', 'mixed'],
    ['lib/m.yaml', 'only'],
  ] as const);
  const chosen = choose(files, { project: 'a', include: ['/lib/**', 'stack.yaml'] }, { documents });
  assert.deepEqual(chosen.paths, ['a/Pulumi.yaml', 'a/both.yaml']);
  assert.deepEqual(
    chosen.warnings.map((warning) => warning.slice(0, 20)),
    ['include “/lib/**” ma', 'include “stack.yaml”', 'a/both.yaml holds To'],
  );
});

const pathsOf = ({ files }: Selection): string[] => files.map(({ path }) => path);

test('inputs: a submodule whose content is there comes with it, without a warning', () => {
  const files = {
    'a/Pulumi.yaml': 'p',
    'a/v': '@',
    'a/v/deep/x': 'x',
    'a/v-not': 'n',
    w: '@',
    'w/Pulumi.yaml': 'q',
    'w/src/y': 'y',
  };
  const own = choose(files, { project: 'a' });
  assert.deepEqual(pathsOf(own), ['a/Pulumi.yaml', 'a/v', 'a/v-not', 'a/v/deep/x']);
  assert.deepEqual(own.warnings, []);
  const included = choose(files, { project: 'a', include: ['/w/src/**', '!v'] });
  assert.ok(pathsOf(included).includes('w/src/y'));
  assert.deepEqual(included.problems, []);
  assert.deepEqual(pathsOf(choose(files, { project: 'w' })), ['w/Pulumi.yaml', 'w/src/y']);
});

test('inputs: submodules count by their pointer, with a warning', () => {
  const chosen = choose({ ...base, 'a/v': '@' }, { project: 'a' });
  assert.deepEqual(
    chosen.files.map((file) => file.mode),
    ['100644', '160000'],
  );
  assert.match(chosen.warnings.join(), /submodule a\/v/);
});

test('inputs: a pattern that matches nothing is a warning, also a negative one', () => {
  const chosen = choose(base, { project: 'a', include: ['../gone/**', '!*.md'] });
  assert.equal(chosen.warnings.length, 2);
});
