import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Lockfile, Slice } from '../../../hub/lockfiles/lockfile.ts';
import { cutPyproject } from '../../../hub/lockfiles/pyproject.ts';
import { uvLock } from '../../../hub/lockfiles/uv.ts';
import { layOut } from '../../harness/managers.ts';
import { tempFolder } from '../../harness/temp.ts';
import { UV_VERSION, uvOf, type RunUv } from '../../harness/uv.ts';
import { startIndex, wheelName, wheelOf, type MadeWheel } from '../../harness/wheels.ts';

const WHEELS: readonly MadeWheel[] = [
  { name: 'leaf', version: '1.0' },
  { name: 'leaf', version: '2.0' },
  { name: 'mid', version: '1.0', requires: ['leaf>=1'] },
  {
    name: 'optional',
    version: '1.0',
    requires: ['more; extra == "extra"', 'less; extra == "another"'],
    extras: ['extra', 'another'],
  },
  { name: 'more', version: '1.0' },
  { name: 'less', version: '1.0' },
  { name: 'tool', version: '1.0' },
  { name: 'old', version: '1.0' },
  { name: 'new', version: '1.0' },
  { name: 'other', version: '1.0' },
];
const BOXED: MadeWheel = { name: 'boxed', version: '1.0', requires: ['leaf'] };

type Files = Readonly<Record<string, string | Buffer>>;

const BUILD = `[build-system]\nrequires = ["uv_build>=${UV_VERSION},<1"]\nbuild-backend = "uv_build"\n`;

const project = (name: string, dependencies: readonly string[], more = ''): string =>
  `[project]\nname = "${name}"\nversion = "0.1.0"\nrequires-python = ">=3.9"\n` +
  `dependencies = ${JSON.stringify(dependencies)}\n\n${more}`;

/** The app takes a library that takes another, extras, groups, markers, a wheel and a folder of the repository. */
const REPOSITORY: Files = {
  'pyproject.toml': project(
    'root-project',
    ['tool'],
    [
      '[tool.uv.workspace]\nmembers = ["app", "libs/*", "stranger"]\n',
      '[tool.uv.sources]\nlib = { workspace = true }\ndeep = { workspace = true }\nstranger = { workspace = true }\n',
      '[tool.ruff]\nline-length = 100\n',
    ].join('\n'),
  ),
  'app/pyproject.toml': project(
    'app',
    [
      'mid',
      'lib',
      'optional[extra]',
      'boxed',
      'vendored',
      "old; python_version < '3.8'",
      "new; python_version > '3.8'",
    ],
    [
      '[project.optional-dependencies]\nfast = ["leaf"]\n',
      '[dependency-groups]\ndev = ["tool"]\n',
      `[tool.uv.sources]\nboxed = { path = "../vendor/${wheelName(BOXED)}" }\nvendored = { path = "../vendor/vendored" }\n`,
    ].join('\n'),
  ),
  'app/main.py':
    'import boxed, leaf, lib, mid, more, vendored\n' +
    'print("; ".join(one.VALUE for one in (mid, leaf, lib, more, boxed, vendored)))\n',
  'libs/lib/pyproject.toml': project('lib', ['deep'], BUILD),
  'libs/lib/src/lib/__init__.py': 'import deep\nVALUE = "the member lib, " + deep.VALUE\n',
  'libs/deep/pyproject.toml': project('deep', ['leaf'], BUILD),
  'libs/deep/src/deep/__init__.py': 'VALUE = "the member deep"\n',
  'stranger/pyproject.toml': project('stranger', ['other', 'optional[another]', 'lib']),
  [`vendor/${wheelName(BOXED)}`]: wheelOf(BOXED),
  'vendor/vendored/pyproject.toml': project('vendored', ['leaf'], BUILD),
  'vendor/vendored/src/vendored/__init__.py': 'VALUE = "vendored"\n',
};
const PRINTED = 'mid 1.0; leaf 2.0; the member lib, the member deep; more 1.0; boxed 1.0; vendored\n';

async function lock(t: TestContext, uv: RunUv, files: Files): Promise<string> {
  const folder = await tempFolder(t, 'locked');
  await layOut(folder, files);
  await uv(folder, 'lock');
  return readFile(join(folder, 'uv.lock'), 'utf8');
}

function lockfileOf(text: string): Lockfile {
  const read = uvLock.parse(Buffer.from(text));
  if (read.kind === 'whole') throw new Error(read.why);
  return read.lockfile;
}

const NO_MANIFESTS = { manifest: () => undefined, folderOf: () => undefined };
const sliceOf = (text: string, folder: string): Slice => lockfileOf(text).slice(folder, NO_MANIFESTS);

