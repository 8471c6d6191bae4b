/** package-lock.json and npm-shrinkwrap.json of lockfile versions 2 and 3. */
import { sha256 } from '../../shared/canonical.ts';
import { makeClosures, type Closures } from './closures.ts';
import type { Parser } from '../inputs/view.ts';
import { fieldsOf, parseFields, type Fields } from './json.ts';
import type { Lockfile, ReadLockfile, Slice, Workspaces } from './lockfile.ts';
import { npmGraph, type NpmEntry, type NpmGraph } from './npmgraph.ts';
import { memo, once } from './memo.ts';
import { foundIn, isFound, namesIn, npmProblems } from './npmfound.ts';
import { flagsOf, indented, npmText, withFlags, withoutFlags } from './npmtext.ts';
import { eachReached } from './reach.ts';
import { cutWorkspaces } from './workspaces.ts';

const VERSIONS: readonly unknown[] = [2, 3];

/**
 * Reads `package-lock.json` and `npm-shrinkwrap.json`. The `dependencies` of version 2 are left out of what is cut from it: npm
 * reads them only where `packages` is missing.
 */
export const npmLock: Parser<ReadLockfile> = { name: 'package-lock.json', parse: read };

function read(content: Buffer): ReadLockfile {
  const parsed = parseFields(content.toString('utf8'));
  if (parsed === undefined) return { kind: 'whole', why: 'it is not a JSON object' };
  const version = parsed['lockfileVersion'];
  if (!VERSIONS.includes(version))
    return { kind: 'whole', why: `its lockfileVersion is ${JSON.stringify(version)}, not 2 or 3` };
  const packages = packagesOf(parsed['packages']);
  if (packages === undefined) return { kind: 'whole', why: 'its packages are not what npm writes' };
  const { packages: _packages, dependencies: _dependencies, ...head } = parsed;
  return { kind: 'lockfile', lockfile: lockfileOf(head, npmGraph(packages)) };
}

function packagesOf(value: unknown): ReadonlyMap<string, Fields> | undefined {
  const packages = new Map<string, Fields>();
  for (const [location, entry] of Object.entries(fieldsOf(value) ?? {})) {
    const fields = fieldsOf(entry);
    if (fields === undefined) return undefined;
    packages.set(location, fields);
  }
  return packages.has('') ? packages : undefined;
}

/** What all slices of a lockfile share. */
interface Shared {
  readonly head: Fields;
  readonly graph: NpmGraph;
  /** An entry without its flags. */
  textOf(node: number): string;
  /** Links at the top by the folder that they lead to. */
  readonly links: ReadonlyMap<string, readonly number[]>;
  readonly closures: Closures;
  /** What the root reaches of what is to be found. */
  readonly found: readonly number[];
  /** Hash of all that the root reaches and of what stands before the packages. */
  readonly key: string;
}

const ROOT = 0;

function lockfileOf(head: Fields, graph: NpmGraph): Lockfile {
  const shared = once(() => sharedOf(head, graph));
  return { slice: (folder, workspaces, also = []) => sliceOf(shared(), [folder, ...also], workspaces) };
}

function sharedOf(head: Fields, graph: NpmGraph): Shared {
  const textOf = memo((node) => indented(withoutFlags(graph.entries[node]?.value ?? {})));
  const closures = makeClosures({
    ...graph,
    text: (node) =>
      `${graph.entries[node]?.location ?? ''}\n${node === ROOT ? rootText(graph, []) : textOf(node)}`,
    isMarked: (node) => isFound(graph.entries[node]),
  });
  return {
    head,
    graph,
    textOf,
    links: topLinks(graph.entries),
    closures,
    found: closures.marked([ROOT]),
    key: sha256(JSON.stringify([head, closures.hash(ROOT)])),
  };
}

function topLinks(entries: readonly NpmEntry[]): ReadonlyMap<string, readonly number[]> {
  const links = new Map<string, number[]>();
  entries.forEach(({ location, target }, node) => {
    if (target === undefined || location.lastIndexOf('node_modules/') !== 0) return;
    links.set(target, [...(links.get(target) ?? []), node]);
  });
  return links;
}

function sliceOf(shared: Shared, folders: readonly string[], workspaces: Workspaces): Slice {
  const { graph, closures } = shared;
  const wanted = folders.filter((folder) => folder !== '.');
  const starts = wanted.flatMap((folder) => [
    ...(shared.links.get(folder) ?? []),
    ...[graph.at(folder)].filter((node) => node !== undefined),
  ]);
  const found = foundIn(graph, [...new Set([...shared.found, ...closures.marked(starts)])]);
  const packages = once(() => namesIn(graph, [ROOT, ...starts]));
  const kept = [...new Set([...wanted, ...found.workspaces])].sort();
  return {
    text: () => textFrom(shared, [ROOT, ...starts], rootText(graph, kept)),
    key: sha256(JSON.stringify([shared.key, workspacesField(graph, kept), starts.map(closures.hash)])),
    workspaces: found.workspaces.filter((workspace) => workspace !== folders[0]),
    paths: found.paths.filter((path) => !wanted.includes(path)),
    get packages() {
      return packages();
    },
    problems: [
      ...wanted.filter((folder) => graph.at(folder) === undefined).map(notInLockfile),
      ...npmProblems(graph, found.importers, workspaces),
    ],
  };
}

const notInLockfile = (folder: string): string =>
  `package-lock.json has no workspace ${folder}: run npm install in ${folder} and commit the package-lock.json that this writes`;

const workspacesField = (graph: NpmGraph, kept: readonly string[]): unknown =>
  cutWorkspaces(graph.entries[ROOT]?.value['workspaces'], kept);

/** The root's entry, which names the workspaces. */
function rootText(graph: NpmGraph, kept: readonly string[]): string {
  const { workspaces: _workspaces, ...rest } = withoutFlags(graph.entries[ROOT]?.value ?? {});
  const workspaces = workspacesField(graph, kept);
  return indented(workspaces === undefined ? rest : { ...rest, workspaces });
}

function textFrom({ head, graph, textOf }: Shared, starts: readonly number[], root: string): string {
  const packages: (readonly [string, string])[] = [];
  eachReached(graph, starts, (node, state) => {
    const { location = '', target } = graph.entries[node] ?? {};
    const flags = target === undefined ? flagsOf(state) : 0;
    packages.push([location, location === '' ? root : withFlags(textOf(node), flags)]);
  });
  return npmText(head, packages);
}
