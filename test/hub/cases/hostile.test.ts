/** The settings of the cases are hostile indeed: git itself answers otherwise under them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { gitEnvironment, makeRepository } from '../../harness/git.ts';
import { hostileSettings, type Hostile } from './hostile.ts';

const run = promisify(execFile);

interface Seen {
  readonly hostile: Hostile;
  /** What git prints about the newest commit's files, or that it fails. */
  diff(environment: Readonly<Record<string, string | undefined>>, ...options: string[]): Promise<string>;
  configure(): Promise<void>;
}

async function seenIn(t: TestContext): Promise<Seen> {
  const repository = await makeRepository(t);
  await repository.commit('One', { 'a/ü': 'the same text\n' });
  await repository.commit('Two', { 'a/ü': null, 'b/ü': 'the same text\n' });
  const hostile = await hostileSettings(t);
  return {
    hostile,
    async diff(env, ...options) {
      const args = ['diff', ...options, 'HEAD^', 'HEAD'];
      const end = await run('git', args, { cwd: repository.folder, env }).catch(() => undefined);
      return end?.stdout.trim() ?? 'failed';
    },
    configure: () => appendFile(join(repository.folder, '.git/config'), hostile.config),
  };
}

const { GIT_CONFIG_GLOBAL: _global, GIT_CONFIG_NOSYSTEM: _system, ...PLAIN } = gitEnvironment();

test('settings of the repository hide where a file was, and quote where it is', async (t) => {
  const { diff, configure } = await seenIn(t);
  assert.equal(await diff(gitEnvironment(), '--name-only', '--no-renames'), '"a/\\303\\274"\n"b/\\303\\274"');
  await configure();
  assert.equal(await diff(gitEnvironment(), '--name-only'), '"b/\\303\\274"');
});

test('settings of the machine and the person start programs', async (t) => {
  const { diff, hostile } = await seenIn(t);
  for (const name of ['GIT_CONFIG_SYSTEM', 'GIT_CONFIG_GLOBAL', 'HOME', 'GIT_EXTERNAL_DIFF']) {
    assert.equal(await diff({ ...PLAIN, [name]: hostile.environment[name] }), 'failed', name);
    assert.ok(existsSync(hostile.started), name);
  }
});

test('variables lead git elsewhere', async (t) => {
  const { diff, hostile } = await seenIn(t);
  for (const name of ['GIT_DIR', 'GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR'])
    assert.equal(await diff({ ...PLAIN, [name]: hostile.environment[name] }, '--name-only'), 'failed', name);
});
