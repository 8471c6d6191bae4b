import assert from 'node:assert/strict';
import test from 'node:test';
import { inferDotnet } from '../../../hub/inputs/dotnet.ts';
import type { Files } from './tree.ts';
import { assertStandsOnItsFiles, foundIn, inferOn, projectAt } from './views.ts';

const project = projectAt('s/a', 'dotnet');
const msbuild = (inner: string): string => `<Project Sdk="Microsoft.NET.Sdk">${inner}</Project>`;

const cases: Readonly<Record<string, { readonly files: Files; readonly found: readonly string[] }>> = {
  'nothing but its own folder': { files: { 's/a/a.csproj': msbuild('') }, found: [] },
  'projects that it refers to, and those that they refer to': {
    files: {
      's/a/a.csproj': msbuild(
        '<ItemGroup><ProjectReference Include="..\\..\\net\\one\\one.csproj" /></ItemGroup>',
      ),
      'net/one/one.csproj': msbuild(
        '<ItemGroup><ProjectReference Include="$(MSBuildThisFileDirectory)../two/two.fsproj;../one/one.csproj" /></ItemGroup>',
      ),
      'net/one/one.cs': '',
      'net/two/two.fsproj': msbuild(''),
      'net/two/Directory.Build.props': msbuild('<!-- two -->'),
      'net/idle/idle.csproj': msbuild(''),
    },
    found: ['net/one/', 'net/two/', 'net/two/Directory.Build.props'],
  },
  'settings of folders above, of it and of what it refers to, and what those import': {
    files: {
      's/a/a.csproj': msbuild('<ItemGroup><ProjectReference Include="../../net/one.csproj" /></ItemGroup>'),
      'Directory.Build.props': msbuild('<Import Project="build/common.props" />'),
      'build/common.props': msbuild('<Import Project="$(MSBuildThisFileDirectory)more.props" />'),
      'build/more.props': msbuild(''),
      'build/idle.props': msbuild(''),
      's/Directory.Packages.props': msbuild(''),
      'global.json': '{}',
      'nuget.config':
        '<configuration><packageSources><add key="local" value="./packages" /></packageSources></configuration>',
      'packages/x.nupkg': '',
      'net/one.csproj': msbuild(''),
      'net/Directory.Build.targets': msbuild(''),
      'a.sln': '',
    },
    found: [
      'Directory.Build.props',
      'build/common.props',
      'build/more.props',
      'global.json',
      'net/',
      'net/Directory.Build.targets',
      'nuget.config',
      'packages/',
      's/Directory.Packages.props',
    ],
  },
  'files and libraries of other folders': {
    files: {
      's/a/a.csproj': msbuild(`<ItemGroup>
  <Compile Include="..\\..\\shared\\**\\*.cs" />
  <EmbeddedResource Include="../../texts/a.json" />
  <None Include="own.txt" />
  <Reference Include="Lib"><HintPath>..\\..\\bin\\Lib.dll</HintPath></Reference>
</ItemGroup>`),
      'shared/x/y.cs': '',
      'texts/a.json': '',
      'texts/b.json': 'b',
      'bin/Lib.dll': 'l',
    },
    found: ['bin/Lib.dll', 'shared/', 'texts/a.json'],
  },
};

for (const [says, { files, found }] of Object.entries(cases))
  test(`a program in .NET is built from ${says}`, () => {
    const inferred = inferOn(inferDotnet, project, files);
    assert.deepEqual(foundIn(inferred), [...found].sort());
    assert.deepEqual(inferred.warnings, []);
    assertStandsOnItsFiles(inferDotnet, project, files);
  });

test('settings that appear in a folder above are found', () => {
  const files = { 's/a/a.csproj': msbuild('') };
  assert.deepEqual(foundIn(inferOn(inferDotnet, project, files)), []);
  const later = { ...files, 'Directory.Build.targets': msbuild('') };
  assert.deepEqual(foundIn(inferOn(inferDotnet, project, later)), ['Directory.Build.targets']);
});

test('a project that is not there is said', () => {
  const files = {
    's/a/a.csproj': msbuild('<ItemGroup><ProjectReference Include="../gone.csproj" /></ItemGroup>'),
  };
  assert.match(
    inferOn(inferDotnet, project, files).warnings.join(),
    /a\.csproj refers to \.\.\/gone\.csproj, .* include/,
  );
});

const hostile: Readonly<Record<string, string>> = {
  'does not parse': '<Project>\n<ItemGroup>\n</Project>',
  'is nested without end': '<a>'.repeat(100_000),
  'has entities that stand for each other':
    '<!DOCTYPE a [<!ENTITY a "&b;&b;"><!ENTITY b "&a;&a;">]><Project><Import Project="&a;" /></Project>',
  'names a file of the machine':
    '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><Project><Import Project="&a;" /></Project>',
};
for (const [what, content] of Object.entries(hostile))
  test(`a project file of .NET that ${what} holds up nothing`, () => {
    const files = {
      's/a/a.csproj': content,
      's/a/b.csproj': msbuild('<Import Project="../x.props" />'),
      's/x.props': msbuild(''),
    };
    assert.deepEqual(foundIn(inferOn(inferDotnet, project, files)), ['s/x.props']);
  });

test('a broken project file is said with file and line', () => {
  const inferred = inferOn(inferDotnet, project, { 's/a/a.csproj': hostile['does not parse'] ?? '' });
  assert.match(inferred.warnings.join(), /^s\/a\/a\.csproj line 3 cannot be understood .* include$/);
});
