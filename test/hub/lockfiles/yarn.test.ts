import assert from 'node:assert/strict';
import test from 'node:test';
import { archiveOf, parseDescriptor, pathsOf } from '../../../hub/lockfiles/berryranges.ts';
import { yarnLock } from '../../../hub/lockfiles/yarn.ts';
import { readLock, workspacesIn, type Files } from './yarnproject.ts';

const YARN_1 = '# yarn lockfile v1\n\n\n';
const ROOT = JSON.stringify({ name: 'root', version: '1.0.0' });
const app = (fields: object): string => JSON.stringify({ name: 'app', version: '1.0.0', ...fields });

test('a lockfile that is not known is taken whole, with the reason', () => {
  const reasons: Readonly<Record<string, RegExp>> = {
    '__metadata:\n  version: 11\n': /the unknown version 11/,
    '__metadata:\n  version: 4\n': /the unknown version 4/,
    '__metadata:\n  version: 8\n\n"a@npm:1":\n  version: 1.0.0\n': /“a@npm:1” has no resolution/,
    'a: 1\n': /neither “yarn lockfile v1” nor “__metadata”/,
    [`${YARN_1}<<<<<<< HEAD\na@1:\n=======\n`]: /cannot be read/,
    '': /neither/,
  };
  for (const [text, reason] of Object.entries(reasons)) {
    const read = yarnLock.parse(Buffer.from(text));
    assert.match(read.kind === 'whole' ? read.why : '', reason);
  }
});

/** Files, the text of the lockfile below its header, and what is said of the app. */
const PROBLEMS: Readonly<Record<string, readonly [Files, string, RegExp]>> = {
  'a workspace that yarn 1 passes over': [
    { 'app/package.json': JSON.stringify({ name: 'app' }) },
    '',
    /^app\/package\.json has no “version”: yarn 1 installs nothing for such a workspace: add one$/,
  ],
  'a package that the lockfile lacks': [
    { 'app/package.json': app({ devDependencies: { a: '^1.0.0' } }) },
    '',
    /^yarn\.lock has no package for a@\^1\.0\.0: run “yarn install” and commit yarn\.lock$/,
  ],
  'a package that its range does not allow': [
    { 'app/package.json': app({ optionalDependencies: { a: '^2.0.0' } }) },
    'a@^2.0.0:\n  version "1.0.0"\n',
    /^yarn\.lock has no package for a@\^2\.0\.0/,
  ],
  'a workspace of another version': [
    {
      'app/package.json': app({ dependencies: { lib: '*' } }),
      'lib/package.json': JSON.stringify({ name: 'lib', version: '1.0.0-beta.1' }),
    },
    'lib@*:\n  version "1.0.0"\n',
    /^app\/package\.json depends on lib@\*, which the workspace lib of that name \(version 1\.0\.0-beta\.1\)/,
  ],
};
for (const [title, [files, lock, problem]] of Object.entries(PROBLEMS))
  test(`yarn 1: ${title} is a problem of who depends on it alone`, () => {
    const all = { 'package.json': ROOT, 'other/package.json': app({ name: 'other' }), ...files };
    const lockfile = readLock(YARN_1 + lock);
    const [first, ...rest] = lockfile.slice('app', workspacesIn(all)).problems;
    assert.match(first ?? '', problem);
    assert.deepEqual(rest, []);
    assert.deepEqual(lockfile.slice('other', workspacesIn(all)).problems, []);
  });

const entry = (resolution: string, dependencies: Readonly<Record<string, string>> = {}): string =>
  [
    `  version: ${resolution.split(':').at(-1)}`,
    `  resolution: "${resolution}"`,
    ...(Object.keys(dependencies).length > 0 ? ['  dependencies:'] : []),
    ...Object.entries(dependencies).map(([name, range]) => `    ${name}: "${range}"`),
    '  linkType: hard\n',
  ].join('\n');

