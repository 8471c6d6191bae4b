import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { tempFolder } from '../harness/temp.ts';
import { countStarts } from './counter.ts';

test('every start is marked once, with its arguments, and the program is the real one', async (t) => {
  const folder = await tempFolder(t, 'counter');
  await mkdir(join(folder, 'real'));
  await writeFile(join(folder, 'real', 'pulumi'), '#!/bin/sh\necho "real $1"\n', { mode: 0o755 });
  const counter = await countStarts(join(folder, 'counting'), join(folder, 'real', 'pulumi'));
  const before = Date.now();
  assert.equal(execFileSync(counter.program, ['up', '--yes'], { encoding: 'utf8' }), 'real up\n');
  execFileSync(counter.program, ['stack', 'init']);
  const starts = await counter.take();
  assert.deepEqual(starts.map((start) => start.arguments).sort(), ['stack init', 'up --yes']);
  // the file system's clock moves in steps
  assert.ok(starts.every(({ at }) => at > before - 50 && at <= Date.now()));
  assert.deepEqual(await counter.take(), []);
});
