/** Brings the programs that runs need to where the user of runs can get at them. */
import { copyFile, link, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { wanted } from '../tools/catalog.ts';
import { closedFolder, makeOpen } from './input.ts';

export interface Programs {
  readonly pulumi: string;
  /** Node.js: agents find it where they run themselves. */
  readonly node: string;
}

/**
 * The paths to use. Where other users cannot enter the folder that one of them is in, as with a checkout or a cache in
 * root's home, `folder` gets links to both (copies on another file system).
 */
export async function withinReach({ pulumi, node }: Programs, folder: string): Promise<Programs> {
  const real = { pulumi: await realpath(pulumi), node: await realpath(node) };
  const closed = await Promise.all([real.pulumi, real.node].map(closedFolder));
  if (closed.every((path) => path === undefined)) return { pulumi, node };
  await makeOpen(folder);
  for (const name of [wanted.pulumi.name, ...wanted.pulumi.beside])
    await bring(join(dirname(real.pulumi), name), join(folder, name));
  await bring(real.node, join(folder, 'node'));
  return { pulumi: join(folder, wanted.pulumi.name), node: join(folder, 'node') };
}

async function bring(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await link(from, to).catch(() => copyFile(from, to));
}
