/** The real package managers, cut off from the machine's settings and from every registry but the test's own. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Owner } from './owned.ts';
import type { Registry } from './registry.ts';
import { tempFolder } from './temp.ts';

export type Manager = 'node' | 'npm' | 'pnpm' | 'yarn1' | 'yarn4';

/** Runs a program in a folder and resolves to what it printed; rejects with all its output when it fails. */
export type RunManager = (folder: string, manager: Manager, ...args: readonly string[]) => Promise<string>;

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const SCRIPTS: Readonly<Partial<Record<Manager, string>>> = {
  pnpm: join(MODULES, 'pnpm/bin/pnpm.mjs'),
  yarn1: join(MODULES, 'yarn1/bin/yarn.js'),
  yarn4: join(MODULES, 'yarn4/bin/yarn.js'),
};
const run = promisify(execFile);

/**
 * Managers that share one new home with its caches, so that a second install may do without the registry. `more` is
 * added to their environment.
 */
export async function managersOf(
  owner: Owner,
  registry: Pick<Registry, 'url'>,
  more: NodeJS.ProcessEnv = {},
): Promise<RunManager> {
  const home = await tempFolder(owner, 'home');
  const env = { ...environment(home, registry.url), ...more };
  await writeFile(join(home, '.npmrc'), `registry=${registry.url}\naudit=false\nfund=false\n`);
  return async (folder, manager, ...args) => {
    const script = SCRIPTS[manager];
    const program = manager === 'npm' ? 'npm' : process.execPath;
    const all = [...(script === undefined ? [] : [script]), ...args];
    try {
      return (await run(program, all, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${manager} ${args.join(' ')} failed:\n${stdout ?? ''}\n${stderr ?? ''}`, {
        cause: error,
      });
    }
  };
}

/** Only what is named: npm of a surrounding `npm test` must not reach in. */
const environment = (home: string, registry: string): NodeJS.ProcessEnv => ({
  PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
  HOME: home,
  XDG_CACHE_HOME: join(home, 'cache'),
  XDG_DATA_HOME: join(home, 'data'),
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_STATE_HOME: join(home, 'state'),
  CI: 'true',
  npm_config_registry: registry,
  npm_config_cache: join(home, 'npm'),
  npm_config_userconfig: join(home, '.npmrc'),
  npm_config_update_notifier: 'false',
  YARN_CACHE_FOLDER: join(home, 'yarn'),
  YARN_GLOBAL_FOLDER: join(home, 'berry'),
  YARN_NPM_REGISTRY_SERVER: registry,
  YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
  YARN_ENABLE_TELEMETRY: '0',
  YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
  YARN_ENABLE_GLOBAL_CACHE: 'true',
});

/** Writes files below a folder, making the folders between. */
export async function layOut(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
