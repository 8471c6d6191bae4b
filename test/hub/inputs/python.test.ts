import assert from 'node:assert/strict';
import test from 'node:test';
import { inferPython } from '../../../hub/inputs/python.ts';
import { blobId } from '../../../hub/inputs/blob.ts';
import { ask, readingOf, type Files } from './tree.ts';
import { assertStandsOnItsFiles, foundIn, inferOn, projectAt } from './views.ts';

const locked = (...packages: readonly string[]): string =>
  `version = 1
revision = 3
requires-python = ">=3.11"

[manifest]
members = ["a", "b", "one", "three", "two"]
${packages.join('')}`;
const member = (name: string, folder: string, ...needs: readonly string[]): string => `
[[package]]
name = "${name}"
version = "1.0"
source = { editable = "${folder}" }
dependencies = [${needs.map((need) => `{ name = "${need}" }`).join(', ')}]
`;
const published = (name: string, version: string): string => `
[[package]]
name = "${name}"
version = "${version}"
source = { registry = "https://registry.example/simple" }
wheels = [{ url = "https://registry.example/${name}-${version}.whl", hash = "sha256:aa" }]
`;

interface Case {
  readonly says: string;
  readonly files: Files;
  readonly found: readonly string[];
  readonly warnings?: readonly RegExp[];
  readonly problems?: readonly RegExp[];
}

const libs: Files = {
  'libs/net/__init__.py': 'from .core import vpc\n',
  'libs/net/core.py': 'from ..base import tags\n',
  'libs/net/unused.py': '',
  'libs/base.py': 'import json\n',
  'libs/other.py': '',
  'texts/a.json': '{}',
  'texts/b.json': '{}',
};

