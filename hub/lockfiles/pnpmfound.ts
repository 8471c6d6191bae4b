/** What the entries of a slice of a pnpm lockfile lead to. */
import { fieldsOf, textOf, type Fields } from './json.ts';
import type { Workspaces } from './lockfile.ts';
import { dependenciesOf, linkTarget, suffixStart, type PnpmEntry, type PnpmGraph } from './pnpmgraph.ts';
import { eachReached } from './reach.ts';

/** The names of all that is reached. */
export function namesReached(
  graph: PnpmGraph,
  starts: readonly number[],
  namesOf: (node: number) => readonly string[],
): Set<string> {
  const names = new Set<string>();
  eachReached(graph, starts, (node) => {
    for (const name of namesOf(node)) names.add(name);
  });
  return names;
}

/** Names that an entry brings into a slice: of its package, with the version, and of its dependencies. */
export const pnpmNames = (entry: PnpmEntry): readonly string[] => [
  ...dependenciesOf(entry).map(({ name }) => name),
  ...(entry.section === 'packages' ? packageNames(entry) : []),
];

/** Of `name@version`, `/name@version`, `name@file:path`. */
function packageNames({ key, value }: PnpmEntry): readonly string[] {
  const plain = key.slice(key.startsWith('/') ? 1 : 0, suffixStart(key));
  const cut = plain.indexOf('@', 1);
  const name = textOf(value['name']) ?? (cut < 0 ? plain : plain.slice(0, cut));
  const version = textOf(value['version']) ?? (cut < 0 ? undefined : plain.slice(cut + 1));
  return [name, ...(version === undefined ? [] : [`${name}@${version}`])];
}

/**
 * Names in the manifests of importers, if there are overrides: one that takes a dependency away keeps it out of the
 * lockfile.
 */
export function declaredNames(
  importers: readonly PnpmEntry[],
  head: Fields,
  workspaces: Workspaces,
): readonly string[] {
  if (head['overrides'] === undefined) return [];
  return importers.flatMap(({ key }) => {
    const manifest = workspaces.manifest(key) ?? {};
    return DECLARED.flatMap((field) => Object.keys(fieldsOf(manifest[field]) ?? {}));
  });
}

const DECLARED = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** `catalog:` and its package, as importers of a slice use them. */
export const catalogUse = (name: string, specifier: string): string | undefined =>
  specifier.startsWith(CATALOG) ? useOf(specifier.slice(CATALOG.length).trim(), name) : undefined;

const CATALOG = 'catalog:';

/** One entry of a catalog as a text; the catalog without a name is the default one. */
export const useOf = (catalog: string, name: string): string =>
  JSON.stringify([catalog === '' ? 'default' : catalog, name]);

/** Entries of catalogs that some importers use. */
export const catalogUses = (importers: readonly PnpmEntry[]): ReadonlySet<string> =>
  new Set(
    importers.flatMap((importer) =>
      dependenciesOf(importer).flatMap(({ name, specifier }) => catalogUse(name, specifier) ?? []),
    ),
  );

/** Dependencies that do not lead to the workspace that they name. */
export function pnpmProblems(importers: readonly PnpmEntry[], workspaces: Workspaces): readonly string[] {
  const problems = importers.flatMap((importer) =>
    dependenciesOf(importer).flatMap(({ name, specifier, version }) => {
      const from = importer.key === '.' ? 'the root' : importer.key;
      return problemOf({ from, name, specifier, target: targetOf(importer.key, version) }, workspaces) ?? [];
    }),
  );
  return [...new Set(problems)].sort();
}

/** Folder in the repository that a version leads to: by a link, or injected from it. */
const targetOf = (from: string, version: string): string | undefined => {
  if (version.startsWith('link:')) return linkTarget(from, version);
  const plain = version.slice(0, suffixStart(version));
  const file = plain.indexOf('file:');
  return file < 0 ? undefined : plain.slice(file + 'file:'.length);
};

interface Named {
  readonly from: string;
  readonly name: string;
  readonly specifier: string;
  readonly target: string | undefined;
}

function problemOf({ from, name, specifier, target }: Named, workspaces: Workspaces): string | undefined {
  const folder = workspaces.folderOf(name);
  if (folder !== undefined && folder !== target)
    return `${from} depends on ${name}@${specifier}, and ${name} is the workspace ${folder}, but pnpm-lock.yaml does not link to it: depend on ${name}@workspace:*, or rename one of the two, then run pnpm install and commit pnpm-lock.yaml`;
  const named = specifier.startsWith('workspace:') && !/^workspace:(\.|.*@)/.test(specifier);
  if (named && folder === undefined && (target === undefined || workspaces.manifest(target) === undefined))
    return `${from} depends on the workspace ${name}, but no workspace has that name: add it, or remove the dependency, then run pnpm install and commit pnpm-lock.yaml`;
  return undefined;
}
