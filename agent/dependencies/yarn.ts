/** Yarn of both generations: what they install, and how they are started. Pure. */
import { posix } from 'node:path';
import { load } from 'js-yaml';
import { parse } from 'yaml';
import { objectOf, readJson, type ManifestFile } from './manifests.ts';
import type { LockReading, Sources } from './reading.ts';
import { isPackage, workspacesOf } from './workspaces.ts';

/** Yarn 2 and newer write their lockfile with a section about itself. */
export const isBerryLock = (lock: string): boolean => lock.split('\n').includes('__metadata:');

/** What is local is in the manifests: yarn 1 writes nothing of a workspace into its lockfile. */
export function readYarnLock({ manifests }: Sources): LockReading {
  const workspaces = workspacesOf(manifests);
  const asked = manifests.filter(isPackage).flatMap(placesOf);
  return {
    places: [...workspaces, ...asked.map(({ path }) => path)],
    contents: asked.flatMap(({ how, path }) => (how === 'file' ? [path] : [])),
    workspaces,
  };
}

interface Place {
  readonly how: 'file' | 'link' | 'portal';
  /** From the lockfile's folder. */
  readonly path: string;
}

const FIELDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'resolutions'];
const LOCAL = /^(file|link|portal):(.*)$/;

function placesOf({ path, text }: ManifestFile): Place[] {
  const manifest = readJson(text) ?? {};
  return FIELDS.flatMap((field) => Object.values(objectOf(manifest[field]) ?? {})).flatMap((range) => {
    const [, how, target = ''] = LOCAL.exec(typeof range === 'string' ? range : '') ?? [];
    return how === undefined
      ? []
      : [{ how: how as Place['how'], path: posix.join(posix.dirname(path), target) }];
  });
}

/** What `.yarnrc.yml` says of how packages are laid out, and by which release. */
export interface BerrySettings {
  readonly linker: string;
  /** From the lockfile's folder. */
  readonly release?: string;
}

/** What each descriptor (`name@npm:^1.0.0`) of a lockfile of yarn 2 or newer is resolved to. */
export function berryResolutions(lock: string): ReadonlyMap<string, string> {
  const entries = Object.entries(objectOf(load(lock)) ?? {});
  return new Map(
    entries.flatMap(([descriptors, entry]) => {
      const resolution = objectOf(entry)?.['resolution'];
      if (typeof resolution !== 'string') return [];
      return descriptors.split(', ').map((descriptor) => [descriptor, resolution] as const);
    }),
  );
}

/** Yarn's own defaults where it says nothing. */
export function berrySettings({ manifests }: Pick<Sources, 'manifests'>): BerrySettings {
  const text = manifests.find(({ path }) => path === '.yarnrc.yml')?.text ?? '';
  const { nodeLinker, yarnPath } = settingsIn(text);
  return {
    linker: typeof nodeLinker === 'string' ? nodeLinker : 'pnp',
    ...(typeof yarnPath === 'string' ? { release: posix.normalize(yarnPath) } : {}),
  };
}

/** Yarn itself says what is wrong with a file that cannot be read. */
function settingsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(parse(text)) ?? {};
  } catch {
    return {};
  }
}

/** Yarn 1 changes the lockfile otherwise. */
export const YARN_ARGUMENTS = ['install', '--frozen-lockfile', '--non-interactive', '--no-progress'];
/** The same for yarn 2 and newer. */
export const BERRY_ARGUMENTS = ['install', '--immutable'];

/** Files that Plug'n'Play makes instead of node_modules. */
export const PNP_LOADER = '.pnp.cjs';
/** All of them: packages stay zipped, but for those that have to be files. */
export const PNP_PRODUCTS = [PNP_LOADER, '.pnp.loader.mjs', '.yarn/cache', '.yarn/unplugged'];

/** What yarn 2 and newer are told besides: nothing of theirs may lie outside the folder of the install, or be shared. */
export const berryEnvironment = (linker: string): Readonly<Record<string, string>> => ({
  YARN_NODE_LINKER: linker,
  YARN_NM_MODE: 'classic',
  YARN_ENABLE_TELEMETRY: '0',
  YARN_ENABLE_PROGRESS_BARS: '0',
  ...(linker === 'pnp' ? { YARN_ENABLE_GLOBAL_CACHE: '0', YARN_CACHE_FOLDER: './.yarn/cache' } : {}),
});