function shipped(files: Files, slice: Slice, folder: string): Files {
  const wanted = [folder, ...slice.workspaces, ...slice.paths];
  const kept = Object.entries(files).filter(([path]) =>
    wanted.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  const root = cutPyproject(String(files['pyproject.toml']), { folder, slice });
  return { ...Object.fromEntries(kept), 'pyproject.toml': root, 'uv.lock': slice.text() };
}

/** Lays out what a member ships, lets uv check and install it, and resolves to what its program prints. */
async function start(
  t: TestContext,
  uv: RunUv,
  { artifact, folder }: { readonly artifact: Files; readonly folder: string },
): Promise<string> {
  const root = await tempFolder(t, 'artifact');
  await layOut(root, artifact);
  await uv(root, 'lock', '--check');
  await uv(root, 'sync', '--frozen', '--package', 'app');
  return uv(join(root, folder), 'run', '--frozen', 'main.py');
}

test('uv installs a member from the cut lockfile alone, and finds nothing to change in it', async (t) => {
  const uv = await uvOf(t, await startIndex(t, WHEELS));
  const slice = sliceOf(await lock(t, uv, REPOSITORY), 'app');
  assert.deepEqual(slice.problems, []);
  assert.deepEqual(slice.workspaces, ['libs/deep', 'libs/lib']);
  assert.deepEqual(slice.paths, [`vendor/${wheelName(BOXED)}`, 'vendor/vendored']);
  assert.doesNotMatch(slice.text(), /stranger|other|less/);
  const artifact = shipped(REPOSITORY, slice, 'app');
  assert.doesNotMatch(String(artifact['pyproject.toml']), /ruff|stranger/);
  assert.equal(await start(t, uv, { artifact, folder: 'app' }), PRINTED);
});

interface Variant {
  readonly title: string;
  readonly folder: string;
  readonly files: Files;
  readonly linked: readonly string[];
  readonly prints: string;
}

const MAIN = { 'app/main.py': 'import mid\nprint(mid.VALUE)\n' };
const VARIANTS: readonly Variant[] = [
  {
    title: 'of a workspace whose root is no project',
    folder: 'app',
    files: {
      'pyproject.toml':
        '[tool.uv.workspace]\nmembers = ["app", "stranger"]\n[dependency-groups]\ndev = ["tool"]\n',
      'app/pyproject.toml': project('app', ['mid']),
      'stranger/pyproject.toml': project('stranger', ['other']),
      ...MAIN,
    },
    linked: [],
    prints: 'mid 1.0\n',
  },
  {
    title: 'that depends on the root',
    folder: 'app',
    files: {
      'pyproject.toml': project(
        'rooted',
        ['tool'],
        `[tool.uv.workspace]\nmembers = ["app", "stranger"]\n[tool.uv.sources]\nrooted = { workspace = true }\n${BUILD}`,
      ),
      'src/rooted/__init__.py': 'VALUE = "the root"\n',
      'app/pyproject.toml': project('app', ['rooted']),
      'app/main.py': 'import rooted\nprint(rooted.VALUE)\n',
      'stranger/pyproject.toml': project('stranger', ['other']),
    },
    linked: ['.'],
    prints: 'the root\n',
  },
  {
    title: 'that is alone',
    folder: '.',
    files: { 'pyproject.toml': project('app', ['mid']), 'main.py': MAIN['app/main.py'] },
    linked: [],
    prints: 'mid 1.0\n',
  },
];
for (const { title, folder, files, linked, prints } of VARIANTS)
  test(`uv installs a project ${title}`, async (t) => {
    const uv = await uvOf(t, await startIndex(t, WHEELS));
    const slice = sliceOf(await lock(t, uv, files), folder);
    assert.deepEqual(slice.problems, []);
    assert.deepEqual(slice.workspaces, linked);
    assert.doesNotMatch(slice.text(), /stranger|other/);
    const root = slice.workspaces.includes('.')
      ? { 'src/rooted/__init__.py': files['src/rooted/__init__.py'] ?? '' }
      : {};
    const artifact =
      folder === '.' ? { ...files, 'uv.lock': slice.text() } : { ...shipped(files, slice, folder), ...root };
    assert.equal(await start(t, uv, { artifact, folder }), prints);
  });

test('a uv.lock that is not known is taken whole, with the reason', () => {
  const head = 'version = 1\nrequires-python = ">=3.9"\n';
  const reasons: Readonly<Record<string, RegExp>> = {
    'version = 2\n': /not of version 1/,
    'version = 1\nrevision = 99\n': /revision up to 5/,
    'version = \n': /cannot be read/,
    [`${head}[[package]]\nname = "a"\n`]: /no name or no source/,
  };
  for (const [text, reason] of Object.entries(reasons)) {
    const read = uvLock.parse(Buffer.from(text));
    assert.match(read.kind === 'whole' ? read.why : '', reason);
  }
});

const ELSEWHERE = `version = 1
[manifest]
members = ["app", "lib"]
[[package]]
name = "app"
version = "1.0"
source = { virtual = "app" }
dependencies = [{ name = "lib", source = { registry = "https://registry.example/simple" } }]
[[package]]
name = "lib"
version = "9.0"
source = { registry = "https://registry.example/simple" }
[[package]]
name = "lib"
version = "1.0"
source = { editable = "lib" }
`;

test('a public package of a member’s name is a problem of who depends on it alone', () => {
  assert.deepEqual(sliceOf(ELSEWHERE, 'app').problems, [
    'app/pyproject.toml depends on lib, which is not the workspace member of that name: uv.lock takes a package from ' +
      'elsewhere: write “lib = { workspace = true }” into its tool.uv.sources, run “uv lock” and commit uv.lock',
  ]);
  assert.deepEqual(sliceOf(ELSEWHERE, 'lib').problems, []);
  assert.deepEqual(sliceOf(ELSEWHERE, 'new').problems, [
    'uv.lock has no member in new: run “uv lock” and commit uv.lock',
  ]);
});
