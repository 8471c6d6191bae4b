import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pack } from 'tar-stream';
import { layOut } from '../../agent/workspace.ts';
import { tempFolder } from '../harness/temp.ts';
import { collect, tarOf } from './bed.ts';

test('lays out files, folders on the way, links and the executable bit', async (t) => {
  const folder = await tempFolder(t);
  const tar = pack();
  tar.entry({ name: 'bin/run', mode: 0o755 }, '#!/bin/sh\n');
  tar.entry({ name: 'a/b/c.txt', mode: 0o644 }, 'text');
  tar.entry({ name: 'link', type: 'symlink', linkname: 'a/b' });
  tar.entry({ name: 'empty', type: 'directory' });
  tar.finalize();
  assert.deepEqual(await layOut(await collect(tar), folder), { kind: 'laid' });
  assert.equal(await readFile(join(folder, 'link/c.txt'), 'utf8'), 'text');
  assert.equal(await readlink(join(folder, 'link')), 'a/b');
  assert.equal((await stat(join(folder, 'bin/run'))).mode & 0o111, 0o111);
  assert.equal((await stat(join(folder, 'a/b/c.txt'))).mode & 0o111, 0);
  assert.ok((await stat(join(folder, 'empty'))).isDirectory());
});

test('writes nothing when one entry is refused', async (t) => {
  const folder = await tempFolder(t);
  await mkdir(join(folder, 'work'));
  const tar = await tarOf({ good: 'x', 'deep/escape': { link: '../../outside' } });
  assert.equal((await layOut(tar, join(folder, 'work'))).kind, 'refused');
  assert.deepEqual(await readdir(join(folder, 'work')), []);
});

test('the same path twice is refused, not written over', async (t) => {
  const folder = await tempFolder(t);
  const tar = pack();
  tar.entry({ name: 'a' }, 'one');
  tar.entry({ name: './a' }, 'two');
  tar.finalize();
  const laid = await layOut(await collect(tar), folder);
  assert.equal(laid.kind, 'refused');
});

for (const type of ['link', 'character-device', 'fifo'] as const)
  test(`a ${type} is refused`, async (t) => {
    const tar = pack();
    tar.entry({ name: 'a' }, 'x');
    tar.entry({ name: 'b', type, linkname: 'a' });
    tar.finalize();
    assert.equal((await layOut(await collect(tar), await tempFolder(t))).kind, 'refused');
  });
