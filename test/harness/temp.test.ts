import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { atEnd } from './owned.ts';
import { tempFolder } from './temp.ts';

test('a temporary folder goes with its owner, after what uses it', async (t) => {
  const ends: string[] = [];
  let folder = '';
  await t.test('inner', async (inner) => {
    folder = await tempFolder(inner);
    assert.equal(folder, await realpath(folder));
    await writeFile(join(folder, 'file'), '');
    atEnd(inner, () => void ends.push(`first ${existsSync(folder)}`));
    atEnd(inner, () => void ends.push('second'));
  });
  assert.deepEqual(ends, ['second', 'first true']);
  assert.equal(existsSync(folder), false);
});