const cases: readonly Case[] = [
  { says: 'nothing but its own folder', files: { 's/a/__main__.py': 'import pulumi\n', ...libs }, found: [] },
  {
    says: 'what requirements files name, from file to file',
    files: {
      's/a/requirements.txt': '-r ../../base.txt\n-e ../../py/lib\npulumi\n',
      'base.txt': '-c constraints.txt\n./wheels/w.whl\n',
      'constraints.txt': '-r base.txt\n',
      'other.txt': '',
      'wheels/w.whl': 'w',
      'wheels/v.whl': 'v',
      'py/lib/setup.py': 'setup(long_description=open("../README.md").read())\n',
      'py/lib/lib/__init__.py': '',
      'py/README.md': '',
    },
    found: [
      'base.txt',
      'constraints.txt',
      'py/README.md',
      'py/lib/',
      'py/lib/setup.py',
      's/a/requirements.txt',
      'wheels/w.whl',
    ],
  },
  {
    says: 'path dependencies of uv, and those of theirs',
    files: {
      's/a/pyproject.toml': `[project]
name = "a"
dependencies = ["one", "pulumi"]
[tool.uv.sources]
one = { path = "../../py/one", editable = true }
`,
      's/a/uv.lock': locked(member('a', '.', 'one'), member('one', '../../py/one')),
      'py/one/pyproject.toml': `[project]
name = "one"
dependencies = ["two @ file:../two"]
readme = "../README.md"
`,
      'py/two/pyproject.toml': '[project]\nname = "two"\n',
      'py/two/two.py':
        'from pathlib import Path\nx = (Path(__file__).parent / "../../texts/a.json").read_text()\n',
      'py/three/pyproject.toml': '[project]\nname = "three"\n',
      'py/README.md': '',
      ...libs,
    },
    found: [
      '*s/a/uv.lock',
      'py/README.md',
      'py/one/',
      'py/one/pyproject.toml',
      'py/two/',
      'py/two/pyproject.toml',
      's/a/pyproject.toml',
      'texts/a.json',
    ],
  },
  {
    says: 'members of its workspace by what they depend on, and the lockfile at the root',
    files: {
      'pyproject.toml': `[tool.uv.workspace]
members = ["s/*", "py/*"]
exclude = ["py/old"]
[tool.uv.sources]
one = { workspace = true }
`,
      'uv.lock': locked(
        member('a', 's/a', 'one'),
        member('b', 's/b', 'three'),
        member('one', 'py/one', 'two'),
        member('three', 'py/three'),
        member('two', 'py/two'),
      ),
      's/a/pyproject.toml': '[project]\nname = "a"\ndependencies = ["One"]\n',
      's/b/pyproject.toml':
        '[project]\nname = "b"\ndependencies = ["three"]\n[tool.uv.sources]\nthree = { workspace = true }\n',
      'py/one/pyproject.toml':
        '[project]\nname = "one"\ndependencies = ["two"]\n[tool.uv.sources]\ntwo = { workspace = true }\n',
      'py/two/pyproject.toml': '[project]\nname = "Two"\n',
      'py/three/pyproject.toml': '[project]\nname = "three"\n',
      'py/old/pyproject.toml': '[project]\nname = "two"\n',
    },
    found: [
      '*pyproject.toml',
      '*uv.lock',
      'py/one/',
      'py/one/pyproject.toml',
      'py/two/',
      'py/two/pyproject.toml',
      'pyproject.toml',
      's/a/pyproject.toml',
    ],
  },
  {
    says: 'path dependencies of poetry, in groups as well',
    files: {
      's/a/pyproject.toml': `[tool.poetry]
name = "a"
[tool.poetry.dependencies]
one = { path = "../../py/one", develop = true }
[tool.poetry.group.dev.dependencies]
two = [{ path = "../../py/two", platform = "linux" }]
`,
      's/a/poetry.lock': '',
      'py/one/pyproject.toml': '[tool.poetry]\nname = "one"\n',
      'py/two/pyproject.toml': '[tool.poetry]\nname = "two"\n',
    },
    found: [
      'py/one/',
      'py/one/pyproject.toml',
      'py/two/',
      'py/two/pyproject.toml',
      's/a/poetry.lock',
      's/a/pyproject.toml',
    ],
  },
  {
    says: 'path dependencies of pipenv',
    files: {
      's/a/Pipfile': '[packages]\none = { path = "../../py/one", editable = true }\n',
      's/a/Pipfile.lock': '{}',
      'py/one/setup.cfg': '[options]\ninstall_requires =\n    two @ file:../two\n',
      'py/two/setup.py': '',
    },
    found: ['py/one/', 'py/one/setup.cfg', 'py/two/', 'py/two/setup.py', 's/a/Pipfile', 's/a/Pipfile.lock'],
  },
  {
    says: 'the project above it that it is installed by',
    files: {
      'pyproject.toml':
        '[tool.poetry]\nname = "my-fleet"\nreadme = "README.md"\npackages = [{ include = "common" }]\n',
      'poetry.lock': '',
      'README.md': '',
      'CHANGES.md': '',
      'my_fleet/__init__.py': '',
      'common/x.py': '',
      's/a/__main__.py': 'from tools import one\n',
      'tools/one.py': '',
      'tools/two.py': '',
    },
    found: ['README.md', 'common/', 'my_fleet/', 'poetry.lock', 'pyproject.toml', 'tools/one.py'],
  },
  {
    says: 'modules that it imports from folders that it adds, and those that they import, no others',
    files: {
      's/a/__main__.py':
        'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))\nfrom libs import net\n',
      ...libs,
    },
    found: ['libs/base.py', 'libs/net/__init__.py', 'libs/net/core.py'],
  },
  {
    says: 'all modules of a package of which it imports everything',
    files: { 's/a/__main__.py': 'import sys\nsys.path.append("../..")\nfrom libs.net import *\n', ...libs },
    found: ['libs/base.py', 'libs/net/__init__.py', 'libs/net/core.py', 'libs/net/unused.py'],
  },
  {
    says: 'modules of packages above its folder',
    files: {
      's/a/sub/x.py': 'from ...common import names\n',
      's/common/__init__.py': '',
      's/common/names.py': '',
    },
    found: ['s/common/__init__.py', 's/common/names.py'],
  },
  {
    says: 'files and folders that it names',
    files: {
      's/a/__main__.py': 'open("../../texts/a.json")\npulumi.FileArchive("../../libs/net")\n',
      ...libs,
    },
    found: ['libs/net/', 'texts/a.json'],
  },
  {
    says: 'the folder of files whose names only the run knows',
    files: { 's/a/__main__.py': 'open(f"../../texts/{pulumi.get_stack()}.json")\n', ...libs },
    found: ['texts/'],
  },
  {
    says: 'scripts that it names, with what they read',
    files: {
      's/a/__main__.py': 'exec(open("../../x.py").read())\n',
      'x.py': 'open("../texts/b.json")\nopen("./texts/a.json")\n',
      ...libs,
    },
    found: ['x.py'],
  },
  {
    says: 'packages that are not there, as what a build may bring',
    files: { 's/a/requirements.txt': './dist/x.whl\n-r gone.txt\n' },
    found: ['s/a/requirements.txt'],
    warnings: [
      /requirements\.txt names gone\.txt, which no commit has/,
      /names \.\/dist\/x\.whl, .*run\.build/,
    ],
  },
  {
    says: 'members of the workspace that are none, as what must not be planned',
    files: {
      'pyproject.toml': '[tool.uv.workspace]\nmembers = ["s/*"]\n',
      's/a/pyproject.toml':
        '[project]\nname = "a"\ndependencies = ["lib"]\n[tool.uv.sources]\nlib = { workspace = true }\n',
    },
    found: ['pyproject.toml', 's/a/pyproject.toml'],
    problems: [/s\/a\/pyproject\.toml takes lib from the workspace, which has no member of that name/],
  },
];

const project = projectAt('s/a', 'python');
for (const { says, files, found, warnings = [], problems = [] } of cases)
  test(`a program in Python reads ${says}`, () => {
    const tree = { 's/a/Pulumi.yaml': 'name: a\nruntime: python\n', ...files };
    const inferred = inferOn(inferPython, project, tree);
    assert.deepEqual(foundIn(inferred), [...found].sort());
    assert.equal(inferred.warnings.length, warnings.length, inferred.warnings.join('\n'));
    warnings.forEach((pattern, at) => assert.match(inferred.warnings[at] ?? '', pattern));
    assert.equal(inferred.problems.length, problems.length, inferred.problems.join('\n'));
    problems.forEach((pattern, at) => assert.match(inferred.problems[at] ?? '', pattern));
    assertStandsOnItsFiles(inferPython, project, tree);
  });

