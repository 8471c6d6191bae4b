/** The workspace as a repository with a work tree, and the commits of the cases in it. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gitEnvironment } from '../../../harness/git.ts';
import { writeCommit, type Edit } from '../estate.ts';
import type { Case } from './case.ts';
import type { Question } from './tools.ts';

export interface Fleet {
  /** Its root; `.git` is inside. */
  readonly repository: string;
  /** The commit that the cases start from. */
  readonly base: string;
}

const run = promisify(execFile);

async function git(repository: string, ...args: readonly string[]): Promise<string> {
  const env = gitEnvironment();
  const { stdout } = await run('git', ['-C', repository, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** A new repository with one commit. */
export async function makeFleet(repository: string, edits: Iterable<Edit>): Promise<Fleet> {
  await mkdir(repository);
  await git(repository, 'init', '--quiet', '--initial-branch=main');
  const place = { ref: 'refs/heads/main', subject: 'base', start: [] };
  return { repository, base: await writeCommit(repository, place, edits) };
}

/** Makes the commits of a case, checks the last one out and gives the repository its settings. */
export async function pose({ repository, base }: Fleet, one: Case): Promise<Question> {
  const commit = (subject: string, start: string, edits: readonly Edit[]): Promise<string> =>
    writeCommit(repository, { ref: `refs/heads/${subject}`, subject, start: [start] }, edits);
  let to = base;
  for (const edits of one.commits) {
    const start = one.unrelated
      ? `M 040000 ${await git(repository, 'rev-parse', `${to}^{tree}`)} ""`
      : `from ${to}`;
    to = await commit('asked', start, edits);
  }
  const from = one.rewritten === undefined ? base : await commit('ran', `from ${base}`, one.rewritten);
  await git(repository, 'checkout', '--quiet', '--force', '--detach', to);
  await git(repository, 'clean', '-dffq');
  for (const [key, value] of Object.entries(one.settings ?? {})) await git(repository, 'config', key, value);
  return { from, to, repository };
}

/** Takes the settings of a case back. */
export async function settle({ repository }: Fleet, one: Case): Promise<void> {
  for (const key of Object.keys(one.settings ?? {})) await git(repository, 'config', '--unset', key);
}

/** The commit that the branch names from now on. */
export const moveMain = (repository: string, commit: string): Promise<string> =>
  git(repository, 'update-ref', 'refs/heads/main', commit);
