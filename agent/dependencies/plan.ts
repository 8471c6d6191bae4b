/** How a Node.js program's dependencies come into its folder. Pure: names and texts only. */
import { posix } from 'node:path';
import { below, LOCKFILES, readJson, runsScripts, type ManifestFile } from './manifests.ts';
import { readNpmLock } from './npm.ts';
import { readPnpmLock } from './pnpm.ts';
import type { LockReading, Sources } from './reading.ts';
import { isPackage } from './workspaces.ts';
import { berrySettings, isBerryLock, readYarnLock } from './yarn.ts';

/** `berry` is yarn 2 and newer. */
export type Manager = 'npm' | 'pnpm' | 'yarn' | 'berry';

/** An install that is to be done. */
export interface Install extends LockReading {
  /**
   * `link`: what is cached is linked as a whole. `copy`: something installed links into the artifact, so the installed
   * folders are copied, links and all. `inPlace`: manifests of the artifact have scripts of their own that run at install
   * and may make anything anywhere, so nothing of it can be cached.
   */
  readonly kind: 'link' | 'copy' | 'inPlace';
  readonly manager: Manager;
  /** Folder of the lockfile, from the artifact's root. */
  readonly folder: string;
  /** Folder of the project's package.json, from the lockfile's. */
  readonly project: string;
  readonly manifests: readonly ManifestFile[];
  /** What yarn makes: `node-modules` or `pnp`. */
  readonly linker: string;
  /** Yarn's release file in the artifact, from the lockfile's folder. */
  readonly release?: string;
  /** Version that `packageManager` names. */
  readonly wanted?: string;
}

export type DependencyPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'unusable'; readonly code: 'Invalid' | 'NotYetSupported'; readonly why: string }
  | Install;

type Owner = keyof typeof LOCKFILES;

/** Decides for a project folder. `files` are the manifests of the whole artifact. */
export function planDependencies(project: string, files: readonly ManifestFile[]): DependencyPlan {
  const found = nearestLock(posix.normalize(project), files);
  if (found === undefined) return withoutLockfile(project, files);
  const { lock, owner } = found;
  if (owner === 'bun') return unusable('NotYetSupported', `${lock.path}: packages of bun are not installed`);
  const folder = posix.dirname(lock.path);
  const manifests = files.flatMap(({ path, text }) => {
    const inside = below(path, folder);
    return inside === undefined ? [] : [{ path: inside, text }];
  });
  const sources = {
    lock: lock.text,
    project: importerOf(posix.relative(folder, posix.normalize(project)), manifests),
    manifests,
  };
  const manager = owner === 'yarn' && isBerryLock(lock.text) ? 'berry' : owner;
  return planFor(manager, { path: lock.path, folder, sources });
}

/** The folder of the package.json at a project or above it: it is that which has dependencies. */
function importerOf(project: string, manifests: readonly ManifestFile[]): string {
  const folders = new Set(manifests.filter(isPackage).map(({ path }) => posix.dirname(path)));
  for (let folder = project || '.'; ; folder = posix.dirname(folder))
    if (folder === '.' || folders.has(folder)) return folder;
}

const unusable = (
  code: 'Invalid' | 'NotYetSupported',
  why: string,
): Extract<DependencyPlan, { kind: 'unusable' }> => ({ kind: 'unusable', code, why });

interface Found {
  readonly path: string;
  readonly folder: string;
  readonly sources: Sources;
}

const READERS: Readonly<Record<Manager, (sources: Sources) => LockReading | undefined>> = {
  npm: readNpmLock,
  pnpm: readPnpmLock,
  yarn: readYarnLock,
  berry: readYarnLock,
};

const WRITERS: Readonly<Record<Manager, string>> = {
  npm: 'npm 7 or newer',
  pnpm: 'pnpm',
  yarn: 'yarn 1',
  berry: 'yarn 2 or newer',
};

function planFor(manager: Manager, { path, folder, sources }: Found): DependencyPlan {
  const reading = READERS[manager](sources);
  if (reading === undefined)
    return unusable('Invalid', `${path} is no lockfile that ${WRITERS[manager]} wrote`);
  const { linker, release } = manager === 'berry' ? berrySettings(sources) : { linker: 'node-modules' };
  if (linker !== 'node-modules' && linker !== 'pnp')
    return unusable(
      'NotYetSupported',
      `nodeLinker ${linker} beside ${path}: use node-modules or pnp in .yarnrc.yml`,
    );
  const { manifests, project } = sources;
  const wanted = wantedVersion(manifests, manager);
  return {
    kind: kindOf(sources, reading, linker),
    ...reading,
    manager,
    folder,
    project,
    manifests,
    linker,
    ...(release === undefined ? {} : { release }),
    ...(wanted === undefined ? {} : { wanted }),
  };
}

/** What lies outside the lockfile's folder can be had only where the artifact is. */
function kindOf({ manifests }: Sources, { places }: LockReading, linker: string): Install['kind'] {
  const hasScripts = manifests.some((file) => isPackage(file) && runsScripts(file.text));
  if (hasScripts || places.some((path) => path.startsWith('..'))) return 'inPlace';
  return places.length > 0 || linker === 'pnp' ? 'copy' : 'link';
}

/** `packageManager` of the manifest beside the lockfile: `pnpm@9.1.0+sha512.…` */
function wantedVersion(manifests: readonly ManifestFile[], manager: Manager): string | undefined {
  const [name, version] = managerField(manifests.find(({ path }) => path === 'package.json'));
  return name === (manager === 'berry' ? 'yarn' : manager) ? version : undefined;
}

function managerField(manifest: ManifestFile | undefined): [name?: string, version?: string] {
  const field = readJson(manifest?.text ?? '')?.['packageManager'];
  if (typeof field !== 'string') return [];
  const [name = '', version] = field.split('@');
  return version === undefined ? [name] : [name, version.split('+')[0] ?? ''];
}

interface FoundLock {
  readonly lock: ManifestFile;
  readonly owner: Owner;
}

/** The lockfile nearest to the project, upwards to the artifact's root; of several in a folder, that of `packageManager`. */
function nearestLock(project: string, files: readonly ManifestFile[]): FoundLock | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (let folder = project; ; folder = posix.dirname(folder)) {
    const found = (Object.keys(LOCKFILES) as Owner[]).flatMap((owner) =>
      LOCKFILES[owner].flatMap((name) => {
        const lock = byPath.get(posix.join(folder, name));
        return lock === undefined ? [] : [{ lock, owner }];
      }),
    );
    const [named] = managerField(byPath.get(posix.join(folder, 'package.json')));
    const chosen = found.find(({ owner }) => owner === named) ?? found[0];
    if (chosen !== undefined) return chosen;
    if (folder === '.' || folder === '/') return undefined;
  }
}

function withoutLockfile(project: string, files: readonly ManifestFile[]): DependencyPlan {
  for (let folder = posix.normalize(project); ; folder = posix.dirname(folder)) {
    const manifest = files.find(({ path }) => path === posix.join(folder, 'package.json'));
    if (manifest !== undefined && hasDependencies(manifest.text))
      return unusable(
        'Invalid',
        `${manifest.path} has dependencies but no lockfile of npm, pnpm or yarn is in the artifact: commit one`,
      );
    if (manifest !== undefined || folder === '.' || folder === '/') return { kind: 'none' };
  }
}

const hasDependencies = (text: string): boolean =>
  Object.keys((readJson(text)?.['dependencies'] as object | undefined) ?? {}).length > 0;
