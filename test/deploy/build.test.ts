import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { bundle } from '../../deploy/build.ts';
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
