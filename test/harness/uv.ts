/** The real uv, of one version: in the cache of the tools, where pip puts it when it is not there. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { exists, openWorkshop } from '../../deploy/tools/cache.ts';
import type { Owner } from './owned.ts';
import { tempFolder } from './temp.ts';

/** As PyPI has it. */
export const UV_VERSION = '0.13.9';

/** Runs uv in a folder and resolves to what it printed; rejects with all its output when it fails. */
export type RunUv = (folder: string, ...args: readonly string[]) => Promise<string>;

const run = promisify(execFile);
let found: Promise<string> | undefined;

/** uv with a cache of its own, that knows one index of packages and the Python of this machine. */
export async function uvOf(owner: Owner, index: { readonly url: string }): Promise<RunUv> {
  const uv = await (found ??= install());
  const home = await tempFolder(owner, 'uv');
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    UV_CACHE_DIR: join(home, 'cache'),
    UV_DEFAULT_INDEX: index.url,
    UV_PYTHON_DOWNLOADS: 'never',
    UV_NO_CONFIG: '1',
  };
  return async (folder, ...args) => {
    try {
      const { stdout, stderr } = await run(uv, args, { cwd: folder, env });
      return stdout + stderr;
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`uv ${args.join(' ')} failed:\n${stdout ?? ''}\n${stderr ?? ''}`, { cause: error });
    }
  };
}

/** Whoever looks sees all of it or nothing; of two that install it at once, one wins. */
async function install(): Promise<string> {
  const { cache } = await openWorkshop(process.env);
  const folder = join(cache, `uv-${UV_VERSION}-${process.platform}-${process.arch}`);
  const program = join(folder, 'bin', 'uv');
  if (await exists(program)) return program;
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.draft-`);
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', draft, `uv==${UV_VERSION}`];
  try {
    await run('python3', args);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(program)))
      throw new Error(`uv ${UV_VERSION} cannot be had from pip: install Python 3 with pip`, { cause: error });
  }
  return program;
}
