/** After an install: what a program asks for by the name of a workspace is that workspace, and nothing from a registry. */
import { realpath } from 'node:fs/promises';
import { join, posix, relative } from 'node:path';
import { dependenciesOf, readJson, type ManifestFile } from './manifests.ts';
import type { Install } from './plan.ts';
import { isPackage } from './workspaces.ts';
import { berryResolutions } from './yarn.ts';

/** What is wrong with the first dependency that is not what it should be; undefined when all are. */
export async function checkLinks(folder: string, install: Install): Promise<string | undefined> {
  const manifests = install.manifests.filter(isPackage);
  const named = namesOf(manifests, install.workspaces);
  const isWorkspace = install.linker === 'pnp' ? lockedWorkspaces(install) : await linkedWorkspaces(folder);
  const seen = new Set<string>();
  const next = [...new Set([install.project, '.'])];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    for (const [name, range] of dependenciesOf(textIn(manifests, at))) {
      const workspace = named.get(name);
      if (workspace === undefined || workspace === at) continue;
      if (!(await isWorkspace({ from: at, name, range })))
        return `${name}, which ${posix.join(at, 'package.json')} asks for, resolves to a package of the registry, not to the workspace ${workspace}: let its version there fit, or use the workspace: protocol`;
      next.push(workspace);
    }
  }
  return undefined;
}

interface Asked {
  /** Folder of the manifest that asks. */
  readonly from: string;
  readonly name: string;
  readonly range: string;
}

/** Whether what is asked for is a workspace, or not there at all: that a program says by itself. */
type IsWorkspace = (asked: Asked) => boolean | Promise<boolean>;

async function linkedWorkspaces(folder: string): Promise<IsWorkspace> {
  const root = await realpath(folder);
  return async ({ from, name }) => {
    const real = await resolve(root, from, name);
    return real === undefined || isInside(relative(root, real));
  };
}

/** Without node_modules only the lockfile says it. */
function lockedWorkspaces({ manifests }: Install): IsWorkspace {
  const lock = manifests.find(({ path }) => path === 'yarn.lock')?.text ?? '';
  const resolutions = berryResolutions(lock);
  return ({ name, range }) => {
    const resolution = resolutions.get(`${name}@npm:${range}`) ?? resolutions.get(`${name}@${range}`);
    return resolution === undefined || resolution.startsWith(`${name}@workspace:`);
  };
}

const textIn = (manifests: readonly ManifestFile[], folder: string): string =>
  manifests.find(({ path }) => path === posix.join(folder, 'package.json'))?.text ?? '';

function namesOf(
  manifests: readonly ManifestFile[],
  workspaces: readonly string[],
): ReadonlyMap<string, string> {
  return new Map(
    workspaces.flatMap((workspace) => {
      const name = readJson(textIn(manifests, workspace))?.['name'];
      return typeof name === 'string' ? [[name, workspace] as const] : [];
    }),
  );
}

/** Where Node finds a package from a folder, links followed. */
async function resolve(root: string, from: string, name: string): Promise<string | undefined> {
  for (let at = from; ; at = posix.dirname(at)) {
    const found = await realpath(join(root, at, 'node_modules', name)).catch(() => undefined);
    if (found !== undefined || at === '.') return found;
  }
}

/** A folder of the artifact itself, or pnpm's copy of one (`injected`). */
function isInside(path: string): boolean {
  const parts = path.split('/');
  if (parts[0] === '..') return false;
  return !parts.includes('node_modules') || parts.some((part) => /@file[+_]/.test(part));
}
