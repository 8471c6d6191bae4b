/**
 * Which files a path in an import means. Node.js, TypeScript and bundlers try endings in different orders, so of those
 * at one level all that exist are taken; a folder is looked into only where there is no file. Everything tried is
 * asked of the tree, so that a file which appears before another is noticed.
 */
import type { PackageManifest } from '../../lockfiles/lockfile.ts';
import { inside, joinPath, upwards } from '../paths.ts';
import type { TreeEntry } from '../../git/source.ts';

/** What resolving asks of a tree. */
export interface Probe {
  entry(path: string): TreeEntry | undefined;
  manifest(folder: string): PackageManifest | undefined;
}

const ENDINGS = ['.ts', '.tsx', '.d.ts', '.js', '.jsx', '.json', '.node'];

/** An import of compiled JavaScript means its source. */
const SOURCES_OF: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.d.ts', '.jsx'],
  '.jsx': ['.tsx', '.d.ts'],
  '.mjs': ['.mts', '.d.mts'],
  '.cjs': ['.cts', '.d.cts'],
};

/** Existing files that a path from the repository's root means; none: there is no such module. */
export function filesAt(probe: Probe, path: string, isFolder = false): string[] {
  const files = isFolder ? [] : candidates(path).filter((candidate) => probe.entry(candidate) !== undefined);
  return files.some(isCode) ? files : [...files, ...inFolder(probe, path)];
}

/** Declarations say nothing of where the code is. */
const isCode = (path: string): boolean => !/\.d\.[mc]?ts$/.test(path);

function candidates(path: string): string[] {
  const [ending = ''] = /\.[mc]?jsx?$/.exec(path) ?? [];
  const stem = path.slice(0, path.length - ending.length);
  const sources = (SOURCES_OF[ending] ?? []).map((source) => stem + source);
  return [path, ...sources, ...ENDINGS.map((more) => path + more)];
}

function inFolder(probe: Probe, folder: string): string[] {
  const index = (at: string): string[] =>
    ENDINGS.map((ending) => inside(at, `index${ending}`)).filter((path) => probe.entry(path) !== undefined);
  const manifest = inside(folder, 'package.json');
  if (probe.entry(manifest) === undefined) return index(folder);
  const found = targetsOf(probe.manifest(folder)).flatMap((target) => {
    const path = joinPath(folder, target);
    if (path === undefined) return [];
    const files = candidates(path).filter((candidate) => probe.entry(candidate) !== undefined);
    return files.length > 0 ? files : index(path);
  });
  return [manifest, ...found, ...(found.some(isCode) ? [] : index(folder))];
}

const TARGET_FIELDS = ['main', 'module', 'types', 'typings', 'exports'];

/** Paths that a package.json gives for the package itself, without those with a `*`. */
export const targetsOf = (manifest: PackageManifest | undefined): string[] => [
  ...new Set(
    TARGET_FIELDS.flatMap((field) => leavesOf(manifest?.[field])).filter((path) => !path.includes('*')),
  ),
];

/** More of them are no package that people write. */
const MAX_LEAVES = 1000;

/** Texts anywhere in a value, as conditions of `exports` and `imports` hold them. */
export function leavesOf(value: unknown): string[] {
  const leaves: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0 && leaves.length < MAX_LEAVES) {
    const next = open.pop();
    if (typeof next === 'string') {
      if (next !== '') leaves.push(next);
    } else if (next !== null && typeof next === 'object')
      open.push(...(Object.values(next) as unknown[]).reverse());
  }
  return leaves;
}

/** A symlink or a submodule on the way to a path: what lies behind it is not in the tree at that path. */
export const throughOther = (probe: Probe, path: string): TreeEntry | undefined =>
  upwards(path)
    .slice(0, -1)
    .map((folder) => probe.entry(folder))
    .find((entry) => entry?.mode === '120000' || entry?.mode === '160000');
