/** Takes folders back from the user that runs have. */
import { chmod, lchown, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes a folder with all that is in it, also what was made read-only or is just being written by a dying process. What
 * a run user owned is taken from it first.
 */
export async function removeFolder(path: string, user?: { readonly uid: number }): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5 });
  if (user !== undefined) await takeFolders(path);
  await remove().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    await takeFolders(path);
    await remove();
  });
}

/**
 * Makes folders the agent's alone, the outermost first: from then on nobody can put a link in the place of one, and lead
 * the agent out of it.
 */
async function takeFolders(folder: string): Promise<void> {
  if (process.getuid?.() === 0) await lchown(folder, 0, process.getgid?.() ?? 0).catch(whenGone);
  await chmod(folder, 0o700).catch(whenGone);
  for (const entry of (await readdir(folder, { withFileTypes: true }).catch(whenGone)) ?? [])
    if (entry.isDirectory()) await takeFolders(join(folder, entry.name));
}

/**
 * Makes everything in a folder the agent's, the outermost first, and writable for nobody else, whatever modes were given
 * to it.
 */
export async function takeBack(folder: string): Promise<void> {
  await take(folder);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await takeBack(path);
    else if (entry.isFile()) await take(path);
    else await lchown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  }
}

const OTHERS_WRITE = 0o022;

async function take(path: string): Promise<void> {
  await lchown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  const { mode } = await lstat(path);
  if ((mode & OTHERS_WRITE) !== 0) await chmod(path, mode & 0o777 & ~OTHERS_WRITE);
}

const whenGone = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};
