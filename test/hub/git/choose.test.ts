import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { chooseDriver, gitUsable, type GitUsable } from '../../../hub/git/choose.ts';
import { tempFolder } from '../../harness/temp.ts';
import { plainProgram } from './driver.contract.ts';

const usable: GitUsable = { kind: 'usable', version: '2.40.0' };
const unusable: GitUsable = { kind: 'unusable', problem: 'not found' };

test('git reads where it can be used, isomorphic-git where it cannot, and what neither can read is said', () => {
  const chosen = (...args: Parameters<typeof chooseDriver>): string => {
    const choice = chooseDriver(...args);
    return choice.kind === 'driver' ? choice.driver : choice.problem;
  };
  assert.equal(chosen('auto', usable, 'http'), 'native');
  assert.equal(chosen('auto', unusable, 'http'), 'isomorphic');
  assert.equal(chosen('auto', unusable, 'local'), 'isomorphic');
  assert.equal(chosen('isomorphic', usable, 'http'), 'isomorphic');
  assert.match(
    chosen('native', unusable, 'http'),
    /native is set, but the git program cannot be used: not found/,
  );
  assert.match(chosen('auto', unusable, 'ssh'), /ssh needs the git program; .*not found/);
  assert.match(chosen('isomorphic', usable, 'ssh'), /use https/);
});

test('a git program that is missing, too old or not git cannot be used', async (t) => {
  const folder = await tempFolder(t, 'programs');
  const saying = async (name: string, text: string): Promise<GitUsable> => {
    const program = join(folder, name);
    await writeFile(program, `#!/bin/sh\necho '${text}'\n`);
    await chmod(program, 0o755);
    return gitUsable({ program, environment: {} });
  };
  assert.equal((await gitUsable(await plainProgram(t))).kind, 'usable');
  assert.equal((await saying('new', 'git version 2.50.1 (Apple Git-155)')).kind, 'usable');
  for (const found of [
    await saying('old', 'git version 2.30.2'),
    await saying('other', 'not git'),
    await gitUsable({ program: join(folder, 'none'), environment: {} }),
  ])
    assert.equal(found.kind, 'unusable', JSON.stringify(found));
});
