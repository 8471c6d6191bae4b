/** The folder of a mirror: what may be thrown away, how a new one takes its place, how large it is. */
import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Where a mirror is made anew beside the one in use. */
export const freshOf = (folder: string): string => `${folder}.new`;

/** A new mirror takes the place of the one before. */
export async function replaceFolder(folder: string): Promise<void> {
  const old = `${folder}.old`;
  await rm(old, { recursive: true, force: true });
  if (existsSync(folder)) await rename(folder, old);
  await rename(freshOf(folder), folder);
  await rm(old, { recursive: true, force: true });
}

const LEFT_OVER = /\.lock$|^tmp_|^\.tmp-|^gc\.pid$/;

/** Removes what killed work left. Nothing may work in the folder meanwhile. */
export async function tidyFolder(folder: string): Promise<void> {
  for (const beside of ['.new', '.old', '.past']) await rm(folder + beside, { recursive: true, force: true });
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (LEFT_OVER.test(entry.name))
      await rm(join(entry.parentPath, entry.name), { recursive: true, force: true });
}

/** Packs of a mirror, with those that are on their way. */
export interface Packs {
  readonly count: number;
  readonly bytes: number;
}

/** Looks at one folder: a mirror keeps nearly all of its bytes in packs. */
export async function packsOf(folder: string): Promise<Packs> {
  const packs = join(folder, 'objects', 'pack');
  const names = await readdir(packs).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(packs, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return {
    count: names.filter((name) => name.endsWith('.pack')).length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}
