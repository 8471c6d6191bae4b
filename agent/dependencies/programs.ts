/** The package managers of this machine, found when the agent starts. */
import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import semver from 'semver';

/** A way to start a package manager. */
export interface Program {
  readonly command: readonly [string, ...string[]];
  readonly version: string;
}

/** In the order of PATH. Of yarn there may be one of each generation. */
export interface Programs {
  readonly npm: readonly Program[];
  readonly pnpm: readonly Program[];
  readonly yarn: readonly Program[];
  /** Brings the manager that `packageManager` of a package.json names. */
  readonly corepack: Program | undefined;
}

/** Names under which the managers are published. */
const PACKAGES: Readonly<Record<string, keyof Programs>> = {
  npm: 'npm',
  pnpm: 'pnpm',
  '@pnpm/exe': 'pnpm',
  yarn: 'yarn',
  '@yarnpkg/cli-dist': 'yarn',
  corepack: 'corepack',
};

interface Found {
  readonly kind: keyof Programs;
  readonly program: Program;
}

/** Every manager in these folders. A version is read from the files beside a program: asking for it costs 0.2 s. */
export function findPrograms(path: readonly string[]): Programs {
  const found = (['npm', 'pnpm', 'yarn', 'corepack'] as const).flatMap((name) =>
    path.flatMap((folder) => look(join(folder, name), name, path) ?? []),
  );
  const all = (kind: keyof Programs): Program[] =>
    found.filter((one) => one.kind === kind).map(({ program }) => program);
  const corepack = found.find(({ kind, program }) => kind === 'corepack' && isItself(program));
  return { npm: all('npm'), pnpm: all('pnpm'), yarn: all('yarn'), corepack: corepack?.program };
}

/** Corepack lays programs of the managers' names beside its own, which are corepack as well. */
const isItself = ({ command: [path] }: Program): boolean => path.endsWith('/corepack');

function look(path: string, name: keyof Programs, folders: readonly string[]): Found | undefined {
  const real = realOf(path);
  if (real === undefined) return undefined;
  const command = [path] as const;
  const published = packageOf(real);
  if (published !== undefined)
    return { kind: published.kind, program: { command, version: published.version } };
  const version = askVersion(path, folders);
  return version === undefined ? undefined : { kind: name, program: { command, version } };
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The package that a script lies in: `bin/x.js` or `dist/x.js` of it. */
function packageOf(script: string): { readonly kind: keyof Programs; readonly version: string } | undefined {
  try {
    const text = readFileSync(join(dirname(dirname(script)), 'package.json'), 'utf8');
    const { name = '', version } = JSON.parse(text) as { readonly name?: string; readonly version?: string };
    const kind = PACKAGES[name];
    return kind === undefined || version === undefined ? undefined : { kind, version };
  } catch {
    return undefined;
  }
}

const ASK_MS = 10_000;

/** For a program that is a single file. Something else of that name gives no version, and is passed over. */
function askVersion(path: string, folders: readonly string[]): string | undefined {
  const { stdout } = spawnSync(path, ['--version'], {
    cwd: '/',
    encoding: 'utf8',
    timeout: ASK_MS,
    env: { PATH: folders.join(delimiter), HOME: '/nonexistent' },
  });
  return semver.valid((stdout ?? '').trim()) ?? undefined;
}

/** For records of runs: the version of each manager that comes first, and of yarn that of each generation. */
export function versionsOf({ npm, pnpm, yarn }: Programs): Record<string, string> {
  const berry = yarn.find(({ version }) => semver.major(version) > 1);
  const found = {
    npm: npm[0],
    pnpm: pnpm[0],
    yarn: yarn.find(({ version }) => semver.major(version) === 1),
    yarnBerry: berry,
  };
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, program]) =>
      program === undefined ? [] : [[name, program.version]],
    ),
  );
}
