/** Which program carries out an install, and how. Pure. */
import { join } from 'node:path';
import semver from 'semver';
import type { RunUser } from '../folders.ts';
import { npmArguments } from './npm.ts';
import type { Install, Manager } from './plan.ts';
import { pnpmArguments } from './pnpm.ts';
import type { Program, Programs } from './programs.ts';
import type { Sources } from './reading.ts';
import { BERRY_ARGUMENTS, berryEnvironment, YARN_ARGUMENTS } from './yarn.ts';

/** What an install may use of the machine. */
export interface InstallMeans {
  readonly programs: Programs;
  readonly path: readonly string[];
  /** Managers' settings, proxies and certificates from the agent's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** The agent's home, for the settings of managers that know no variable for them. */
  readonly home: string | undefined;
  /** Where each keeps what it fetched. */
  readonly caches: Readonly<Record<'npm' | 'pnpm' | 'yarn' | 'pip', string>>;
  readonly user: RunUser | undefined;
}

/** A command, as it is started in the folder of the lockfile. */
export interface Installer {
  readonly name: string;
  readonly version: string;
  readonly command: readonly [string, ...string[]];
  /** What it is asked for; together with the version, all that decides what it makes. */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Undefined: there is none here. */
export function chooseInstaller(install: Install, means: InstallMeans): Installer | undefined {
  const { manager, release } = install;
  const environment = environmentOf(install, means);
  const name = manager === 'berry' ? 'yarn' : manager;
  const flags = argumentsOf(install);
  if (manager === 'berry' && release !== undefined)
    return { name, version: release, command: ['node', release], flags, environment };
  const program = programFor(install, means.programs);
  if (program === undefined) return undefined;
  return { name, version: program.version, command: program.command, flags, environment };
}

/** The version that `packageManager` names, another of its generation, or what corepack brings. */
function programFor({ manager, wanted }: Install, programs: Programs): Program | undefined {
  const all = programs[manager === 'berry' ? 'yarn' : manager].filter(({ version }) =>
    fits(manager, version),
  );
  const found = all.find(({ version }) => version === wanted) ?? all[0];
  if (found !== undefined || wanted === undefined || programs.corepack === undefined) return found;
  const [path] = programs.corepack.command;
  return { command: [path, manager === 'berry' ? 'yarn' : manager], version: wanted };
}

function fits(manager: Manager, version: string): boolean {
  if (manager === 'yarn') return semver.major(version) === 1;
  return manager !== 'berry' || semver.major(version) > 1;
}

function argumentsOf(install: Install): readonly string[] {
  const { manager, project, manifests } = install;
  const sources: Sources = { lock: '', project, manifests };
  switch (manager) {
    case 'npm':
      return npmArguments(sources);
    case 'pnpm':
      return pnpmArguments(sources);
    case 'yarn':
      return YARN_ARGUMENTS;
    case 'berry':
      return BERRY_ARGUMENTS;
  }
}

function environmentOf({ manager, linker }: Install, { caches, home }: InstallMeans): Record<string, string> {
  const corepack = { COREPACK_HOME: join(caches.yarn, 'corepack'), COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' };
  switch (manager) {
    case 'npm':
      return { npm_config_cache: caches.npm };
    case 'pnpm':
      return {
        ...corepack,
        PNPM_HOME: join(caches.pnpm, 'home'),
        pnpm_config_store_dir: join(caches.pnpm, 'store'),
        pnpm_config_cache_dir: join(caches.pnpm, 'cache'),
        pnpm_config_state_dir: join(caches.pnpm, 'state'),
        ...(home === undefined ? {} : { XDG_CONFIG_HOME: join(home, '.config') }),
      };
    case 'yarn':
      return { ...corepack, YARN_CACHE_FOLDER: join(caches.yarn, '1'), SKIP_YARN_COREPACK_CHECK: '1' };
    case 'berry':
      return {
        ...corepack,
        YARN_GLOBAL_FOLDER: join(caches.yarn, 'berry'),
        YARN_IGNORE_PATH: '1',
        SKIP_YARN_COREPACK_CHECK: '1',
        ...berryEnvironment(linker),
      };
  }
}

const REMEDIES: Readonly<Record<Manager, string>> = {
  npm: 'install Node.js with npm on this machine',
  pnpm: 'install it on this machine (npm install --global pnpm)',
  yarn: 'install it on this machine (npm install --global yarn)',
  berry:
    'commit its release file (yarn set version VERSION --yarn-path), or install it on this machine (npm install --global @yarnpkg/cli-dist)',
};

const NAMES: Readonly<Record<Manager, string>> = {
  npm: 'npm',
  pnpm: 'pnpm',
  yarn: 'yarn 1',
  berry: 'yarn 2 or newer',
};

/** Why nothing can be installed, and what helps. */
export const missingText = ({ manager, wanted }: Install): string =>
  `the lockfile needs ${NAMES[manager]}${wanted === undefined ? '' : ` (${wanted})`}, which is not on the PATH of this agent: ${REMEDIES[manager]}, and start the agent anew`;
