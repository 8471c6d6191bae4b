import assert from 'node:assert/strict';
import test from 'node:test';
import { inferGo } from '../../../hub/inputs/go.ts';
import { ask, readingOf, type Files } from './tree.ts';
import { assertStandsOnItsFiles, foundIn, inferOn, projectAt } from './views.ts';

interface Case {
  readonly says: string;
  readonly files: Files;
  readonly found: readonly string[];
  readonly warnings?: readonly RegExp[];
}

const own = 's/a/main.go';
const importing = (...paths: readonly string[]): string =>
  `package main\n\nimport (\n${paths.map((path) => `\t_ "${path}"\n`).join('')})\n`;

const cases: readonly Case[] = [
  {
    says: 'nothing but its own module',
    files: {
      's/a/go.mod': 'module x/a\n',
      [own]: importing('fmt', 'example.com/far'),
      'far/far.go': 'package far',
    },
    found: [own, 's/a/go.mod'],
  },
  {
    says: 'modules put in place of others, in what they need of each other, and of them the packages that are imported',
    files: {
      's/a/go.mod': `module x/a
require (
	x/lib v0.0.0 // ours
	"x/deep" v1.0.0
)
replace x/lib => ../../go/lib
replace (
	x/deep v1.0.0 => ../../go/deep
	x/idle => ../../go/idle
	x/far => x/fork v1.2.3
)
`,
      's/a/go.sum': '',
      [own]: importing('x/lib/net'),
      'go/lib/go.mod': 'module x/lib\nrequire x/deep v1.0.0\n',
      'go/lib/go.sum': '',
      'go/lib/net/net.go': importing('x/deep'),
      'go/lib/net/net_test.go': importing('x/lib/unused'),
      'go/lib/net/asm.s': '',
      'go/lib/net/README.md': '',
      'go/lib/unused/unused.go': '',
      'go/deep/go.mod': 'module x/deep\n',
      'go/deep/deep.go': 'package deep',
      'go/idle/go.mod': 'module x/idle\n',
    },
    found: [
      'go/deep/deep.go',
      'go/deep/go.mod',
      'go/lib/go.mod',
      'go/lib/net/asm.s',
      'go/lib/net/net.go',
      's/a/go.mod',
      's/a/go.sum',
      own,
    ],
  },
  {
    says: 'packages of the module above it, from package to package',
    files: {
      'go.mod': 'module example.com/mono\n',
      'go.sum': '',
      [own]: importing('example.com/mono/libs/net'),
      'libs/net/net.go': importing('example.com/mono/libs/base', 'example.com/monolith/x'),
      'libs/base/base.go': 'package base',
      'libs/base/base_windows.go': 'package base',
      'libs/other/other.go': 'package other',
    },
    found: ['go.mod', 'go.sum', 'libs/base/base.go', 'libs/base/base_windows.go', 'libs/net/net.go', own],
  },
  {
    says: 'embedded files, folders and what patterns match',
    files: {
      'go.mod': 'module m\n',
      [own]: importing('m/libs/e'),
      'libs/e/e.go': `package e
//go:embed a.txt "b c.txt" all:dir
//go:embed more/*.json
var files embed.FS
`,
      'libs/e/a.txt': '',
      'libs/e/b c.txt': '',
      'libs/e/d.txt': '',
      'libs/e/dir/x': '',
      'libs/e/more/one.json': '1',
      'libs/e/more/two.txt': '',
      'libs/e/more/sub/three.json': '',
    },
    found: [
      'go.mod',
      'libs/e/a.txt',
      'libs/e/b c.txt',
      'libs/e/dir/',
      'libs/e/e.go',
      'libs/e/more/one.json',
      own,
    ],
  },
  {
    says: 'what C compilers read',
    files: {
      'go.mod': 'module m\n',
      [own]: importing('m/libs/c'),
      'libs/c/c.go': 'package c\n/*\n#cgo CFLAGS: -I${SRCDIR}/../include\n*/\nimport "C"\n',
      'libs/c/data.inc': '',
      'libs/include/x.inc': '',
    },
    found: ['go.mod', 'libs/c/', 'libs/c/c.go', 'libs/include/', own],
  },
  {
    says: 'packages in the vendor folder of its module, without those that nothing imports',
    files: {
      'go.mod': 'module m\n',
      [own]: importing('far.example/a'),
      'vendor/modules.txt': '',
      'vendor/far.example/a/a.go': importing('far.example/b'),
      'vendor/far.example/b/b.go': 'package b',
      'vendor/far.example/c/c.go': 'package c',
    },
    found: ['go.mod', own, 'vendor/far.example/a/a.go', 'vendor/far.example/b/b.go', 'vendor/modules.txt'],
  },
  {
    says: 'files and folders that it names',
    files: {
      's/a/go.mod': 'module x/a\n',
      [own]: `package main
func main() {
	pulumi.NewFileAsset("../../texts/a.json")
	pulumi.NewFileArchive("../../site")
	os.ReadFile(filepath.Join("..", "..", "texts", "b.json"))
	os.ReadFile(fmt.Sprintf("../../more/%s.json", name))
}
`,
      'texts/a.json': 'a',
      'texts/b.json': 'b',
      'texts/c.json': 'c',
      'site/index.html': '',
      'more/x.json': '',
    },
    found: ['more/', 's/a/go.mod', own, 'site/', 'texts/a.json', 'texts/b.json'],
  },
  {
    says: 'packages of modules that import each other in a circle',
    files: {
      's/a/go.mod': 'module x/a\nrequire x/b v1.0.0\nreplace x/b => ../../b\n',
      [own]: importing('x/b'),
      'b/go.mod': 'module x/b\nrequire x/a v1.0.0\n',
      'b/b.go': importing('x/a/sub', 'x/b/c'),
      'b/c/c.go': importing('x/b'),
      's/a/sub/sub.go': importing('x/b/c'),
    },
    found: ['b/b.go', 'b/c/c.go', 'b/go.mod', 's/a/go.mod', own, 's/a/sub/sub.go'],
  },
];

