/** One Git folder on this machine, read by plumbing: commits, listings, blobs. */
import { limits } from '../../shared/limits.ts';
import { gitEnvironment, runGit, type GitEnd, type GitProgram } from './command.ts';
import { decodeCommit, decodeListing } from './decode.ts';
import type { Opened } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import { makeObjectReader, type Answer, type ObjectReader } from './objects.ts';
import { OversizedBlobError, type Commit, type TreeEntry } from './source.ts';

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
  /** A blob of a tree, by object id; `commit` is the tree's. */
  blob(commit: string, id: string): Promise<Buffer>;
  /** The newest tree could not be read in part. */
  damaged(): boolean;
  close(): Promise<void>;
}

/** Naming the folder outright keeps git from looking for one, and so from judging who owns it. */
export const repositoryEnvironment = (git: GitProgram, gitDir: string): Record<string, string> => ({
  ...gitEnvironment(git, { 'safe.directory': gitDir }),
  GIT_DIR: gitDir,
});

/** Starts nothing before the first read. */
export function makeGitRepository({ git, name, gitDir, signal }: RepositoryOptions): GitRepository {
  const env = repositoryEnvironment(git, gitDir);
  const objects = makeObjectReader({ git, env });
  const plumb: Plumb = (...args) =>
    runGit(git, { args, env, signal, timeoutMs: limits.gitTimeoutMs, maxBytes: limits.listingBytes });
  let newest: string | undefined;
  /** An object of the newest tree that could not be read. */
  let damage: string | undefined;

  const blob = async (commit: string, id: string): Promise<Buffer> => {
    const answer = await objects.read(id);
    if (answer.kind === 'object') return answer.content;
    if (answer.kind === 'oversized') throw new OversizedBlobError(id, answer.size);
    if (commit === newest && isDamage(answer)) damage ??= id;
    throw new Error(`${name}: object ${id} ${wordsOf(answer)}`);
  };
  return {
    async open(id, ref) {
      const read = await readCommit(objects, id, ref);
      if (read.kind === 'failed') return read;
      const { commit } = read;
      const bad = commit.id === newest && damage !== undefined ? await objects.read(damage) : undefined;
      if (bad !== undefined && bad.kind !== 'object')
        return failed('Corrupt', `object ${damage ?? ''} ${wordsOf(bad)}`);
      const entries = await listTree(plumb, read.tree);
      if ('kind' in entries) return entries;
      newest = commit.id;
      damage = undefined;
      const content = (blobId: string): Promise<Buffer> => blob(commit.id, blobId);
      const tree = { repository: name, ref, commit, entries: () => Promise.resolve(entries), blob: content };
      return { kind: 'opened', tree };
    },
    blob,
    damaged: () => damage !== undefined,
    close: () => objects.close(),
  };
}

type Plumb = (...args: string[]) => Promise<GitEnd>;

interface ReadCommit {
  readonly kind: 'commit';
  readonly commit: Commit;
  readonly tree: string;
}

/** Reads the commit behind an id, through an annotated tag if it is one's. */
async function readCommit(objects: ObjectReader, id: string, ref: string): Promise<ReadCommit | Failure> {
  const answer = await objects.read(`${id}^{commit}`);
  if (answer.kind === 'object') return { kind: 'commit', ...decodeCommit(answer.id, answer.content) };
  if (answer.kind === 'missing' && id === ref)
    return failed('RefMissing', `commit ${id} is not in the repository`);
  return failed(isDamage(answer) ? 'Corrupt' : 'Unreachable', `commit ${id} ${wordsOf(answer)}`);
}

async function listTree(plumb: Plumb, tree: string): Promise<readonly TreeEntry[] | Failure> {
  const end = await plumb('ls-tree', '-r', '-z', '--full-tree', tree);
  if (end.kind === 'done') return decodeListing(end.stdout);
  return failed(end.interrupted ? 'Unreachable' : 'Corrupt', `listing tree ${tree}: ${end.stderr}`);
}

const isDamage = (answer: Answer): boolean =>
  answer.kind === 'missing' || (answer.kind === 'ended' && !answer.killed);

const wordsOf = (answer: Answer): string =>
  answer.kind === 'ended' ? `cannot be read: ${answer.stderr.trim()}` : `is ${answer.kind}`;
