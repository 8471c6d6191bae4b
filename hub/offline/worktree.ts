/** A work tree as it is, with what is not committed, as if it were the tree of a commit. Nothing is written. */
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { limits } from '../../shared/limits.ts';
import { gitUsable } from '../git/choose.ts';
import { repositoryEnvironment, runGit, type GitProgram } from '../git/command.ts';
import { gitFolders } from '../git/local.ts';
import {
  OversizedBlobError,
  type FileMode,
  type LargeFiles,
  type Tree,
  type TreeEntry,
} from '../git/source.ts';

export interface WorkTreeOptions {
  readonly git: GitProgram;
  /** Root of a work tree, or any folder. */
  readonly path: string;
  readonly name: string;
}

/** Files that are looked at in one go; disks answer several at once. */
const READS = 32;

/** What is in the folder now, without what git ignores. Rejects when it cannot be listed. */
export async function workTree({ git, path, name }: WorkTreeOptions): Promise<Tree> {
  const paths = await pathsIn(git, path);
  const limit = pLimit(READS);
  const found = await Promise.all(paths.map((file) => limit(() => entryOf(path, file))));
  const entries = found.filter((entry) => entry !== undefined).sort(byBytes);
  const files = new Map(entries.map((entry) => [entry.id, entry]));
  return {
    repository: name,
    ref: 'work tree',
    commit: { id: '0'.repeat(40), subject: '', author: '', time: 0 },
    entries: () => Promise.resolve(entries),
    blob: async (id) => {
      const entry = files.get(id);
      if (entry === undefined) throw new Error(`${id} is no file of ${path}`);
      return contentOf(join(path, entry.path), entry);
    },
    large: NOT_READ,
  };
}

/** Whether a hub can ask Git LFS is not known here, and nothing here reads what it keeps. */
const NOT_READ: LargeFiles = {
  refuses: () => undefined,
  begin:
    () =>
    ({ path }) =>
      Promise.reject(new Error(`${path} is kept by Git LFS`)),
};

const byBytes = (a: TreeEntry, b: TreeEntry): number =>
  Buffer.compare(Buffer.from(a.path), Buffer.from(b.path));

/** Paths as git has them: tracked ones and new ones. Without git, everything but what is never committed. */
async function pathsIn(git: GitProgram, path: string): Promise<readonly string[]> {
  const folders = await gitFolders(path);
  if (folders === undefined || (await gitUsable(git)).kind === 'unusable') return walk(path);
  const end = await runGit(git, {
    args: ['-C', path, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    env: { ...repositoryEnvironment(git, folders.own), GIT_WORK_TREE: path },
    timeoutMs: limits.gitTimeoutMs,
    maxBytes: limits.gitOutputBytes,
  });
  if (end.kind === 'failed') throw new Error(`the files of ${path} cannot be listed: ${end.stderr}`);
  return [...new Set(end.stdout.toString('utf8').split('\0').filter(Boolean))];
}

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

async function walk(root: string): Promise<readonly string[]> {
  const files: string[] = [];
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      if (SKIPPED.has(entry.name)) continue;
      (entry.isDirectory() ? open : files).push(folder === '' ? entry.name : `${folder}/${entry.name}`);
    }
  return files;
}

/** Undefined: deleted since, or nothing that git keeps. Ids tell the files of one tree apart, and that is all they do. */
async function entryOf(root: string, path: string): Promise<TreeEntry | undefined> {
  const found = await lstat(join(root, path)).catch(() => undefined);
  if (found === undefined) return undefined;
  const mode: FileMode | undefined = found.isSymbolicLink()
    ? '120000'
    : found.isDirectory()
      ? '160000'
      : found.isFile()
        ? (found.mode & 0o111) !== 0
          ? '100755'
          : '100644'
        : undefined;
  return mode && { path, mode, id: createHash('sha1').update(path).digest('hex') };
}

async function contentOf(file: string, { id, mode }: TreeEntry): Promise<Buffer> {
  if (mode === '120000') return Buffer.from(await readlink(file));
  const { size } = await lstat(file);
  if (size > limits.artifactBytes) throw new OversizedBlobError(id, size);
  return readFile(file);
}
