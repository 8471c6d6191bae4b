/** Commits of a repository on this machine, by what people call them. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../shared/limits.ts';
import { chooseDriver, gitUsable } from '../git/choose.ts';
import { repositoryEnvironment, runGit, type GitProgram } from '../git/command.ts';
import { gitFolders, localTip, makeLocal } from '../git/local.ts';
import type { Tree } from '../git/source.ts';

export interface Revisions {
  /** The tree of a revision. Rejects with the remedy when it is not there. */
  open(revision: string): Promise<Tree>;
  close(): Promise<void>;
}

export interface RevisionsOptions {
  readonly git: GitProgram;
  /** Root of a work tree, or a bare repository. */
  readonly path: string;
  /** What the repository is called. */
  readonly name: string;
}

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Rejects when there is no repository. */
export async function openRepository({ git, path, name }: RevisionsOptions): Promise<Revisions> {
  if ((await gitFolders(path)) === undefined)
    throw new Error(`${path} is not a Git repository: name the root of one`);
  const usable = await gitUsable(git);
  const choice = chooseDriver('auto', usable, 'local');
  if (choice.kind === 'none') throw new Error(choice.problem);
  const local = makeLocal({ git, name, path, driver: choice.driver });
  return {
    async open(revision) {
      // a commit id is taken at its word: what it descends from does not matter
      const id = COMMIT_ID.test(revision)
        ? revision
        : await resolveRevision({ git, path, revision, usable: usable.kind === 'usable' });
      const opened = id === undefined ? undefined : await local.open(id, id);
      if (opened?.kind === 'opened') return opened.tree;
      const why = opened === undefined ? '' : ` (${opened.message})`;
      throw new Error(`there is no commit ${revision} in ${path}${why}: ${await remedyFor(path)}`);
    },
    close: () => local.close(),
  };
}

interface Named {
  readonly git: GitProgram;
  readonly path: string;
  readonly revision: string;
  readonly usable: boolean;
}

async function resolveRevision({ git, path, revision, usable }: Named): Promise<string | undefined> {
  const folders = await gitFolders(path);
  if (folders === undefined || revision.startsWith('-')) return undefined;
  if (!usable) return refOf({ git, path, revision });
  const end = await runGit(git, {
    args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
    env: repositoryEnvironment(git, folders.own),
    timeoutMs: limits.gitTimeoutMs,
    maxBytes: 1024,
  });
  return end.kind === 'done' ? end.stdout.toString('latin1').trim() : undefined;
}

/** In git's order of precedence. */
const PLACES = ['', 'refs/tags/', 'refs/heads/', 'refs/remotes/'] as const;

async function refOf({ git, path, revision }: Omit<Named, 'usable'>): Promise<string | undefined> {
  for (const place of PLACES) {
    const { signal } = new AbortController();
    const tip = await localTip({ git, path, ref: place + revision, signal });
    if (tip.kind === 'tip') return tip.id;
  }
  return undefined;
}

async function remedyFor(path: string): Promise<string> {
  const folders = await gitFolders(path);
  const shallow = folders && (await stat(join(folders.common, 'shallow')).catch(() => undefined));
  return shallow === undefined
    ? 'fetch it, or mend its name'
    : 'the clone is shallow; bring it with “git fetch --deepen=1000”, or clone with the whole history';
}
