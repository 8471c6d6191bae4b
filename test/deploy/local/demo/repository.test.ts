import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeSample } from '../../../../deploy/local/demo/repository.ts';
import { STEPS } from '../../../../deploy/local/demo/script.ts';
import { tempFolder } from '../../../harness/temp.ts';

test('the steps become commits that touch only what they say', async (context) => {
  const data = await tempFolder(context);
  const folder = join(data, 'repository');
  const sample = await makeSample(folder, data, { ...process.env, GIT_AUTHOR_NAME: 'somebody else' });
  const ids: string[] = [];
  for (const step of STEPS) ids.push(await sample.commit(step));
  assert.equal(new Set(ids).size, STEPS.length);
  const log = execFileSync('git', ['log', '--reverse', '--format=%H|%an|%s', '--name-only'], {
    cwd: folder,
    encoding: 'utf8',
  });
  for (const [n, step] of STEPS.entries()) {
    const [, rest = ''] = log.split(`${ids[n]}|Harbour Master|${step.subject}\n\n`);
    const files = (rest.split('\n\n')[0] ?? '')
      .split('\n')
      .filter((line) => !line.includes('|') && line !== '');
    if (n > 0)
      assert.deepEqual(
        files,
        step.edits.map((edit) => edit.path),
        step.subject,
      );
    else assert.ok(files.includes('apps/package-lock.json') && files.includes('fleet.yaml'));
  }
  assert.equal((await stat(join(data, 'state'))).mode & 0o7777, 0o1777);
  assert.match(await readFile(join(folder, 'fleet.yaml'), 'utf8'), new RegExp(`file://${data}/state`));
});
