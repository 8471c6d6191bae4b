/** Reads the project's files. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Text } from './words.ts';

const run = promisify(execFile);

/** Generated files, whose words are not ours. */
const GENERATED = /(^|\/)(package-lock\.json|go\.sum|go\.mod)$/;

/** Every text file that is in Git or would be with the next commit. */
export async function readTracked(root: string): Promise<readonly Text[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', args, { cwd: root });
  const paths = stdout.split('\0').filter((path) => path !== '' && !GENERATED.test(path));
  const texts = await Promise.all(paths.map((path) => readText(root, path)));
  return texts.filter((text) => text !== undefined);
}

/** Undefined for a binary file, and for one that was removed but not committed. */
async function readText(root: string, path: string): Promise<Text | undefined> {
  try {
    const text = await readFile(join(root, path), 'utf8');
    return text.includes('\0') ? undefined : { path, text };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
