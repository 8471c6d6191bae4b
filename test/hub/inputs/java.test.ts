import assert from 'node:assert/strict';
import test from 'node:test';
import { inferJava } from '../../../hub/inputs/java.ts';
import type { Files } from './tree.ts';
import { assertStandsOnItsFiles, foundIn, inferOn, projectAt } from './views.ts';

const project = projectAt('s/a', 'java');
const pom = (artifact: string, inner = ''): string =>
  `<?xml version="1.0"?>\n<project><groupId>g</groupId><artifactId>${artifact}</artifactId>${inner}</project>`;
const depends = (...artifacts: readonly string[]): string =>
  `<dependencies>${artifacts
    .map((artifact) => `<dependency><groupId>g</groupId><artifactId>${artifact}</artifactId></dependency>`)
    .join('')}</dependencies>`;

const cases: Readonly<Record<string, { readonly files: Files; readonly found: readonly string[] }>> = {
  'nothing but its own folder': { files: { 's/a/App.java': '' }, found: [] },
  'parents of parents, where it says and where Maven looks': {
    files: {
      's/a/pom.xml': pom(
        'a',
        '<parent><groupId>g</groupId><relativePath>../../build</relativePath></parent>',
      ),
      'build/pom.xml': pom('build', '<parent><groupId>g</groupId></parent>'),
      'pom.xml': pom('root', '<parent><groupId>far</groupId><relativePath/></parent>'),
      '.mvn/maven.config': '',
      mvnw: '+x',
      'build/other.xml': '',
    },
    found: ['.mvn/', 'build/pom.xml', 'mvnw', 'pom.xml', 's/a/pom.xml'],
  },
  'modules of its build that it depends on, and those that they depend on': {
    files: {
      'pom.xml': pom('root', '<modules><module>s/a</module><module>jvm</module></modules>'),
      'jvm/pom.xml': pom(
        'jvm',
        '<modules><module>one</module><module>two</module><module>three</module></modules>',
      ),
      's/a/pom.xml': pom(
        'a',
        `<parent><relativePath>../../pom.xml</relativePath></parent>${depends('one', 'far')}`,
      ),
      'jvm/one/pom.xml': pom('one', depends('two')),
      'jvm/one/One.java': '',
      'jvm/two/pom.xml': pom('two'),
      'jvm/three/pom.xml': pom('three'),
    },
    found: ['jvm/one/', 'jvm/one/pom.xml', 'jvm/two/', 'jvm/two/pom.xml', 'pom.xml', 's/a/pom.xml'],
  },
  'modules whose names every object has': {
    files: {
      'pom.xml': pom('constructor', '<modules><module>s/a</module><module>b</module></modules>'),
      's/a/pom.xml': pom('a', depends('toString', 'valueOf', '__proto__')),
      'b/pom.xml': pom('__proto__'),
    },
    found: ['b/', 'b/pom.xml', 's/a/pom.xml'],
  },
  'modules of its own, wherever they are, and files of other folders': {
    files: {
      's/a/pom.xml': pom(
        'a',
        '<modules><module>../lib</module></modules><build><resources><resource><directory>${basedir}/../../texts</directory></resource></resources></build>',
      ),
      's/lib/pom.xml': pom('lib'),
      's/idle/pom.xml': pom('idle'),
      'texts/a.json': '',
    },
    found: ['s/a/pom.xml', 's/lib/', 's/lib/pom.xml', 'texts/'],
  },
  'the settings of its Gradle build, and the projects that it depends on': {
    files: {
      'settings.gradle.kts': `rootProject.name = "fleet"
include(":s:a", ":jvm:one") // and others
include(
    "jvm:two",
    "idle",
)
project(":jvm:two").projectDir = file("elsewhere/two")
includeBuild("build-logic")
`,
      'build.gradle.kts': 'plugins { java }',
      'gradle.properties': '',
      gradlew: '+x',
      'gradle/libs.versions.toml': '',
      'build-logic/settings.gradle': '',
      's/a/build.gradle.kts': 'dependencies { implementation(project(":jvm:one")) }',
      'jvm/one/build.gradle.kts':
        'dependencies { implementation(projects.jvm.two) }\napply(from = "../../scripts/x.gradle")',
      'elsewhere/two/build.gradle.kts': '/* project(":idle") */',
      'idle/build.gradle': '',
      'idle/Idle.java': '',
      'scripts/x.gradle': '',
      'scripts/y.gradle': '',
    },
    found: [
      'build-logic/',
      'build-logic/settings.gradle',
      'build.gradle.kts',
      'elsewhere/two/',
      'elsewhere/two/build.gradle.kts',
      'gradle.properties',
      'gradle/',
      'gradlew',
      'idle/build.gradle',
      'jvm/one/',
      'jvm/one/build.gradle.kts',
      's/a/build.gradle.kts',
      'scripts/x.gradle',
      'settings.gradle.kts',
    ],
  },
};

for (const [says, { files, found }] of Object.entries(cases))
  test(`a program in Java is built from ${says}`, () => {
    const inferred = inferOn(inferJava, project, files);
    assert.deepEqual(foundIn(inferred), [...found].sort());
    assert.deepEqual(inferred.warnings, []);
    assertStandsOnItsFiles(inferJava, project, files);
  });

test('a parent and settings that appear above a program are found', () => {
  const files = { 's/a/pom.xml': pom('a', '<parent><groupId>g</groupId></parent>'), 's/a/build.gradle': '' };
  const before = inferOn(inferJava, project, files);
  const after = inferOn(inferJava, project, { ...files, 's/pom.xml': pom('s'), 's/settings.gradle': '' });
  assert.ok(!foundIn(before).includes('s/pom.xml'));
  for (const path of ['s/pom.xml', 's/settings.gradle']) assert.ok(foundIn(after).includes(path), path);
});

test('parents and modules in circles end, and broken files are said with file and line', () => {
  const files = {
    's/a/pom.xml': pom(
      'a',
      `<parent><relativePath>../b/pom.xml</relativePath></parent><modules><module>../b</module><module>../c</module></modules>`,
    ),
    's/b/pom.xml': pom(
      'b',
      `<parent><relativePath>../a/pom.xml</relativePath></parent><modules><module>../a</module></modules>${depends('a')}`,
    ),
    's/c/pom.xml': '<project>\n<artifactId>\n</project>',
    's/a/settings.gradle': 'includeBuild("../d")',
    's/d/settings.gradle': 'includeBuild("../a")',
  };
  const inferred = inferOn(inferJava, project, files);
  assert.ok(foundIn(inferred).includes('s/d/'));
  assert.match(inferred.warnings.join(), /s\/c\/pom\.xml line 3 cannot be understood/);
});
