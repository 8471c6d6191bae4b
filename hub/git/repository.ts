/** One Git folder on this machine, read object by object: commits, listings, blobs. */
import { createHash } from 'node:crypto';
import { decodeCommit, tagTarget } from './decode.ts';
import type { Opened } from './driver.ts';
import { failed, refused, type Failure } from './failure.ts';
import { filesOf, readListing, type Folder } from './listing.ts';
import type { Answer, ObjectReader } from './objects.ts';
import { OversizedBlobError, type Commit } from './source.ts';

export interface RepositoryOptions {
  /** The repository's name in the configuration. */
  readonly name: string;
  readonly objects: ObjectReader;
}

export interface GitRepository {
  /** `beside`: it is not the newest commit, which stays the one whose damage counts. */
  open(id: string, ref: string, options?: { readonly beside: boolean }): Promise<Opened | Failure>;
  /** A blob of a tree, by object id; `commit` is the tree's. */
  blob(commit: string, id: string): Promise<Buffer>;
  /** A commit with its parents, or why it cannot be read. */
  commit(id: string): Promise<ReadCommit | Failure>;
  /** The newest tree could not be read in part. */
  damaged(): boolean;
  close(): Promise<void>;
}

/** Starts nothing before the first read. Nothing is believed to be an object before its content has proven it. */
export function makeGitRepository({ name, objects }: RepositoryOptions): GitRepository {
  const read = async (id: string): Promise<Answer> => proven(await objects.read(id), id);
  let newest: { readonly commit: string; readonly folder: Folder } | undefined;
  /** An object of the newest tree that could not be read. */
  let damage: string | undefined;

  const blob = async (commit: string, id: string): Promise<Buffer> => {
    const answer = await read(id);
    if (answer.kind === 'object') return answer.content;
    if (answer.kind === 'oversized') throw new OversizedBlobError(id, answer.size);
    if (commit === newest?.commit && isDamage(answer)) damage ??= id;
    throw new Error(`${name}: object ${id} ${wordsOf(answer)}`);
  };
  const treeOf = async (id: string): Promise<Buffer | Failure> => {
    const answer = await read(id);
    return answer.kind === 'object' ? answer.content : unread('tree', id, answer);
  };
  return {
    async open(id, ref, { beside } = { beside: false }) {
      const found = await readCommit(read, id, ref);
      if (found.kind === 'failed') return found;
      const { commit } = found;
      const bad = commit.id === newest?.commit && damage !== undefined ? await read(damage) : undefined;
      if (bad !== undefined && bad.kind !== 'object')
        return failed('Corrupt', `object ${damage ?? ''} ${wordsOf(bad)}`);
      const folder = await readListing(found.tree, { read: treeOf, before: newest?.folder });
      if (folder.kind === 'failed') return folder;
      if (!beside) {
        newest = { commit: commit.id, folder };
        damage = undefined;
      }
      const files = filesOf(folder);
      const content = (blobId: string): Promise<Buffer> => blob(commit.id, blobId);
      const tree = { repository: name, ref, commit, entries: () => Promise.resolve(files), blob: content };
      return { kind: 'opened', tree };
    },
    blob,
    commit: (id) => readCommit(read, id, ''),
    damaged: () => damage !== undefined,
    close: () => objects.close(),
  };
}

/** A tree that is read through whatever the mirror is by then: whoever keeps it reads on after that was made anew. */
export function readsOn(opened: Opened | Failure, repository: () => GitRepository): Opened | Failure {
  if (opened.kind === 'failed') return opened;
  const commit = opened.tree.commit.id;
  return { ...opened, tree: { ...opened.tree, blob: (id) => repository().blob(commit, id) } };
}

/** A commit, the id of its tree and those of its parents. */
export interface ReadCommit {
  readonly kind: 'commit';
  readonly commit: Commit;
  readonly tree: string;
  readonly parents: readonly string[];
}

/** Tags that lead to tags. */
const TAG_HOPS = 10;

/** Reads the commit behind an id, through annotated tags if it is one of theirs. */
async function readCommit(
  read: (id: string) => Promise<Answer>,
  id: string,
  ref: string,
): Promise<ReadCommit | Failure> {
  let at = id;
  for (let hop = 0; hop <= TAG_HOPS; hop++) {
    const answer = await read(at);
    if (answer.kind === 'missing' && at === ref)
      return failed('RefMissing', `commit ${at} is not in the repository`);
    if (answer.kind !== 'object') return unread('commit', at, answer);
    if (answer.type === 'commit') return { kind: 'commit', ...decodeCommit(at, answer.content) };
    const target = answer.type === 'tag' ? tagTarget(answer.content) : undefined;
    if (target === undefined)
      return failed('RefMissing', `${ref} leads to a ${answer.type}, not to a commit`);
    at = target;
  }
  return failed('RefMissing', `${ref} leads through more than ${TAG_HOPS} tags`);
}

function unread(what: string, id: string, answer: Exclude<Answer, { kind: 'object' }>): Failure {
  const message = `${what} ${id} ${wordsOf(answer)}`;
  if (answer.kind === 'oversized') return refused(message);
  return failed(isDamage(answer) ? 'Corrupt' : 'Unreachable', message);
}

/** The content of an object must have its id: a flipped bit may well decompress. */
function proven(answer: Answer, id: string): Answer {
  if (answer.kind !== 'object') return answer;
  const { type, content } = answer;
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1').update(`${type} ${content.length}\0`);
  return hash.update(content).digest('hex') === id
    ? answer
    : { kind: 'ended', killed: false, stderr: 'its content is not what its id says' };
}

const isDamage = (answer: Answer): boolean =>
  answer.kind === 'missing' || (answer.kind === 'ended' && !answer.killed);

const wordsOf = (answer: Answer): string =>
  answer.kind === 'ended'
    ? `cannot be read: ${answer.stderr.trim()}`
    : answer.kind === 'oversized'
      ? `is too large: ${answer.size} bytes`
      : `is ${answer.kind}`;
