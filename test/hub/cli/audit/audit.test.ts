/** `towline audit` on a real repository, with the real Pulumi CLI. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { hasStrace } from '../../../../hub/cli/audit/preview.ts';
import type { Owner } from '../../../harness/owned.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { testTools } from '../../../harness/tools.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');

/** The path is put together, so that nothing infers it. */
const PROGRAM = `
const fs = require('node:fs');
const above = (name) => ['..', '..', name].join('/');
if (fs.existsSync(above('services'))) fs.readdirSync(above('services'));
fs.existsSync(above('nothing'));
fs.readFileSync(above('README.md'));
`;

const STACK = `apiVersion: towline.dev/v1
kind: Stack
metadata: {name: web, namespace: shop}
spec: {source: {include: [/README.md]}}
`;

const FILES = {
  'README.md': 'read me',
  '.gitignore': 'node_modules\n',
  'services/a/service.json': '{}',
  'apps/web/Pulumi.yaml': 'name: web\nruntime: nodejs\n',
  'apps/web/package.json': '{"name":"web"}',
  'apps/web/index.js': PROGRAM,
  'apps/web/stack.yaml': STACK,
};

interface Site {
  audit(
    ...flags: readonly string[]
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
}

async function site(owner: Owner): Promise<Site> {
  const { pulumi } = await testTools();
  const folder = await tempFolder(owner, 'audit');
  const repository = join(folder, 'repository');
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(repository, path)), { recursive: true });
    await writeFile(join(repository, path), content);
  }
  const web = join(repository, 'apps/web');
  await symlink(join(ROOT, 'node_modules'), join(web, 'node_modules'));
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.test'];
  await run('git', ['init', '--quiet'], { cwd: repository });
  await run('git', ['add', '--all'], { cwd: repository });
  await run('git', [...who, 'commit', '--quiet', '--message', 'all'], { cwd: repository });
  await mkdir(join(folder, 'state'));
  const env = {
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: folder,
    PULUMI_BACKEND_URL: `file://${folder}/state`,
    PULUMI_CONFIG_PASSPHRASE: 'passphrase',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
  };
  await run(pulumi, ['stack', 'init', 'dev'], { cwd: web, env });
  const main = join(ROOT, 'hub/cli/main.ts');
  return {
    audit: (...flags) =>
      run(process.execPath, [main, 'audit', '--pulumi', pulumi, ...flags, web], { env }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      ),
  };
}

test('a project is told what it looks at without declaring it, and is done when it declares that', async (t) => {
  const { audit } = await site(t);
  const tracers = (await hasStrace(process.env)) ? ['strace', 'guard'] : ['guard'];
  for (const tracer of tracers) {
    const { code, stdout, stderr } = await audit('--json', '--tracer', tracer);
    assert.equal(code, 1, stderr);
    assert.deepEqual(JSON.parse(stdout), {
      tracer,
      findings: [{ path: 'services/', include: '/services/' }],
    });
  }
  const done = await audit('--tracer', 'guard', '--include', '/services/');
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /nothing that is not declared/);
});

test('what cannot be told ends with 2 and says why', async (t) => {
  const { audit } = await site(t);
  for (const [flags, says] of [
    [['--tracer', 'x'], /--tracer must be one of strace, guard/],
    [['--nonsense'], /nonsense/],
    [
      ['--tracer', 'guard', '--pulumi', '/no/such/program'],
      /^\/no\/such\/program cannot be started: install the Pulumi CLI, or name it with --pulumi PATH/,
    ],
    [['--tracer', 'guard', '--pulumi', 'false'], /the preview ended with 1, so there may be more/],
  ] as const) {
    const { code, stdout, stderr } = await audit(...flags);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, says);
  }
});