test('a program at the root is followed from its main file, not through every file of the repository', () => {
  const files = {
    'Pulumi.yaml': 'name: a\nruntime: python\n',
    '__main__.py': 'from lib import x\n',
    'lib/x.py': 'open("../texts/a.json")\n',
    'lib/y.py': 'open("../texts/b.json")\n',
    's/b/Pulumi.yaml': '',
    's/b/texts/a.json': '',
  };
  assert.deepEqual(foundIn(inferOn(inferPython, projectAt('.', 'python'), files)), ['lib/x.py']);
});

test('a module that appears in a folder that is looked through is found', () => {
  const files = {
    's/a/__main__.py': 'import sys\nsys.path.append("../../libs")\nimport late\n',
    'libs/x.py': '',
  };
  assert.deepEqual(foundIn(inferOn(inferPython, project, files)), []);
  assert.deepEqual(foundIn(inferOn(inferPython, project, { ...files, 'libs/late.py': '' })), [
    'libs/late.py',
  ]);
});

test('projects and files that lead to each other end', () => {
  const files: Record<string, string> = { 's/a/requirements.txt': '-e ../../p0\n-r requirements.txt\n' };
  for (let n = 0; n < 20; n++)
    files[`p${n}/requirements.txt`] = `-e ../p${(n + 1) % 20}\n-e ../p${(n + 3) % 20}\n`;
  assert.equal(inferOn(inferPython, project, files).folders.length, 20);
});

test('broken manifests and programs are said with file and line, and the others go on', () => {
  const files = {
    's/a/pyproject.toml': '[project]\nname = \n',
    's/a/requirements.txt': '-e ../../lib\n',
    's/a/__main__.py': 'x = 1\ny = = 2\nopen("../../x.txt")\n',
    'x.txt': '',
    'lib/setup.py': '',
  };
  const inferred = inferOn(inferPython, project, files);
  assert.deepEqual(foundIn(inferred), [
    'lib/',
    'lib/setup.py',
    's/a/pyproject.toml',
    's/a/requirements.txt',
    'x.txt',
  ]);
  assert.match(inferred.warnings.join('\n'), /^s\/a\/pyproject\.toml line 2 cannot be understood/m);
  assert.match(inferred.warnings.join('\n'), /^s\/a\/__main__\.py line 2 is not understood/m);
});

test('what another member of the workspace installs changes nothing, what its own do changes the lockfile', () => {
  const tree = (mine: string, theirs: string): Files => ({
    'pyproject.toml': '[tool.uv.workspace]\nmembers = ["s/*"]\n',
    'uv.lock': locked(
      member('a', 's/a', 'mine'),
      member('b', 's/b', 'theirs'),
      published('mine', mine),
      published('theirs', theirs),
    ),
    's/a/pyproject.toml': '[project]\nname = "a"\ndependencies = ["mine"]\n',
    's/b/pyproject.toml': '[project]\nname = "b"\ndependencies = ["theirs"]\n',
  });
  const made = (files: Files): unknown =>
    inferOn(inferPython, project, files).made.map(({ path, id }) => [path, id]);
  const before = tree('1.0', '1.0');
  assert.equal(inferOn(inferPython, project, before).made.length, 2);
  assert.deepEqual(made(tree('1.0', '2.0')), made(before));
  assert.notDeepEqual(made(tree('2.0', '1.0')), made(before));
  for (const file of inferOn(inferPython, project, before).made) {
    const content = ask(readingOf(before), before, (view) => file.content(view));
    assert.equal(blobId(content), file.id);
  }
});

test('a lockfile of a version that is not known is taken whole, and that is said', () => {
  const files = {
    's/a/pyproject.toml': '[project]\nname = "a"\n',
    's/a/uv.lock': 'version = 99\n',
  };
  const inferred = inferOn(inferPython, project, files);
  assert.ok(foundIn(inferred).includes('s/a/uv.lock'));
  assert.match(inferred.warnings.join(), /s\/a\/uv\.lock is taken whole, .* not of version 1/);
});

test('a member that has the name of what every object has is looked for like any other', () => {
  const files = {
    'pyproject.toml':
      '[project]\nname = "root"\n[tool.uv.workspace]\nmembers = ["a"]\n[tool.uv.sources]\nconstructor = { workspace = true }\n',
    'a/pyproject.toml': '[project]\nname = "a"\ndependencies = ["constructor"]\n',
    'a/__main__.py': '',
  };
  const { problems } = inferOn(inferPython, projectAt('a', 'python'), files);
  assert.deepEqual(problems.length, 1);
  assert.match(problems[0] ?? '', /takes constructor from the workspace, which has no member of that name/);
});
