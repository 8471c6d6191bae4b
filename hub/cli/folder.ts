/** A folder of the repository as people write it on a command line. */
import { posix } from 'node:path';

/** The folder from the repository's root. Throws when it is outside of the repository. */
export function folderOf(written: string): string {
  const path = posix.normalize(written).replace(/\/+$/, '') || '.';
  if (path.startsWith('/') || path === '..' || path.startsWith('../'))
    throw new Error(`--path ${written}: name a folder from the root of the repository`);
  return path;
}
