/** Trees and commits by plumbing: names and modes that `git add` would refuse or change. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflateSync } from 'node:zlib';
import type { FileMode } from '../../../hub/git/source.ts';
import { gitEnvironment, type Repository } from '../../harness/git.ts';

const run = promisify(execFile);

export interface PlumbedFile {
  readonly path: string | Uint8Array;
  readonly mode: FileMode;
  /** Content; of a submodule the id. */
  readonly content: string;
}

/** Writes a tree and returns its id. */
export async function writeTree(repository: Repository, files: readonly PlumbedFile[]): Promise<string> {
  const records = await Promise.all(
    files.map(async ({ path, mode, content }) => {
      const id =
        mode === '160000' ? content : await feed(repository, ['hash-object', '-w', '--stdin'], content);
      return Buffer.concat([Buffer.from(`${mode} ${id}\t`), Buffer.from(path), Buffer.from([0])]);
    }),
  );
  await repository.git('read-tree', '--empty');
  await feed(
    repository,
    ['-c', 'core.protectNTFS=false', 'update-index', '-z', '--index-info'],
    Buffer.concat(records),
  );
  return repository.git('write-tree', '--missing-ok');
}

/** Moves `main` to a commit of a tree; the commit has no parent. */
export async function commitTree(repository: Repository, tree: string): Promise<string> {
  const id = await repository.git('commit-tree', '-m', 'Plumbed', tree);
  await repository.git('update-ref', 'refs/heads/main', id);
  return id;
}

/** One entry of a tree object, as it is to stand in it. */
export interface RawTreeEntry {
  readonly mode: string;
  readonly name: string;
  readonly id: string;
}

/** Writes a tree object with whatever entries, in whatever order. */
export function writeRawTree(repository: Repository, entries: readonly RawTreeEntry[]): Promise<string> {
  const records = entries.map(({ mode, name, id }) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  return writeObject(repository, 'tree', Buffer.concat(records));
}

/** Writes a blob and returns its id. */
export const writeBlob = (repository: Repository, content: string): Promise<string> =>
  writeObject(repository, 'blob', Buffer.from(content));

/** Thousands of objects take too long with a process for each. */
async function writeObject(repository: Repository, type: string, content: Buffer): Promise<string> {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash('sha1').update(whole).digest('hex');
  const folder = join(repository.folder, '.git/objects', id.slice(0, 2));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, id.slice(2)), deflateSync(whole));
  return id;
}

async function feed(
  repository: Repository,
  args: readonly string[],
  input: string | Uint8Array,
): Promise<string> {
  const running = run('git', [...args], { cwd: repository.folder, env: gitEnvironment() });
  running.child.stdin?.end(input);
  return (await running).stdout.trim();
}
