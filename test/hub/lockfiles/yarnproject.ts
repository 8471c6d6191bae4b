/** Workspaces of yarn as files, what one of them ships, and yarn itself on it. */
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { Lockfile, PackageManifest, Slice, Workspaces } from '../../../hub/lockfiles/lockfile.ts';
import { cutRootManifest } from '../../../hub/lockfiles/rootmanifest.ts';
import { yarnLock } from '../../../hub/lockfiles/yarn.ts';
import { layOut, managersOf, type Manager } from '../../harness/managers.ts';
import type { Owner } from '../../harness/owned.ts';
import { startRegistry, type MadePackage } from '../../harness/registry.ts';
import { tempFolder } from '../../harness/temp.ts';

export type Files = Readonly<Record<string, string>>;

/** Every `package.json` is a workspace but those below `vendor`. */
export function workspacesIn(files: Files): Workspaces {
  const manifests = new Map(
    Object.entries(files)
      .filter(([path]) => posix.basename(path) === 'package.json' && !path.startsWith('vendor/'))
      .map(([path, text]) => [posix.dirname(path), JSON.parse(text) as PackageManifest]),
  );
  const folders = new Map(Array.from(manifests, ([folder, { name }]) => [name, folder]));
  return {
    manifest: (folder) => manifests.get(folder),
    folderOf: (name) => folders.get(name),
    content: (path) => (files[path] === undefined ? undefined : Buffer.from(files[path])),
  };
}

/** The lockfile of a text. Throws when it is one to be taken whole. */
export function readLock(text: string): Lockfile {
  const read = yarnLock.parse(Buffer.from(text));
  if (read.kind === 'whole') throw new Error(read.why);
  return read.lockfile;
}

/** What an artifact holds: settings and cut manifest of the root, the cut lockfile, workspaces, other paths. */
export function shipped(files: Files, slice: Slice, folder: string): Files {
  const wanted = ['.yarnrc', '.yarnrc.yml', folder, ...slice.workspaces, ...slice.paths];
  const kept = Object.entries(files).filter(([path]) =>
    wanted.some((one) => path === one || path.startsWith(`${one}/`)),
  );
  const root = cutRootManifest(files['package.json'] ?? '', { folder, slice }).text;
  return { ...Object.fromEntries(kept), 'package.json': root, 'yarn.lock': slice.text() };
}

export interface Project {
  /** Writes the lockfile anew with yarn itself. */
  lock(files: Files): Promise<string>;
  /** Files that the last lock left in its folder. */
  left(paths: readonly string[]): Promise<Readonly<Record<string, Uint8Array>>>;
  /** Installs what a workspace ships as an agent does, and resolves to what its program prints. */
  start(files: Readonly<Record<string, string | Uint8Array>>, folder: string): Promise<string>;
}

const FROZEN: Readonly<Partial<Record<Manager, string>>> = {
  yarn1: '--frozen-lockfile',
  yarn4: '--immutable',
};

/** Yarn with packages of a registry of its own. */
export async function projectOf(
  owner: Owner,
  manager: 'yarn1' | 'yarn4',
  packages: readonly MadePackage[],
): Promise<Project> {
  const registry = await startRegistry(owner, packages);
  // archives stay in the project's own cache
  const run = await managersOf(owner, registry, {
    YARN_ENABLE_GLOBAL_CACHE: 'false',
    YARN_CACHE_FOLDER: undefined,
  });
  let folder = '.';
  return {
    async lock(files) {
      folder = await tempFolder(owner, manager);
      await layOut(folder, { 'yarn.lock': '', ...files });
      await run(folder, manager, 'install');
      return readFile(join(folder, 'yarn.lock'), 'utf8');
    },
    async left(paths) {
      const contents = paths.map(async (path) => [path, await readFile(join(folder, path))] as const);
      return Object.fromEntries(await Promise.all(contents));
    },
    async start(files, folder) {
      const artifact = await tempFolder(owner, 'artifact');
      await layOut(artifact, files);
      await run(artifact, manager, 'install', FROZEN[manager] ?? '');
      const output =
        manager === 'yarn4'
          ? await run(join(artifact, folder), manager, 'node', 'index.js')
          : await run(join(artifact, folder), 'node', 'index.js');
      return output.trim();
    },
  };
}