const project = projectAt('s/a', 'go');
for (const { says, files, found, warnings = [] } of cases)
  test(`a program in Go is built from ${says}`, () => {
    const inferred = inferOn(inferGo, project, files);
    assert.deepEqual(foundIn(inferred), [...found].sort());
    assert.equal(inferred.warnings.length, warnings.length, inferred.warnings.join('\n'));
    assertStandsOnItsFiles(inferGo, project, files);
  });

const workspace: Files = {
  'go.work': `go 1.24

use (
	./s/a // this one
	./s/b
	./libs/one
	./libs/two
)
use ./libs/idle
replace x/forked => ./forks/f
replace x/other => ./forks/o
replace x/far => x/fork v1.2.3
`,
  'go.work.sum': '',
  's/a/go.mod': 'module x/a\nrequire x/forked v1.0.0\n',
  's/a/go.sum': 'a',
  [own]: importing('x/one'),
  's/b/go.mod': 'module x/b\n',
  's/b/main.go': importing('x/two'),
  'libs/one/go.mod': 'module x/one\n',
  'libs/one/go.sum': 'one',
  'libs/one/one.go': 'package one',
  'libs/two/go.mod': 'module x/two\n',
  'libs/two/two.go': 'package two',
  'libs/idle/go.mod': 'module x/idle\n',
  'forks/f/go.mod': 'module x/forked\n',
  'forks/o/go.mod': 'module x/other\n',
};

test('a workspace is cut to the modules that a program is built from', () => {
  const inferred = inferOn(inferGo, project, workspace);
  assert.deepEqual(foundIn(inferred), [
    '*go.work',
    'forks/f/go.mod',
    'go.work.sum',
    'libs/one/go.mod',
    'libs/one/go.sum',
    'libs/one/one.go',
    's/a/go.mod',
    's/a/go.sum',
    own,
  ]);
  const [made] = inferred.made;
  assert.equal(
    made && ask(readingOf(workspace), workspace, (view) => made.content(view)).toString(),
    `go 1.24
replace x/far => x/fork v1.2.3
replace x/forked => ./forks/f
use ./libs/one
use ./s/a
`,
  );
  assertStandsOnItsFiles(inferGo, project, workspace);
});

test('another module in a workspace changes nothing, one that is needed changes its file', () => {
  const idOf = (files: Files): string | undefined => inferOn(inferGo, project, files).made[0]?.id;
  const more = `${workspace['go.work'] ?? ''}use ./libs/new\n`;
  const added = { ...workspace, 'go.work': more, 'libs/new/go.mod': 'module x/new\n' };
  assert.equal(idOf(added), idOf(workspace));
  const needed = { ...added, [own]: importing('x/one', 'x/new/sub'), 'libs/new/sub/sub.go': '' };
  assert.notEqual(idOf(needed), idOf(workspace));
  assert.ok(foundIn(inferOn(inferGo, project, needed)).includes('libs/new/sub/sub.go'));
});

test('a go.mod or go.work that appears above a program is found', () => {
  const files = { [own]: importing('m/libs/x'), 'libs/x/x.go': 'package x' };
  assert.deepEqual(foundIn(inferOn(inferGo, project, files)), [own]);
  const later = { ...files, 'go.mod': 'module m\n' };
  assert.deepEqual(foundIn(inferOn(inferGo, project, later)), ['go.mod', 'libs/x/x.go', own]);
});

test('a folder out of the repository is said, and files of any content end', () => {
  const files = {
    's/a/go.mod': `module x/a\nreplace x/b => ../../../b\n${'replace ( '.repeat(1000)}`,
    [own]: `package main\n${'{'.repeat(20_000)}import "x`,
  };
  assert.match(
    inferOn(inferGo, project, files).warnings.join(),
    /go\.mod replaces x\/b by .* not in the repository/,
  );
});
