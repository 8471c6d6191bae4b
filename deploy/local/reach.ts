/** Brings the programs that runs need to where the user of runs can get at them. */
import { copyFile, link, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { wanted } from '../tools/catalog.ts';
import { closedFolder } from './input.ts';

/**
 * The path of pulumi to use. Where other users cannot enter the folder that it or Node.js is in, as with a checkout or a
 * cache in root's home, `folder` gets links to them (copies on another file system), Node.js beside pulumi.
 */
export async function withinReach(pulumi: string, node: string, folder: string): Promise<string> {
  const real = await realpath(pulumi);
  if ((await closedFolder(real)) === undefined && (await closedFolder(node)) === undefined) return pulumi;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const name of [wanted.pulumi.name, ...wanted.pulumi.beside])
    await bring(join(dirname(real), name), join(folder, name));
  await bring(await realpath(node), join(folder, 'node'));
  return join(folder, wanted.pulumi.name);
}

async function bring(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await link(from, to).catch(() => copyFile(from, to));
}
