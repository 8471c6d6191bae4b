/** Code that several stacks share: what is imported, included and watched. */
import { both, BYSTANDER, gone, manifest, moved, program, stack, together, type Spec } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

const including = (include: readonly string[], more: Spec = {}): { spec: Spec } => ({
  spec: { source: { include, ...more } },
});

const imports: readonly Case[] = [
  {
    name: 'imports of imports of imports',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/one/index.ts';\n"),
      'libs/one/index.ts': "export * from '../two';\n",
      'libs/two/index.ts': "module.exports = require('../three/deep/x.js');\n",
      'libs/three/deep/x.js': 'export const x = 1;\n',
      'libs/three/y.js': '',
    },
    steps: [
      {
        edit: { 'libs/three/deep/x.js': 'export const x = 2;\n' },
        then: { a: changed('libs/three/deep/x.js') },
      },
      { edit: { 'libs/three/y.js': '2', 'libs/README.md': '2' }, then: {} },
    ],
  },
  {
    name: 'two libraries, each with a consumer of its own',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/one';\n"),
      ...program('b', "import '../../libs/two';\n"),
      'libs/one/index.ts': '',
      'libs/two/index.ts': '',
    },
    steps: [
      { edit: { 'libs/one/index.ts': '1' }, then: { a: changed('libs/one/index.ts') } },
      { edit: { 'libs/two/index.ts': '1' }, then: { b: changed('libs/two/index.ts') } },
      { edit: { 'libs/one/new.ts': '1', 'libs/new.ts': '1' }, then: {} },
    ],
  },
  {
    name: 'the same words of an import in two folders lead to two files',
    files: {
      ...program('a', "import '../../modules/x/main';\nimport '../../modules/nested/y/main';\n"),
      'modules/x/main.ts': "import '../common';\n",
      'modules/nested/y/main.ts': "import '../common';\n",
      'modules/common.ts': '',
      'modules/nested/common.ts': '',
    },
    steps: [
      { edit: { 'modules/common.ts': '1' }, then: { a: changed('modules/common.ts') } },
      { edit: { 'modules/nested/common.ts': '1' }, then: { a: changed('modules/nested/common.ts') } },
    ],
  },
  {
    name: 'a new file that is found before the index of a folder',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../../libs/x';\n"),
      'libs/x/index.ts': '',
      'libs/x/other.ts': '',
    },
    steps: [
      { edit: { 'libs/x.ts': '1' }, then: { a: /^InputChanged: file .*libs\/x\.ts/ } },
      { edit: { 'libs/x.ts': null }, then: { a: /^InputChanged: file .*libs\/x\.ts/ } },
    ],
  },
  {
    name: 'an import that led nowhere leads to a file that comes, and goes again',
    files: { ...BYSTANDER, ...program('a', "try { require('../../libs/later'); } catch {}\n") },
    steps: [
      { edit: { 'libs/later.js': '1' }, then: { a: changed('libs/later.js') } },
      { edit: { 'libs/later.js': null }, then: { a: changed('libs/later.js') } },
    ],
  },
  {
    name: 'a program that starts to import, and stops',
    files: { ...BYSTANDER, ...program('a', ''), 'libs/x.ts': '' },
    steps: [
      { edit: { 'libs/x.ts': '1' }, then: {} },
      {
        edit: { 'stacks/a/index.ts': "import '../../libs/x';\n", 'libs/x.ts': '2' },
        then: { a: changed('libs/x.ts', 'stacks/a/index.ts') },
      },
      { edit: { 'stacks/a/index.ts': '' }, then: { a: changed('libs/x.ts', 'stacks/a/index.ts') } },
      { edit: { 'libs/x.ts': '3' }, then: {} },
    ],
  },
  {
    name: 'the library moves, and the import with it',
    files: { ...BYSTANDER, ...program('a', "import '../../libs/x';\n"), 'libs/x.ts': '' },
    steps: [
      {
        edit: both(moved('libs/x.ts', 'common/x.ts'), { 'stacks/a/index.ts': "import '../../common/x';\n" }),
        then: { a: changed('common/x.ts', 'libs/x.ts', 'stacks/a/index.ts') },
      },
    ],
  },
  {
    name: 'programs that import each other in a circle',
    files: {
      ...BYSTANDER,
      ...program('a', "import '../b/index.ts';\n"),
      ...program('b', "import '../a/index.ts';\n"),
    },
    steps: [
      {
        edit: { 'stacks/a/index.ts': "import '../b/index.ts';\n//\n" },
        then: { a: changed('stacks/a/index.ts'), b: changed('stacks/a/index.ts') },
      },
    ],
  },
  {
    name: 'files that a program names by their paths',
    files: {
      ...BYSTANDER,
      ...program(
        'a',
        "import * as pulumi from '@pulumi/pulumi';\nimport { readFileSync } from 'node:fs';\n" +
          "new pulumi.asset.FileAsset('../../assets/logo.png');\nnew pulumi.asset.FileArchive('../../assets/site');\n" +
          "readFileSync('../../config/data.json');\nawait import('../../libs/late.js');\nrequire('../../config/other.json');\n",
      ),
      ...together([{ 'assets/logo.png': '', 'assets/site/index.html': '' }, { 'config/data.json': '{}' }]),
      ...together([{ 'libs/late.js': '' }, { 'config/other.json': '{}', 'config/unread.json': '{}' }]),
    },
    steps: [
      {
        edit: {
          'assets/logo.png': '1',
          'assets/site/new.html': '1',
          'config/data.json': '[]',
          'libs/late.js': '1',
          'config/other.json': '[]',
          'config/unread.json': '[]',
        },
        then: {
          a: changed(
            ...['assets/logo.png', 'assets/site/new.html', 'config/data.json'],
            ...['config/other.json', 'libs/late.js'],
          ),
        },
      },
    ],
  },
  {
    name: 'paths and settings of tsconfig files',
    files: {
      ...BYSTANDER,
      ...program('a', "import '@libs/x';\n", {
        files: { 'tsconfig.json': '{"extends": "../../tsconfig.base.json"}' },
      }),
      'tsconfig.base.json': '{"compilerOptions": {"baseUrl": ".", "paths": {"@libs/*": ["libs/*"]}}}',
      'libs/x.ts': '',
      'other/x.ts': '',
    },
    steps: [
      { edit: { 'libs/x.ts': '1', 'other/x.ts': '1' }, then: { a: changed('libs/x.ts') } },
      {
        edit: {
          'tsconfig.base.json': '{"compilerOptions": {"baseUrl": ".", "paths": {"@libs/*": ["other/*"]}}}',
        },
        then: { a: changed('libs/x.ts', 'other/x.ts', 'tsconfig.base.json') },
      },
    ],
  },
];

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

