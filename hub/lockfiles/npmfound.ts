/** What the entries of a slice of an npm lockfile lead to. */
import { posix } from 'node:path';
import { textOf } from './json.ts';
import type { Workspaces } from './lockfile.ts';
import { eachReached } from './reach.ts';
import type { NpmEntry, NpmGraph } from './npmgraph.ts';

const MODULES = 'node_modules/';

const isImporter = ({ location, target }: NpmEntry): boolean =>
  target === undefined && !location.includes(MODULES);

/** Folders of workspaces, and files and other folders that packages come from; each sorted. */
export interface NpmFound {
  readonly workspaces: readonly string[];
  readonly paths: readonly string[];
  /** Nodes of the root, of workspaces and of other folders. */
  readonly importers: readonly number[];
}

/** Sorts out what `isFound` holds of. */
export function foundIn(graph: NpmGraph, nodes: readonly number[]): NpmFound {
  const workspaces = new Set<string>();
  const paths = new Set<string>();
  const importers: number[] = [];
  for (const node of nodes) {
    const entry = graph.entries[node];
    if (entry === undefined) continue;
    if (isImporter(entry)) importers.push(node);
    const { location, target, value } = entry;
    const folder = target ?? (isImporter(entry) && location !== '' ? location : undefined);
    if (folder !== undefined) (graph.isWorkspace(folder) ? workspaces : paths).add(folder);
    const resolved = target === undefined ? textOf(value['resolved']) : undefined;
    if (resolved?.startsWith('file:') === true)
      paths.add(posix.normalize(resolved.slice('file:'.length).replaceAll('%23', '#')));
  }
  return { workspaces: [...workspaces].sort(), paths: [...paths].sort(), importers };
}

/** Whether something is to be found at an entry. */
export const isFound = (entry: NpmEntry | undefined): boolean =>
  entry !== undefined &&
  (entry.target !== undefined ||
    isImporter(entry) ||
    textOf(entry.value['resolved'])?.startsWith('file:') === true);

/**
 * Names in `node_modules` and the packages' own, each also with its version, and names of dependencies that resolve to
 * nothing: an override may be why.
 */
export function namesIn(graph: NpmGraph, starts: readonly number[]): ReadonlySet<string> {
  const names = new Set<string>();
  eachReached(graph, starts, (node) => {
    const entry = graph.entries[node];
    const version = textOf(entry?.value['version']);
    const cut = entry?.location.lastIndexOf(MODULES) ?? -1;
    const installed = cut < 0 ? undefined : entry?.location.slice(cut + MODULES.length);
    for (const name of [installed, textOf(entry?.value['name'])]) {
      if (name === undefined) continue;
      names.add(name);
      if (version !== undefined) names.add(`${name}@${version}`);
    }
    for (const { name } of graph.dependencies(node)) names.add(name);
  });
  return names;
}

/** Dependencies that do not lead to the workspace that they name. */
export function npmProblems(
  graph: NpmGraph,
  importers: readonly number[],
  workspaces: Workspaces,
): readonly string[] {
  const problems = new Set<string>();
  for (const node of importers) {
    const entry = graph.entries[node];
    if (entry === undefined) continue;
    for (const { name, spec, to } of graph.dependencies(node)) {
      const target = to === undefined ? undefined : graph.entries[to]?.target;
      const problem = dependencyProblem({ name, spec, target, from: entry.location }, graph, workspaces);
      if (problem !== undefined) problems.add(problem);
    }
  }
  return [...problems].sort();
}

interface Named {
  readonly name: string;
  readonly spec: string;
  /** Folder that it is a link to. */
  readonly target: string | undefined;
  readonly from: string;
}

function dependencyProblem(named: Named, graph: NpmGraph, workspaces: Workspaces): string | undefined {
  const { name, spec, target } = named;
  const from = named.from === '' ? 'the root' : named.from;
  const folder = workspaces.folderOf(name);
  if (folder !== undefined && folder !== target)
    return `${from} depends on ${name}@${spec}, and ${name} is the workspace ${folder}, but package-lock.json does not link to it: make its version one that ${spec} matches, or rename one of the two, then run npm install and commit package-lock.json`;
  if (target !== undefined && graph.isWorkspace(target) && workspaces.manifest(target) === undefined)
    return `${from} depends on the workspace ${name}, but there is no ${target}/package.json: add it, or remove the dependency, then run npm install and commit package-lock.json`;
  return undefined;
}
