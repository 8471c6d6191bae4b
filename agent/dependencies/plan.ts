/** How a program's npm dependencies come into its folder. Pure: names and texts only. */
import { posix } from 'node:path';
import { sha256 } from '../../shared/canonical.ts';

/** A file of the artifact that decides what is installed. */
export interface ManifestFile {
  /** From the artifact's root. */
  readonly path: string;
  readonly text: string;
}

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly npm: string;
}

/**
 * `link`: one cached node_modules, linked as a whole. `copy`: the lockfile has links into the artifact, so the installed
 * folders are copied, links and all. `inPlace`: manifests of the artifact have scripts of their own that run at install
 * and may make anything anywhere, so nothing of it can be cached.
 */
export type DependencyPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'unusable'; readonly code: 'Invalid' | 'NotYetSupported'; readonly why: string }
  | {
      readonly kind: 'link' | 'copy' | 'inPlace';
      /** Folder of the lockfile, from the artifact's root. */
      readonly folder: string;
      readonly key: string;
      /** Manifests below that folder, with paths from it. */
      readonly manifests: readonly ManifestFile[];
    };

const LOCKFILES = ['npm-shrinkwrap.json', 'package-lock.json'];
const FOREIGN_LOCKFILES = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'];

/** Whether a file has a say in what is installed. */
export const isManifest = (path: string): boolean =>
  [...LOCKFILES, ...FOREIGN_LOCKFILES, 'package.json', '.npmrc'].includes(posix.basename(path));

/** Decides for a project folder. `files` are the manifests of the whole artifact. */
export function planDependencies(
  project: string,
  files: readonly ManifestFile[],
  machine: Machine,
): DependencyPlan {
  const lock = nearest(project, files, LOCKFILES);
  if (lock === undefined) return withoutLockfile(project, files);
  const folder = posix.dirname(lock.path);
  const manifests = files
    .filter(({ path }) => isBelow(path, folder) && !FOREIGN_LOCKFILES.includes(posix.basename(path)))
    .map(({ path, text }) => ({ path: posix.relative(folder, path), text }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const read = readLock(lock);
  if (read === undefined)
    return {
      kind: 'unusable',
      code: 'Invalid',
      why: `${lock.path} is no lockfile that npm 7 or newer wrote`,
    };
  const hasScripts = manifests.some(
    ({ path, text }) => posix.basename(path) === 'package.json' && runsScripts(text),
  );
  const kind = hasScripts ? 'inPlace' : read.local ? 'copy' : 'link';
  const parts = [kind, machine.node, machine.platform, machine.npm];
  const key = sha256(JSON.stringify([...parts, manifests.map(({ path, text }) => [path, sha256(text)])]));
  return { kind, folder, key, manifests };
}

const isBelow = (path: string, folder: string): boolean => folder === '.' || path.startsWith(`${folder}/`);

/** The file of one of these names that is nearest to the project, upwards to the artifact's root. */
function nearest(
  project: string,
  files: readonly ManifestFile[],
  names: readonly string[],
): ManifestFile | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (let folder = posix.normalize(project); ; folder = posix.dirname(folder)) {
    for (const name of names) {
      const found = byPath.get(posix.join(folder, name));
      if (found !== undefined) return found;
    }
    if (folder === '.' || folder === '/') return undefined;
  }
}

function withoutLockfile(project: string, files: readonly ManifestFile[]): DependencyPlan {
  const foreign = nearest(project, files, FOREIGN_LOCKFILES);
  if (foreign !== undefined)
    return {
      kind: 'unusable',
      code: 'NotYetSupported',
      why: `${foreign.path}: only npm's lockfile is installed`,
    };
  const manifest = nearest(project, files, ['package.json']);
  if (manifest === undefined || !hasDependencies(manifest.text)) return { kind: 'none' };
  const why = `${manifest.path} has dependencies but no package-lock.json is in the artifact: commit one`;
  return { kind: 'unusable', code: 'Invalid', why };
}

const hasDependencies = (text: string): boolean =>
  Object.keys(readJson(text)?.['dependencies'] ?? {}).length > 0;

/** Scripts of a manifest that npm runs at an install in its folder. */
const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
];

function runsScripts(text: string): boolean {
  const scripts = readJson(text)?.['scripts'];
  return typeof scripts === 'object' && scripts !== null && INSTALL_SCRIPTS.some((name) => name in scripts);
}

/** Whether an installed package of the lockfile is a folder or file of the artifact. */
function readLock(lock: ManifestFile): { local: boolean } | undefined {
  const packages = readJson(lock.text)?.['packages'];
  if (typeof packages !== 'object' || packages === null) return undefined;
  const entries = Object.values(packages as Record<string, { link?: boolean; resolved?: string }>);
  return {
    local: entries.some(({ link, resolved }) => link === true || resolved?.startsWith('file:') === true),
  };
}

function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
