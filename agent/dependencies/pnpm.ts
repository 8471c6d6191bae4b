/** pnpm: what its lockfile installs, and how it is started. Pure. */
import { posix } from 'node:path';
import { loadAll } from 'js-yaml';
import { objectOf } from './manifests.ts';
import type { LockReading, Sources } from './reading.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Undefined: no lockfile of pnpm. From pnpm 11 on it may be two documents, of which the first is about pnpm itself. */
export function readPnpmLock({ lock }: Sources): LockReading | undefined {
  const documents = documentsOf(lock);
  if (documents === undefined) return undefined;
  const importers = documents.flatMap((document) =>
    Object.entries(objectOf(document['importers']) ?? { '.': document }),
  );
  const linked = importers.flatMap(([folder, importer]) =>
    versionsOf(importer)
      .filter((version) => version.startsWith('link:'))
      .map((version) => posix.join(folder, version.slice('link:'.length))),
  );
  const contents = documents.flatMap((document) => contentsOf(objectOf(document['packages']) ?? {}));
  return {
    places: [...linked, ...contents],
    contents,
    workspaces: [...new Set(importers.map(([folder]) => folder))].filter((folder) => folder !== '.'),
  };
}

function documentsOf(text: string): Fields[] | undefined {
  try {
    const documents = loadAll(text).map((document) => objectOf(document) ?? {});
    return documents.some((document) => 'lockfileVersion' in document) ? documents : undefined;
  } catch {
    return undefined;
  }
}

const FIELDS = ['dependencies', 'devDependencies', 'optionalDependencies'];

/** What an importer's dependencies resolve to; older lockfiles say nothing but that. */
const versionsOf = (importer: unknown): string[] =>
  FIELDS.flatMap((field) => Object.values(objectOf(objectOf(importer)?.[field]) ?? {})).map((dependency) => {
    const version = objectOf(dependency)?.['version'] ?? dependency;
    return typeof version === 'string' ? version : '';
  });

/** Folders and archives of the artifact that are copied into node_modules. */
const contentsOf = (packages: Fields): string[] =>
  Object.values(packages).flatMap((one) => {
    const { directory, tarball } = objectOf(objectOf(one)?.['resolution']) ?? {};
    return [
      ...(typeof directory === 'string' ? [directory] : []),
      ...(typeof tarball === 'string' && tarball.startsWith('file:') ? [tarball.slice('file:'.length)] : []),
    ];
  });

/**
 * Packages are copied out of the store, never linked hard: what a program writes into its node_modules would be in the
 * store, what is taken from the run user here would be taken from it there, and the kernel refuses links to another
 * owner's files. Nothing may name the folder of the install, which is moved.
 */
export const pnpmArguments = ({ manifests }: Sources): string[] => [
  'install',
  '--frozen-lockfile',
  '--prefer-offline',
  '--reporter=append-only',
  '--package-import-method=copy',
  '--config.enable-global-virtual-store=false',
  '--config.extend-node-path=false',
  ...(manifests.some(({ path }) => path === 'pnpm-workspace.yaml') ? [] : ['--ignore-workspace']),
];
