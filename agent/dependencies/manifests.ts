/** Files of an artifact that decide what is installed. Pure. */
import { posix } from 'node:path';

/** One of them that is text. */
export interface ManifestFile {
  /** From the artifact's root. */
  readonly path: string;
  readonly text: string;
}

/** The lockfiles of each manager, in the order in which they count. */
export const LOCKFILES = {
  npm: ['npm-shrinkwrap.json', 'package-lock.json'],
  pnpm: ['pnpm-lock.yaml'],
  yarn: ['yarn.lock'],
  bun: ['bun.lock', 'bun.lockb'],
} as const;

/** Texts that the plan is made of. */
const READ: ReadonlySet<string> = new Set([
  ...Object.values(LOCKFILES).flat(),
  'package.json',
  'pnpm-workspace.yaml',
  '.yarnrc.yml',
]);

/** Settings and hooks of the managers. */
const SETTINGS: ReadonlySet<string> = new Set(['.npmrc', '.yarnrc', '.pnpmfile.cjs', '.pnpmfile.mjs']);

/** Patches of packages, and packages as archives. */
const ENCLOSED = ['.patch', '.diff', '.tgz', '.tar.gz'];

/** Whether a plan needs its text. */
export const isRead = (path: string): boolean => READ.has(posix.basename(path)) && !isInstalled(path);

/** Whether an install may need it, whatever the lockfile says. Yarn keeps releases, plugins, patches and zips in `.yarn`. */
export function isManifest(path: string): boolean {
  const name = posix.basename(path);
  if (isInstalled(path)) return false;
  return (
    isRead(path) ||
    SETTINGS.has(name) ||
    ENCLOSED.some((end) => name.endsWith(end)) ||
    path.split('/').includes('.yarn')
  );
}

const isInstalled = (path: string): boolean => path.split('/').includes('node_modules');

/** Whether a path lies in a folder; `.` holds everything. */
export const isBelow = (path: string, folder: string): boolean =>
  folder === '.' || path.startsWith(`${folder}/`);

/** A path from a folder; undefined when it does not lie in it. */
export const below = (path: string, folder: string): string | undefined =>
  isBelow(path, folder) ? posix.relative(folder, path) : undefined;

/** Scripts of a manifest that the managers run at an install in its folder. */
const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
];

/** Whether an install in the manifest's folder runs scripts of its own. */
export function runsScripts(text: string): boolean {
  const scripts = objectOf(readJson(text)?.['scripts']);
  return scripts !== undefined && INSTALL_SCRIPTS.some((name) => name in scripts);
}

/** Programs of a manifest, from its folder. Managers link only those that are there. */
export function programsOf(text: string): string[] {
  const bin = readJson(text)?.['bin'];
  const paths = typeof bin === 'string' ? [bin] : Object.values(objectOf(bin) ?? {});
  return paths.filter((path) => typeof path === 'string').map((path) => posix.normalize(path));
}

/** Fields by which a manifest asks for packages. */
const DEPENDENCY_FIELDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** Everything that a manifest asks for: name and range, as often as it asks. */
export function dependenciesOf(text: string): (readonly [string, string])[] {
  const manifest = readJson(text) ?? {};
  return DEPENDENCY_FIELDS.flatMap((field) => Object.entries(objectOf(manifest[field]) ?? {})).map(
    ([name, range]) => [name, typeof range === 'string' ? range : ''] as const,
  );
}

/** A JSON object, or undefined for anything else. */
export function readJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A value that is an object with fields. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
