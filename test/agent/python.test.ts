/** Programs of Python with the real Pulumi CLI: their dependencies, and what keeps them from what they did not declare. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Owner } from '../harness/owned.ts';
import { jobOf, makeBed, notReady, runOnce, type Bed, type Finished, type TreeFiles } from './bed.ts';
import { ship } from './hermetic.ts';

const PROJECT = 'apps/web';
const REQUIREMENTS = 'pulumi==3.272.0\n';

/** What was fetched once is kept beside the tools. */
async function pythonBed(owner: Owner): Promise<Bed> {
  const bed = await makeBed(owner);
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'towline', 'pip');
  await mkdir(cache, { recursive: true });
  await symlink(cache, join(bed.dataDir, 'pip'));
  return bed;
}

const program = (bed: Bed, body: string): string => `
import glob, os, pathlib
import pulumi
from pulumi.dynamic import Resource, ResourceProvider, CreateResult
from helper import told

class Files(ResourceProvider):
    def create(self, props):
        with open(props["path"], "w") as stream:
            stream.write("made")
        return CreateResult(id_=props["path"], outs=dict(props))
    def delete(self, id, props):
        os.unlink(id)

class Thing(Resource):
    def __init__(self, name):
        super().__init__(Files(), name, {"path": ${JSON.stringify(bed.folder)} + "/out-" + name}, None)

${body}
for name in names:
    Thing(name)
`;

const AROUND: TreeFiles = {
  'README.md': 'read me',
  'apps/api/Pulumi.yaml': 'name: api\nruntime: yaml\n',
  'services/a/service.json': '{}',
  'services/b/service.json': '{}',
  'apps/web/Pulumi.yaml': 'name: web\nruntime: python\n',
  'apps/web/helper.py': 'told = "helped"\n',
  'apps/web/Pulumi.prod.yaml': 'config: {}\n',
  'apps/web/requirements.txt': REQUIREMENTS,
  'apps/web/nested/Pulumi.yaml': 'name: nested\nruntime: yaml\n',
};

interface Site {
  readonly bed: Bed;
  run(body: string, include?: readonly string[]): Promise<Finished>;
  has(name: string): boolean;
}

async function site(context: TestContext): Promise<Site> {
  const bed = await pythonBed(context);
  const run: Site['run'] = async (body, include = []) => {
    const repository = { ...AROUND, [`${PROJECT}/__main__.py`]: program(bed, body) };
    const { files, surroundings } = ship(repository, {
      project: PROJECT,
      include,
      nested: [`${PROJECT}/nested/`],
    });
    const order = await bed.order(files, { inputs: { project: PROJECT }, surroundings });
    return runOnce(bed.executor, jobOf(order, { first: false }));
  };
  const files = ship(
    { ...AROUND, [`${PROJECT}/__main__.py`]: program(bed, 'names = ["a", "b"]') },
    { project: PROJECT },
  );
  const { end, lines } = await runOnce(
    bed.executor,
    jobOf(await bed.order(files.files, { inputs: { project: PROJECT } })),
  );
  assert.equal(end.result, 'succeeded', `${end.reason.text}\n${lines.join('\n')}`);
  return { bed, run, has: (name) => existsSync(join(bed.folder, `out-${name}`)) };
}

const PROGRAMS: readonly (readonly [string, string, RegExp, readonly string[]])[] = [
  [
    'asks whether a folder exists',
    'names = os.listdir("../../services") if os.path.exists("../../services") else []',
    /services\/ is in the repository.*add "\/services\/" to source\.include/,
    ['services/'],
  ],
  [
    'takes a refusal for an answer',
    `try:
    names = ["a", "b"] if pathlib.Path("../../services/a").stat() else []
except Exception:
    names = []`,
    /add "\/services\/a" to source\.include, or "\/services\/" for all of it/,
    ['services/a/'],
  ],
  [
    'lists the folder above',
    'names = ["a", "b"] if len(list(os.scandir(".."))) > 1 else []',
    /more in apps\/ than this stack declares.*add "\/apps\/" to source\.include/,
    ['apps/'],
  ],
  [
    'reads a file',
    'names = ["a", "b"] if open("../../README.md").read() == "read me" else []',
    /README\.md is in the repository.*add "\/README\.md" to source\.include/,
    ['README.md'],
  ],
  [
    'globs',
    'names = [os.path.basename(os.path.dirname(one)) for one in glob.glob("../../services/*/service.json")]',
    /services\/ is in the repository.*add "\/services\/" to source\.include/,
    ['services/'],
  ],
];

test('a Python program is kept from what it did not declare, and runs with the line that adds it', async (t) => {
  const { run, has } = await site(t);
  for (const [what, body, says, include] of PROGRAMS)
    await t.test(`it ${what}`, async () => {
      const { end, lines } = await run(body);
      assert.equal(end.failure, 'Config', `${end.reason.text}\n${lines.join('\n')}`);
      assert.equal(end.reason.code, 'UndeclaredInput');
      assert.match(end.reason.text, says);
      assert.equal(end.changes.delete, 0);
      assert.ok(has('a') && has('b'));
      const fixed = await run(body, include);
      assert.equal(fixed.end.result, 'succeeded', fixed.end.reason.text);
      assert.equal(fixed.end.changes.delete, 0);
    });
  await t.test('one that stays inside sees what it has, and what is nowhere is nowhere', async () => {
    const { end, lines } = await run(`
nowhere = [one for one in ("nothing", "../nothing", "../../a/b", "../../node_modules") if os.path.exists(one)]
try:
    open("../nothing.json")
except FileNotFoundError as error:
    print("seen", told, nowhere, error.errno)
names = ["a", "b"]`);
    assert.equal(end.result, 'succeeded', `${end.reason.text}\n${lines.join('\n')}`);
    assert.equal(end.changes.create + end.changes.delete + end.changes.replace, 0);
    assert.ok(
      lines.some((line) => line.includes('seen helped [] 2')),
      lines.join('\n'),
    );
  });
});

test('requirements that are not there, and lockfiles alone, are refused with the remedy', async (t) => {
  const bed = await makeBed(t);
  const files = { 'Pulumi.yaml': 'name: web\nruntime: python\n', '__main__.py': '' };
  const said = async (more: TreeFiles): Promise<string> => {
    const verdict = await notReady(bed.executor, jobOf(await bed.order({ ...files, ...more })));
    assert.ok(verdict.kind === 'failed' && verdict.failure === 'Config');
    return `${verdict.reason.code}: ${verdict.reason.text}`;
  };
  assert.match(
    await said({ 'requirements.txt': '\n-r base.txt\n' }),
    /^Invalid: requirements\.txt:2 names base\.txt, which is not among the inputs/,
  );
  assert.match(await said({ 'poetry.lock': '' }), /^NotYetSupported: poetry\.lock: .*requirements\.txt/);
});
