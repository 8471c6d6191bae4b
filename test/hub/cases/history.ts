/** Repositories written by `git fast-import`: it takes every name and mode, and is one process for many commits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitEnvironment } from '../../harness/git.ts';
import type { Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import type { File, Files } from './files.ts';

export interface Written {
  /** A bare repository. */
  readonly folder: string;
  /** Commits in the order of the trees; none has a parent. */
  readonly commits: readonly string[];
}

/** An empty bare repository, its `main` unborn. Written by hand: no template, no process. */
export async function emptyRepository(owner: Owner): Promise<string> {
  const folder = join(await tempFolder(owner, 'cases'), 'repository.git');
  for (const name of ['objects', 'refs/heads']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  return folder;
}

/** Writes one commit for each tree. */
export async function writeTrees(folder: string, trees: readonly Files[]): Promise<readonly string[]> {
  const marks = join(folder, 'marks');
  const child = spawn('git', ['fast-import', '--quiet', '--force', `--export-marks=${marks}`], {
    cwd: folder,
    env: gitEnvironment(),
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.end(Buffer.concat(trees.flatMap((files, n) => commitOf(files, n + 1))));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  const ids = new Map(
    (await readFile(marks, 'utf8')).split('\n').map((line) => line.split(' ') as [string, string]),
  );
  return trees.map((_, n) => ids.get(`:${n + 1}`) ?? '');
}

/** Moves `main`, as a push does. */
export const setMain = (folder: string, commit: string): Promise<void> =>
  writeFile(join(folder, 'refs/heads/main'), `${commit}\n`);

function commitOf(files: Files, mark: number): Buffer[] {
  const head = [
    `commit refs/cases/${mark}`,
    `mark :${mark}`,
    `committer Committer <committer@example.com> ${1_767_225_600 + 60 * mark} +0000`,
    'data 4',
    'Case',
    'deleteall',
  ];
  return [
    Buffer.from(`${head.join('\n')}\n`),
    ...Object.entries(files).flatMap(([path, file]) => fileOf(bytesOf(path), readFileOf(file))),
    Buffer.from('\n'),
  ];
}

const readFileOf = (file: Files[string]): File =>
  typeof file === 'string' || file instanceof Uint8Array ? { mode: '100644', content: file } : file;

function fileOf(path: Buffer, { mode, content }: File): Buffer[] {
  const name = [...path].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  if (mode === '160000') return [Buffer.from(`M ${mode} ${content.toString()} "${name}"\n`)];
  const bytes = Buffer.from(content);
  return [Buffer.from(`M ${mode} inline "${name}"\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')];
}

/** The bytes of a name in which unpaired surrogates stand for bytes. */
const bytesOf = (path: string): Buffer =>
  Buffer.concat(
    [...path].map((character) => {
      const unit = character.charCodeAt(0);
      const isByte = character.length === 1 && unit >= 0xdc80 && unit <= 0xdcff;
      return isByte ? Buffer.from([unit - 0xdc00]) : Buffer.from(character);
    }),
  );
