import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { bundle, entryPoints, type EntryPoint } from '../../deploy/build.ts';
import { entries } from '../../hub/cli/main.ts';
import { GUARD_FILES } from '../../shared/guard.ts';
import { makeRepository } from '../harness/git.ts';
import { tempFolder } from '../harness/temp.ts';

const run = promisify(execFile);

test('the bundle of the command stands alone, with its source map', async (t) => {
  const folder = await tempFolder(t, 'dist');
  await bundle(['towline'], folder);
  assert.deepEqual(await readdir(folder), ['towline.js', 'towline.js.map']);
  const { stdout } = await run(process.execPath, [join(folder, 'towline.js'), '--version']);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  const map = JSON.parse(await readFile(join(folder, 'towline.js.map'), 'utf8')) as { sources: string[] };
  assert.ok(map.sources.some((source) => source.endsWith('hub/cli/main.ts')));
});

test('the bundle of the command loads the other bundles from beside it', async (t) => {
  const folder = await tempFolder(t, 'dist');
  await bundle(['towline'], folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'hub.js'),
    'export const main = async (argv, env) => (console.log(argv.join(), env.MARK), 9);',
  );
  const args = [join(folder, 'towline.js'), 'hub', '--port', '1', '--help'];
  const failed = run(process.execPath, args, { env: { MARK: 'mark' } });
  await assert.rejects(failed, { code: 9, stdout: '--port,1,--help mark\n' });
});

test('each command starts from its bundle', async (t) => {
  const folder = await tempFolder(t, 'dist');
  const names = Object.keys(entryPoints) as EntryPoint[];
  await bundle(names, folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const { name } of entries) {
    const { stdout } = await run(process.execPath, [join(folder, 'towline.js'), name, '--help']);
    assert.match(stdout, new RegExp(`^usage: towline ${name}`, 'i'));
  }
});

test('what watches programs from inside lies beside the bundle of the agent', async (t) => {
  const folder = await tempFolder(t, 'dist');
  await bundle(['agent'], folder);
  assert.deepEqual((await readdir(join(folder, 'guard'))).sort(), [...GUARD_FILES].sort());
  assert.match(
    await readFile(join(folder, 'agent.js'), 'utf8'),
    /new URL\(["'`]\.\/guard["'`],\s*import\.meta\.url\)/,
  );
});

test('the bundle of the thread that reads Git answers by itself', async (t) => {
  const folder = await tempFolder(t, 'dist');
  await bundle(['gitworker'], folder);
  const repository = await makeRepository(t);
  const id = await repository.commit('One', { a: '1' });
  const worker = new Worker(join(folder, 'gitworker.js'));
  const call = { op: 'read', gitDir: join(repository.folder, '.git'), id, maxBytes: 1_000 };
  worker.postMessage({ n: 1, call });
  const [{ answer }] = (await once(worker, 'message')) as [{ answer: { kind: string; type: string } }];
  assert.deepEqual([answer.kind, answer.type], ['object', 'commit']);
  await worker.terminate();
});