const runtimes: readonly Case[] = [
  {
    name: 'Python: imports that leave the folder, and requirements of requirements',
    files: {
      ...BYSTANDER,
      ...stack('a', {
        runtime: 'python',
        files: {
          '__main__.py': "import sys\nsys.path.append('../../common')\nimport shared\n",
          'requirements.txt': '-r ../../requirements/base.txt\n',
        },
      }),
      'common/shared.py': '',
      'requirements/base.txt': '-r more.txt\n',
      'requirements/more.txt': '',
      'requirements/other.txt': '',
    },
    steps: [
      { edit: { 'common/shared.py': '1' }, then: { a: changed('common/shared.py') } },
      {
        edit: { 'requirements/more.txt': 'x==1\n', 'requirements/other.txt': 'y==1\n' },
        then: { a: changed('requirements/more.txt') },
      },
    ],
  },
  {
    name: 'Python: a relative import out of the folder',
    files: {
      ...BYSTANDER,
      ...stack('a', {
        runtime: 'python',
        files: { '__init__.py': '', '__main__.py': 'from ..shared import x\n' },
      }),
      'stacks/__init__.py': '',
      'stacks/shared.py': '',
    },
    steps: [{ edit: { 'stacks/shared.py': 'x = 2\n' }, then: { a: changed('stacks/shared.py') } }],
  },
  {
    name: 'Go: a replaced module, and packages of the module above',
    files: {
      ...BYSTANDER,
      ...stack('a', {
        runtime: 'go',
        files: {
          'go.mod':
            'module example.com/a\n\ngo 1.26\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../../golib\n',
          'main.go': 'package main\n\nimport _ "example.com/lib"\n\nfunc main() {}\n',
        },
      }),
      ...stack('b', {
        folder: 'mono/b',
        runtime: 'go',
        files: { 'main.go': 'package main\n\nimport _ "example.com/mono/used"\n\nfunc main() {}\n' },
      }),
      ...{ 'golib/go.mod': 'module example.com/lib\n', 'golib/lib.go': 'package lib\n' },
      'mono/go.mod': 'module example.com/mono\n\ngo 1.26\n',
      'mono/used/used.go': 'package used\n',
      'mono/unused/unused.go': 'package unused\n',
    },
    steps: [
      { edit: { 'golib/lib.go': 'package lib\n\nvar X = 1\n' }, then: { a: changed('golib/lib.go') } },
      {
        edit: { 'mono/used/used.go': 'package used\n\n', 'mono/unused/unused.go': 'package unused\n\n' },
        then: { b: changed('mono/used/used.go') },
      },
    ],
  },
  {
    name: '.NET: projects that a project refers to, and properties of the folders above',
    files: {
      ...BYSTANDER,
      ...stack('a', {
        runtime: 'dotnet',
        files: {
          'a.csproj':
            '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><ProjectReference Include="..\\..\\net\\lib\\lib.csproj" /></ItemGroup></Project>\n',
          'Program.cs': '',
        },
      }),
      'net/lib/lib.csproj': '<Project Sdk="Microsoft.NET.Sdk" />\n',
      'net/lib/Lib.cs': '',
      'net/other/Other.cs': '',
      'Directory.Build.props': '<Project />\n',
    },
    steps: [
      {
        edit: { 'net/lib/Lib.cs': '//\n', 'net/other/Other.cs': '//\n' },
        then: { a: changed('net/lib/Lib.cs') },
      },
      {
        edit: { 'Directory.Build.props': '<Project></Project>\n' },
        then: { a: changed('Directory.Build.props') },
      },
    ],
  },
  {
    name: 'Java: a parent module',
    files: {
      ...BYSTANDER,
      ...stack('a', {
        runtime: 'java',
        files: {
          'pom.xml':
            '<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>1</version><relativePath>../../java/pom.xml</relativePath></parent></project>\n',
        },
      }),
      'java/pom.xml': '<project></project>\n',
      'java/other.xml': '',
    },
    steps: [
      {
        edit: { 'java/pom.xml': '<project><!-- --></project>\n', 'java/other.xml': '1' },
        then: { a: changed('java/pom.xml') },
      },
    ],
  },
  {
    name: 'YAML: a file that a program reads',
    files: {
      ...BYSTANDER,
      'stacks/a/towline.yaml': manifest('a'),
      'stacks/a/Pulumi.yaml':
        'name: a\nruntime: yaml\nvariables:\n  text:\n    fn::readFile: ../../texts/x.txt\n',
      'texts/x.txt': '',
      'texts/y.txt': '',
    },
    steps: [{ edit: { 'texts/x.txt': '1', 'texts/y.txt': '1' }, then: { a: changed('texts/x.txt') } }],
  },
];

runCases('shared code', [...imports, ...includes, ...runtimes]);
