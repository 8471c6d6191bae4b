/** Real Git repositories with a history that tests write. */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Owner } from './owned.ts';
import { tempFolder } from './temp.ts';

/** Contents by path; null removes the file. */
export type Changes = Readonly<Record<string, string | Uint8Array | null>>;

export interface Repository {
  /** The work tree; its `.git` is inside. */
  readonly folder: string;
  /** Writes the changes, commits everything in the work tree and returns the commit's id. */
  commit(subject: string, changes?: Changes): Promise<string>;
  /** Runs git in the work tree and returns its standard output without the last line end. */
  git(...args: string[]): Promise<string>;
}

const run = promisify(execFile);

/** Nothing of the machine's or the person's settings reaches the tests, and commit ids do not depend on the clock. */
export const plainGit: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Author',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_COMMITTER_NAME: 'Committer',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
};

const FIRST_COMMIT_AT = Date.UTC(2026, 0, 1) / 1000;

/** The test's environment without what a surrounding git (a hook, say) left in it. */
export const gitEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  ...plainGit,
});

/** An empty repository on branch `main`; equal commits in equal order get equal ids. Removed with its owner. */
export async function makeRepository(owner: Owner, name = 'repository'): Promise<Repository> {
  const folder = join(await tempFolder(owner, 'git'), name);
  let commits = 0;
  const git = (...args: string[]): Promise<string> => {
    const date = `${FIRST_COMMIT_AT + 60 * commits} +0000`;
    return runGit(folder, args, { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date });
  };
  await mkdir(folder, { recursive: true });
  await git('init', '--quiet', '--initial-branch=main');
  const commit = async (subject: string, changes: Changes = {}): Promise<string> => {
    for (const [path, content] of Object.entries(changes)) await change(join(folder, path), content);
    commits += 1;
    await git('add', '--all', '--force');
    await git('commit', '--quiet', '--allow-empty', '--message', subject);
    return git('rev-parse', 'HEAD');
  };
  return { folder, commit, git };
}

async function runGit(
  folder: string,
  args: readonly string[],
  dates: Record<string, string>,
): Promise<string> {
  const { stdout } = await run('git', [...args], {
    cwd: folder,
    env: { ...gitEnvironment(), ...dates },
    maxBuffer: 256 * 1024 * 1024,
  });
  return stdout.replace(/\n$/, '');
}

async function change(file: string, content: string | Uint8Array | null): Promise<void> {
  if (content === null) return rm(file, { recursive: true, force: true });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
