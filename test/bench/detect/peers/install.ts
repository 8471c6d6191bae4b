/** The tools that Towline is measured beside: pinned here, installed outside of the checkout when the bench runs. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { exists, openWorkshop } from '../../../../deploy/tools/cache.ts';

const FILES = ['package.json', 'package-lock.json'] as const;
const PINS = fileURLToPath(new URL('.', import.meta.url));
const run = promisify(execFile);

/** Resolves to the folder with their packages. Rejects with what npm said. */
export async function installPeers(say: (text: string) => void): Promise<string> {
  const { cache } = await openWorkshop(process.env);
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of FILES) hash.update(await readFile(join(PINS, file)));
  const folder = join(cache, `peers-${hash.digest('hex').slice(0, 16)}`);
  if (!(await exists(folder))) {
    say('installing the other tools');
    await install(folder);
  }
  return join(folder, 'node_modules');
}

/** Whoever looks sees all of it or nothing; of two that install at once, one wins. */
async function install(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.draft-`);
  try {
    for (const file of FILES) await copyFile(join(PINS, file), join(draft, file));
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', args, { cwd: draft });
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
}

/** The version that is pinned. */
export async function versionOf(modules: string, name: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
