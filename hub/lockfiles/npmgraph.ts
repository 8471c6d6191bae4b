/** The packages of an npm lockfile as a graph: each entry finds its dependencies as Node.js would from its folder. */
import { fieldsOf, textOf, textPairs, type Fields } from './json.ts';
import { memo } from './memo.ts';
import { DEV, OPTIONAL, PEER, WORKSPACE, type Graph } from './reach.ts';
import { workspaceTest } from './workspaces.ts';

export interface NpmEntry {
  /** Folder from the lockfile's; empty for the root. */
  readonly location: string;
  readonly value: Fields;
  /** Location that a link leads to. */
  readonly target: string | undefined;
}

export interface Dependency {
  readonly name: string;
  readonly spec: string;
  readonly kind: number;
  /** Number of the entry that it resolves to. */
  readonly to: number | undefined;
}

export interface NpmGraph extends Graph {
  readonly entries: readonly NpmEntry[];
  at(location: string): number | undefined;
  dependencies(node: number): readonly Dependency[];
  /** Whether a folder is that of a workspace, by the root's patterns. */
  isWorkspace(location: string): boolean;
}

const MODULES = 'node_modules/';

/** Locations are sorted by code units, so the root is the first node if there is one. */
export function npmGraph(packages: ReadonlyMap<string, Fields>): NpmGraph {
  const entries = [...packages].map(([location, value]) => ({ location, value, target: targetOf(value) }));
  entries.sort((a, b) => (a.location < b.location ? -1 : 1));
  const numbers = new Map(entries.map(({ location }, node) => [location, node]));
  const find = makeFinder(numbers);
  const bundled = bundledBy(entries);
  const isWorkspace = workspaceTest(packages.get('')?.['workspaces']);
  const leadsToWorkspace = (node: number | undefined): boolean => {
    const target = node === undefined ? undefined : entries[node]?.target;
    return target !== undefined && isWorkspace(target);
  };
  const dependencies = memo((node) => dependenciesOf(entries[node], find));
  const edges = memo((node): readonly number[] => {
    const entry = entries[node];
    if (entry === undefined) return [];
    if (entry.target !== undefined) return toTarget(numbers.get(entry.target), 0);
    return [
      ...dependencies(node).flatMap(({ to, kind }) => toTarget(to, leadsToWorkspace(to) ? WORKSPACE : kind)),
      ...(bundled.get(node) ?? []).flatMap((to) => [to, 0]),
    ];
  });
  return {
    size: entries.length,
    entries,
    edges,
    dependencies,
    isWorkspace,
    at: (location) => numbers.get(location),
  };
}

const targetOf = (value: Fields): string | undefined =>
  value['link'] === true ? textOf(value['resolved']) : undefined;

const toTarget = (to: number | undefined, kind: number): number[] => (to === undefined ? [] : [to, kind]);

/** Kinds in the order in which they win when a name is in several. */
const KINDS: readonly (readonly [string, number])[] = [
  ['devDependencies', DEV],
  ['optionalDependencies', OPTIONAL],
  ['dependencies', 0],
  ['peerDependencies', PEER],
];

type Find = (location: string, name: string) => number | undefined;

function dependenciesOf(entry: NpmEntry | undefined, find: Find): Dependency[] {
  if (entry === undefined) return [];
  const seen = new Set<string>();
  const optionalPeers = fieldsOf(entry.value['peerDependenciesMeta']) ?? {};
  return KINDS.flatMap(([field, kind]) =>
    textPairs(entry.value[field]).flatMap(([name, spec]) => {
      if (seen.has(name)) return [];
      seen.add(name);
      const optional = kind === PEER && fieldsOf(optionalPeers[name])?.['optional'] === true;
      return [{ name, spec, kind: optional ? PEER | OPTIONAL : kind, to: find(entry.location, name) }];
    }),
  );
}

/** Looks in the `node_modules` of a folder and of those above it, as far as the lockfile's entries have any. */
function makeFinder(numbers: ReadonlyMap<string, number>): Find {
  const holders = new Set<string>();
  for (const location of numbers.keys()) {
    const cut = location.lastIndexOf(MODULES);
    if (cut >= 0) holders.add(location.slice(0, cut));
  }
  return (location, name) => {
    for (let folder = location; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
      const prefix = folder === '' ? '' : `${folder}/`;
      if (holders.has(prefix)) {
        const found = numbers.get(`${prefix}${MODULES}${name}`);
        if (found !== undefined) return found;
      }
      if (folder === '') return undefined;
    }
  };
}

/** Entries that came with a package's own archive, by the number of that package. */
function bundledBy(entries: readonly NpmEntry[]): ReadonlyMap<number, readonly number[]> {
  const numbers = new Map(entries.map(({ location }, node) => [location, node]));
  const bundled = new Map<number, number[]>();
  entries.forEach(({ location, value }, node) => {
    const cut = location.lastIndexOf(`/${MODULES}`);
    const owner = value['inBundle'] === true && cut >= 0 ? numbers.get(location.slice(0, cut)) : undefined;
    if (owner !== undefined) bundled.set(owner, [...(bundled.get(owner) ?? []), node]);
  });
  return bundled;
}
