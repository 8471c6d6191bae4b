/** One Git folder on this machine, read by plumbing: commits, listings, blobs, differences. */
import { limits } from '../../shared/limits.ts';
import { gitEnvironment, runGit, type GitEnd, type GitProgram } from './command.ts';
import { decodeChanges, decodeCommit, decodeListing, type ChangedPath } from './decode.ts';
import type { Opened } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import { makeObjectReader, type Answer } from './objects.ts';
import { OversizedBlobError, type Tree, type TreeEntry } from './source.ts';

export interface RepositoryOptions {
  readonly git: GitProgram;
  /** The repository's name in the configuration. */
  readonly name: string;
  /** What holds `objects` and `refs`. */
  readonly gitDir: string;
  readonly signal: AbortSignal;
}

export interface GitRepository {
  open(id: string, ref: string): Promise<Opened | Failure>;
  changedPaths(from: Tree, to: Tree): Promise<readonly ChangedPath[]>;
  /** The newest tree could not be read in part. */
  damaged(): boolean;
  close(): Promise<void>;
}

/** Naming the folder outright keeps git from looking for one, and so from judging who owns it. */
export const repositoryEnvironment = (git: GitProgram, gitDir: string): Record<string, string> => ({
  ...gitEnvironment(git, { 'safe.directory': gitDir }),
  GIT_DIR: gitDir,
});

export function makeGitRepository({ git, name, gitDir, signal }: RepositoryOptions): GitRepository {
  const env = repositoryEnvironment(git, gitDir);
  const objects = makeObjectReader({ git, env });
  let newest: string | undefined;
  /** An object of the newest tree that could not be read. */
  let damage: string | undefined;
  const plumb = (...args: string[]): Promise<GitEnd> =>
    runGit(git, { args, env, signal, timeoutMs: limits.gitTimeoutMs, maxBytes: limits.listingBytes });

  const blobOf =
    (commit: string) =>
    async (id: string): Promise<Buffer> => {
      const answer = await objects.read(id);
      if (answer.kind === 'object') return answer.content;
      if (answer.kind === 'oversized') throw new OversizedBlobError(id, answer.size);
      if (commit === newest && isDamage(answer)) damage ??= id;
      throw new Error(`${name}: object ${id} ${wordsOf(answer)}`);
    };

  const stillDamaged = async (commit: string): Promise<Answer | undefined> => {
    if (damage === undefined || commit !== newest) return undefined;
    const answer = await objects.read(damage);
    return answer.kind === 'object' ? undefined : answer;
  };

  return {
    async open(id, ref) {
      const answer = await objects.read(`${id}^{commit}`);
      if (answer.kind === 'missing' && id === ref)
        return failed('RefMissing', `commit ${id} is not in the repository`);
      if (answer.kind !== 'object')
        return failed(isDamage(answer) ? 'Corrupt' : 'Unreachable', `commit ${id} ${wordsOf(answer)}`);
      const { commit, tree } = decodeCommit(answer.id, answer.content);
      const bad = await stillDamaged(commit.id);
      if (bad !== undefined) return failed('Corrupt', `object ${damage ?? ''} ${wordsOf(bad)}`);
      const listed = await plumb('ls-tree', '-r', '-z', '--full-tree', tree);
      if (listed.kind === 'failed')
        return failed(
          listed.interrupted ? 'Unreachable' : 'Corrupt',
          `listing ${commit.id}: ${listed.stderr}`,
        );
      const entries: readonly TreeEntry[] = decodeListing(listed.stdout);
      newest = commit.id;
      damage = undefined;
      const blob = blobOf(commit.id);
      return {
        kind: 'opened',
        tree: { repository: name, ref, commit, entries: () => Promise.resolve(entries), blob },
      };
    },
    async changedPaths(from, to) {
      const range = [`${from.commit.id}^{tree}`, `${to.commit.id}^{tree}`];
      const options = [
        '-r',
        '-z',
        '--raw',
        '--no-renames',
        '--no-abbrev',
        '--no-ext-diff',
        '--ignore-submodules=none',
      ];
      const end = await plumb('diff-tree', ...options, ...range);
      if (end.kind === 'failed') throw new Error(`${name}: comparing ${range.join(' and ')}: ${end.stderr}`);
      return decodeChanges(end.stdout);
    },
    damaged: () => damage !== undefined,
    close: () => objects.close(),
  };
}

const isDamage = (answer: Answer): boolean =>
  answer.kind === 'missing' || (answer.kind === 'ended' && !answer.killed);

const wordsOf = (answer: Answer): string =>
  answer.kind === 'ended' ? `cannot be read: ${answer.stderr.trim()}` : `is ${answer.kind}`;
