/** The tools as they lie together really run programs. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { DYNAMIC_PROVIDER } from '../../../deploy/tools/catalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { testTools } from '../../harness/tools.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

test('a YAML program runs', async (t) => {
  const folder = await tempFolder(t, 'yaml');
  const project = 'name: yaml\nruntime: yaml\noutputs: { greeting: hello }\n';
  await writeFile(join(folder, 'Pulumi.yaml'), project);
  assert.match(await up(folder), /greeting: "hello"/);
});

test('a Node.js program with a dynamic resource runs', async (t) => {
  const folder = await tempFolder(t, 'node');
  await writeFile(join(folder, 'Pulumi.yaml'), 'name: node\nruntime: nodejs\n');
  await writeFile(join(folder, 'index.js'), PROGRAM);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await up(folder);
  assert.equal(await readFile(join(folder, 'made.txt'), 'utf8'), 'made');
});

test('the provider of dynamic resources fails at once when the program has no @pulumi/pulumi', async (t) => {
  const folder = await tempFolder(t, 'provider');
  const script = join(root, 'deploy/tools', DYNAMIC_PROVIDER);
  await assert.rejects(run(script, { cwd: folder, env: nodeOnPath, timeout: 20_000 }), {
    code: 1,
    stderr: `@pulumi/pulumi is not installed for the program in ${folder}\n`,
  });
});

const PROGRAM = `
  const pulumi = require('@pulumi/pulumi');
  const provider = {
    async create(inputs) {
      require('node:fs').writeFileSync(inputs.path, 'made');
      return { id: inputs.path, outs: inputs };
    },
  };
  class File extends pulumi.dynamic.Resource {}
  new File(provider, 'file', { path: __dirname + '/made.txt' });
`;

const nodeOnPath = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };

/** Runs an update of a new stack on a backend of files in the folder, and resolves to what it printed. */
async function up(folder: string): Promise<string> {
  const { pulumi } = await testTools();
  const env = {
    ...nodeOnPath,
    HOME: folder,
    PULUMI_HOME: join(folder, 'home'),
    PULUMI_BACKEND_URL: `file://${folder}`,
    PULUMI_CONFIG_PASSPHRASE: 'passphrase',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
  };
  await run(pulumi, ['stack', 'init', 'dev'], { cwd: folder, env });
  const args = ['up', '--yes', '--skip-preview', '--non-interactive', '--stack', 'dev'];
  const { stdout } = await run(pulumi, args, { cwd: folder, env });
  return stdout;
}
