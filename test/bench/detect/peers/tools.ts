/**
 * How each tool is configured and asked: as its documentation has it for a workspace of npm, with the setting that gives
 * the most exact answer where there is a choice. Pure.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from '../estate.ts';

export interface Question {
  /** What ran last, and what is asked about; the work tree is there. Commit ids. */
  readonly from: string;
  readonly to: string;
  readonly repository: string;
}

export interface Asking {
  readonly name: string;
  readonly command: (question: Question) => readonly string[];
  readonly environment?: (question: Question) => Readonly<Record<string, string>>;
  /** Exit codes of an answer. */
  readonly codes: readonly number[];
  /** Names of packages, or of stacks; undefined when the tool says that it cannot tell everything. */
  readonly read: (stdout: string) => readonly string[] | undefined;
}

/** Files at the root that all packages depend on: both tools want them named. */
const GLOBALS = ['tsconfig.base.json', '.npmrc', '.nvmrc'];

/** Files at the root by which the other tools are told about the workspace. */
export const SETTINGS: readonly Edit[] = [
  {
    path: 'nx.json',
    content: JSON.stringify({
      namedInputs: {
        sharedGlobals: GLOBALS.map((path) => `{workspaceRoot}/${path}`),
        default: ['{projectRoot}/**/*', 'sharedGlobals'],
      },
      targetDefaults: { deploy: { inputs: ['default', '^default'], dependsOn: ['^deploy'] } },
      // off by default for a workspace of npm: imports of sources, and packages of a lockfile one by one
      pluginsConfig: { '@nx/js': { analyzeSourceFiles: true, projectsAffectedByDependencyUpdates: 'auto' } },
      neverConnectToCloud: true,
      analytics: false,
    }),
  },
  {
    path: 'turbo.json',
    content: JSON.stringify({ globalDependencies: GLOBALS, tasks: { deploy: { dependsOn: ['^deploy'] } } }),
  },
];

const LAUNCHER = fileURLToPath(new URL('../../../../hub/cli/towline', import.meta.url));

export const towline: Asking = {
  name: 'towline',
  command: ({ repository, from, to }) => [
    LAUNCHER,
    'affected',
    ...['--repo', repository],
    ...['--from', from],
    ...['--to', to],
    '--json',
  ],
  codes: [0, 1],
  read(stdout) {
    const { affected, errors } = JSON.parse(stdout) as {
      affected: readonly { stack: string }[];
      errors: readonly unknown[];
    };
    return errors.length > 0 ? undefined : affected.map(({ stack }) => stack.slice(stack.indexOf('/') + 1));
  },
};

/** Nx 24 and Turborepo 2.11, by the programs that a person starts. `modules` holds their packages. */
export const peersIn = (modules: string): readonly Asking[] => [
  {
    name: 'nx',
    command: ({ from, to }) => [
      process.execPath,
      join(modules, '.bin', 'nx'),
      ...['show', 'projects', '--affected', `--base=${from}`, `--head=${to}`, '--json'],
    ],
    environment: () => ({ NX_DAEMON: 'false', NX_NO_CLOUD: 'true', NX_TUI: 'false' }),
    codes: [0],
    read: (stdout) => JSON.parse(stdout) as readonly string[],
  },
  {
    name: 'turbo',
    command: () => [process.execPath, join(modules, '.bin', 'turbo'), 'ls', '--affected', '--output=json'],
    environment: ({ from, to }) => ({
      TURBO_SCM_BASE: from,
      TURBO_SCM_HEAD: to,
      TURBO_TELEMETRY_DISABLED: '1',
      TURBO_NO_UPDATE_NOTIFIER: '1',
    }),
    codes: [0],
    read: (stdout) =>
      (JSON.parse(stdout) as { packages: { items: readonly { name: string }[] } }).packages.items.map(
        ({ name }) => name,
      ),
  },
];