test('yarn 4: a public package of a workspace’s name is a problem, unless it has another name', () => {
  const lock = [
    '__metadata:\n  version: 8\n',
    `"app@workspace:app":\n${entry('app@workspace:app', { lib: 'npm:^9.0.0', renamed: 'npm:lib@^9.0.0' })}`,
    `"lib@npm:^9.0.0":\n${entry('lib@npm:9.0.0')}`,
    `"lib@workspace:lib":\n${entry('lib@workspace:lib')}`,
    `"renamed@npm:lib@^9.0.0":\n${entry('lib@npm:9.0.0')}`,
    `"root@workspace:.":\n${entry('root@workspace:.')}`,
  ].join('\n');
  const slice = readLock(lock).slice('app', workspacesIn({}));
  assert.deepEqual(slice.problems, [
    'app/package.json depends on lib@npm:^9.0.0, which is not the workspace lib of that name: yarn.lock takes the ' +
      'public package: write “workspace:^” as its range, or another name with “npm:lib@…” as its range if the public ' +
      'one is meant',
  ]);
  assert.deepEqual(readLock(lock).slice('lib', workspacesIn({})).problems, []);
  assert.deepEqual(readLock(lock).slice('new', workspacesIn({})).problems, [
    'yarn.lock has no workspace new: run “yarn install” and commit yarn.lock',
  ]);
});

test('descriptors name the files that their packages come from', () => {
  const from = (folder: string): string => encodeURIComponent(`x@workspace:${folder}`);
  const paths: Readonly<Record<string, readonly string[]>> = {
    'a@npm:^1.0.0': [],
    'a@workspace:libs/a': [],
    'a@https://registry.example/a.tgz': [],
    [`a@file:../vendor/a.tgz::locator=${from('app')}`]: ['vendor/a.tgz'],
    [`a@portal:./a/::locator=${from('.')}`]: ['a'],
    [`a@link:../../outside::locator=${from('app')}`]: ['../outside'],
    [`a@exec:./make.js::locator=${from('app')}`]: ['app/make.js'],
    [`a@file:b::locator=${encodeURIComponent(`p@portal:../p::locator=${from('app')}`)}`]: ['p/b'],
    [`a@patch:a@npm%3A1.0.0#./a.patch&optional!../b.patch::locator=${from('app')}`]: [
      'app/a.patch',
      'b.patch',
    ],
    'a@patch:a@npm%3A1.0.0#~/.yarn/patches/a.patch': ['.yarn/patches/a.patch'],
    'a@patch:a@npm%3A1.0.0#optional!builtin<compat/a>': [],
    'a@patch:a@^1#~builtin<compat/a>': [],
  };
  for (const [descriptor, expected] of Object.entries(paths))
    assert.deepEqual(pathsOf(parseDescriptor(descriptor)), expected, descriptor);
});

test('archives are called what yarn calls them', () => {
  assert.equal(archiveOf('leaf@npm:1.1.0', '10c0/6f968addfa00'), 'leaf-npm-1.1.0-7cd6e4319f-6f968addfa.zip');
  assert.equal(archiveOf('@s/p@npm:1.0.0', '132ebf5103'), '@s-p-npm-1.0.0-5a52ab8d69-132ebf5103.zip');
});

test('yarn 3 compares resolutions with ranges as they are written, yarn 4 by what they mean', () => {
  const lock = (version: number, range: string): string =>
    [
      `__metadata:\n  version: ${version}\n`,
      `"a@npm:1.0.0":\n${entry('a@npm:1.0.0')}`,
      `"a@npm:2.0.0":\n${entry('a@npm:2.0.0')}`,
      `"app@workspace:app":\n${entry('app@workspace:app', { a: range })}`,
      `"other@workspace:other":\n${entry('other@workspace:other', { a: version === 6 ? '2.0.0' : 'npm:2.0.0' })}`,
      `"root@workspace:.":\n${entry('root@workspace:.', { a: range })}`,
    ].join('\n');
  const taken = (version: number, range: string, pattern: string): readonly string[] => {
    const root = JSON.stringify({ name: 'root', resolutions: { [pattern]: '2.0.0' } });
    const slice = readLock(lock(version, range)).slice('app', workspacesIn({ 'package.json': root }));
    return [...slice.packages].filter((name) => name.startsWith('a@'));
  };
  // a lockfile with a package that nothing leads to is taken whole
  assert.deepEqual(taken(6, '1.0.0', 'a@1.0.0'), ['a@1.0.0', 'a@2.0.0']);
  assert.deepEqual(taken(6, '1.0.0', 'a@npm:1.0.0'), ['a@1.0.0']);
  assert.deepEqual(taken(8, 'npm:1.0.0', 'a@1.0.0'), ['a@1.0.0', 'a@2.0.0']);
  assert.deepEqual(taken(8, 'npm:1.0.0', 'a@other:1.0.0'), ['a@1.0.0']);
});
