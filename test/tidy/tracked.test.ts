import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { makeRepository } from '../harness/git.ts';
import { readTracked } from './tracked.ts';

test('files that are in Git or about to be are read, others are not', async (t) => {
  const { folder, commit } = await makeRepository(t);
  await commit('First', {
    '.gitignore': 'ignored.txt\n',
    'a b.txt': 'a',
    'gone.txt': 'x',
    'binary.dat': new Uint8Array([0, 1]),
    'tools/go.sum': 'x',
    'package-lock.json': '{}',
  });
  await writeFile(join(folder, 'new.txt'), 'new');
  await writeFile(join(folder, 'ignored.txt'), '');
  await rm(join(folder, 'gone.txt'));
  assert.deepEqual((await readTracked(folder)).map(({ path }) => path).sort(), [
    '.gitignore',
    'a b.txt',
    'new.txt',
  ]);
});
