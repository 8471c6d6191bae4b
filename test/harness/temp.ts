/** A folder of its own for a test. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd, type Owner } from './owned.ts';

/** An empty folder with its real path (no symbolic links in it), removed with all that is in it when the owner ends. */
export async function tempFolder(owner: Owner, name = 'test'): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `towline-${name}-`)));
  atEnd(owner, () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
