import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { projectDependencies, readRequirements } from '../../../agent/dependencies/requirements.ts';

const TABLE: readonly (readonly [string, string, readonly (readonly [string, number])[], boolean])[] = [
  ['packages of an index', 'pulumi==3.272.0\n# -r no.txt\nsemver>=3 # -r no\n--no-binary :all:\n', [], false],
  [
    'other files, in each spelling',
    '-r a.txt\n-rb.txt\n--requirement=../c.txt\n-c d.txt\n\n--constraint e.txt\n',
    [
      ['apps/web/a.txt', 1],
      ['apps/web/b.txt', 2],
      ['apps/c.txt', 3],
      ['apps/web/d.txt', 4],
      ['apps/web/e.txt', 6],
    ],
    false,
  ],
  ['a line that goes on', 'pulumi \\\n  ==3\n-r \\\n a.txt', [['apps/web/a.txt', 3]], false],
  ['a file of the network', '-r https://registry.example/r.txt', [], false],
  ['a folder', '../../libs/common', [], true],
  ['an editable folder', '-e ../../libs/common', [], true],
  ['an editable folder by its name', '--editable=libs', [], true],
  ['an editable repository', '-e git+https://git.example/x#egg=x', [], false],
  ['a folder by reference', 'common @ file:../common', [], true],
  ['a repository by reference', 'common @ git+https://git.example/x', [], false],
  ['the folder itself', '.', [], true],
];

describe('a requirements file with', () => {
  for (const [what, text, files, local] of TABLE)
    test(what, () => {
      const found = readRequirements('apps/web/requirements.txt', text);
      assert.deepEqual(
        found.files.map(({ path, line }) => [path, line]),
        files,
      );
      assert.equal(found.local, local);
    });
});

test('dependencies of a project are those that it declares, and what cannot be read is not none', () => {
  assert.deepEqual(projectDependencies('[project]\ndependencies = ["pulumi>=3"]'), ['pulumi>=3']);
  assert.deepEqual(projectDependencies('[tool.x]\n'), []);
  assert.equal(projectDependencies('[project]\ndependencies = "pulumi"'), undefined);
  assert.equal(projectDependencies('[project'), undefined);
});
