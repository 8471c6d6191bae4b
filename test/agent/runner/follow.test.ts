import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { follow } from '../../../agent/runner/follow.ts';
import { tempFolder } from '../../harness/temp.ts';

test('one look reads a part of much output, so that what follows a look is never put off; the end reads it all', async (t) => {
  const folder = await tempFolder(t);
  const files = { output: join(folder, 'output'), events: join(folder, 'events') };
  const line = 'x'.repeat(1_000);
  await writeFile(files.output, `${line}\n`.repeat(10_000));
  let lines = 0;
  const follower = follow(files, [], (more) => void (lines += more.length));
  await follower.read();
  assert.ok(lines > 1_000 && lines < 5_000, `${lines} lines`);
  await follower.end();
  assert.equal(lines, 10_000);
});
