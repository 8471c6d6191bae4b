/** What programs in other languages than those of Node.js read outside of their folder. */
import { BYSTANDER, manifest, stack } from './files.ts';
import { runCases, type Case } from './run.ts';
import { changed } from './verdicts.ts';

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

runCases('other languages', runtimes);
