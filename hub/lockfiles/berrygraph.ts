/** Which entries of a `yarn.lock` of yarn 2 and later lead to which. */
import { createHash } from 'node:crypto';
import {
  archiveOf,
  isOpen,
  isOwnPatch,
  namesOf,
  ownPatchesOf,
  parseDescriptor,
  parseRange,
  patched,
  pathsOf,
  SEPARATOR,
  type Descriptor,
} from './berryranges.ts';
import { extended, replaced, stringsOf, tableOf, type BerrySettings } from './berrysettings.ts';
import { memo } from './memo.ts';
import { reach, type Next } from './walk.ts';

/** One package, or one workspace. */
export interface Entry {
  readonly name: string;
  readonly version: string;
  /** What it goes by in settings: a workspace has no version in a lockfile. */
  readonly names: readonly string[];
  /** Name of its archive in yarn's cache; undefined: it has none. */
  readonly archive: string | undefined;
  /** The locator. */
  readonly resolution: string;
  /** Folder of a workspace, from the lockfile's folder. */
  readonly workspace: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly dependencies: readonly Descriptor[];
  /** Its text by the line of its descriptors; filled when asked. */
  readonly texts: Map<string, string>;
}

/** One descriptor of an entry. */
export interface Node {
  readonly descriptor: string;
  readonly entry: Entry;
  /** Of the descriptor and of what the entry says. */
  readonly digest: string;
  /** Files and folders of the repository that the descriptor names. */
  readonly paths: readonly string[];
}

/** Nodes are named by their place in the order of the descriptors' texts. */
export interface BerryLock {
  readonly nodes: readonly Node[];
  readonly places: ReadonlyMap<string, number>;
  /** The node by which the project itself asks for a workspace, by folder. */
  readonly workspaces: ReadonlyMap<string, number>;
  /** Folder of a workspace by its name. */
  readonly folders: ReadonlyMap<string, string>;
  readonly metadata: unknown;
}

export interface BerryGraph {
  readonly lock: BerryLock;
  readonly settings: BerrySettings;
  /**
   * Whether the edges account for all of the lockfile. Where they do not, some package has dependencies that neither
   * it nor a setting names: those that yarn or one of its plugins adds. Nothing can be cut then.
   */
  readonly complete: boolean;
  readonly next: Next;
  /** Dependencies of a workspace that have the name of another workspace and lead to a package elsewhere. */
  strays(folder: string): readonly Descriptor[];
}

/** Takes a parsed file apart. Throws where an entry is not of the known shape. */
export function berryLock(parsed: Readonly<Record<string, unknown>>): BerryLock {
  const nodes: Node[] = [];
  for (const [key, value] of Object.entries(parsed)) {
    if (key === '__metadata') continue;
    const entry = entryOf(key, tableOf(value));
    const text = JSON.stringify(entry.fields);
    for (const descriptor of key.split(SEPARATOR)) {
      const digest = createHash('sha256').update(`${descriptor}\n${text}`).digest('base64');
      nodes.push({ descriptor, entry, digest, paths: pathsOf(parseDescriptor(descriptor)) });
    }
  }
  nodes.sort((a, b) => (a.descriptor < b.descriptor ? -1 : 1));
  const places = new Map(nodes.map(({ descriptor }, place) => [descriptor, place]));
  const own = nodes.flatMap(({ entry }) => (entry.workspace === undefined ? [] : [entry]));
  return {
    nodes,
    places,
    workspaces: new Map(
      own.map(({ workspace = '', resolution }) => [workspace, placeOf(places, resolution)]),
    ),
    folders: new Map(own.map(({ name, workspace = '' }) => [name, workspace])),
    metadata: parsed['__metadata'],
  };
}

function placeOf(places: ReadonlyMap<string, number>, resolution: string): number {
  const place = places.get(resolution);
  if (place === undefined) throw new Error(`${resolution} is not among its own descriptors`);
  return place;
}

function entryOf(key: string, fields: Readonly<Record<string, unknown>>): Entry {
  const { resolution, version } = fields;
  if (typeof resolution !== 'string' || typeof version !== 'string')
    throw new Error(`“${key}” has no resolution or no version`);
  const { name, range } = parseDescriptor(resolution);
  const { protocol, source } = parseRange(range);
  const checksum = fields['checksum'];
  return {
    name,
    version,
    names: protocol === 'workspace:' ? [name] : [name, `${name}@${version}`],
    archive: typeof checksum === 'string' ? archiveOf(resolution, checksum) : undefined,
    resolution,
    workspace: protocol === 'workspace:' ? source : undefined,
    fields,
    dependencies: stringsOf(fields['dependencies']),
    texts: new Map(),
  };
}

/** The edges of a lockfile under the settings beside it. */
export function berryGraph(lock: BerryLock, settings: BerrySettings): BerryGraph {
  const finder = finderOf(lock, settings);
  const known = new Map<Entry, readonly Edge[]>();
  const edges = (entry: Entry): readonly Edge[] => {
    const found = known.get(entry) ?? finder.edges(entry);
    known.set(entry, found);
    return found;
  };
  const next = memo((place) => {
    const { descriptor, entry } = lock.nodes[place] as Node;
    const own = entry.workspace === undefined ? undefined : lock.workspaces.get(entry.workspace);
    const others = [finder.source(descriptor), own].filter((one) => one !== undefined);
    return [...edges(entry).flatMap(({ places }) => places), ...others];
  });
  const all = reach(next, lock.workspaces.values());
  const answered = lock.nodes.every(({ entry }) => edges(entry).every(({ places }) => places.length > 0));
  return {
    lock,
    settings,
    complete: answered && all.size === lock.nodes.length,
    next,
    strays: (folder) => {
      const place = lock.workspaces.get(folder);
      return place === undefined ? [] : straysOf(lock, edges((lock.nodes[place] as Node).entry));
    },
  };
}

/** A dependency with the places that it leads to; none: the lockfile does not know it. */
interface Edge {
  readonly dependency: Descriptor;
  readonly places: readonly number[];
}

interface Finder {
  edges(entry: Entry): readonly Edge[];
  /** The package below a patch. */
  source(descriptor: string): number | undefined;
}

function finderOf(lock: BerryLock, settings: BerrySettings): Finder {
  const ownPatches = ownPatchesIn(lock);
  const root = lock.nodes[lock.workspaces.get('.') ?? -1]?.entry.resolution;
  const find = (names: readonly string[]): readonly number[] => {
    for (const name of names) {
      const place = lock.places.get(name);
      if (place !== undefined) return [place];
    }
    return [];
  };
  const roots = root === undefined ? [] : [root];
  return {
    edges: (entry) =>
      dependenciesOf(entry, settings).map((dependency) => {
        const other = replaced(settings, dependency, entry.resolution);
        const patch = ownPatchesOf(other ?? dependency).flatMap((start) => ownPatches.get(start) ?? []);
        const writers = other === undefined ? [entry.resolution] : roots;
        return { dependency, places: patch.length > 0 ? patch : find(namesOf(other ?? dependency, writers)) };
      }),
    source: (descriptor) => {
      const below = patched(parseDescriptor(descriptor));
      return below === undefined ? undefined : find(namesOf(below, roots))[0];
    },
  };
}

/** Extensions add only what a package does not name itself. */
function dependenciesOf(entry: Entry, settings: BerrySettings): readonly Descriptor[] {
  if (settings.extensions.length === 0) return entry.dependencies;
  const own = new Set(entry.dependencies.map(({ name }) => name));
  const more = extended(settings, entry.name, entry.version).filter(({ name }) => !own.has(name));
  return [...entry.dependencies, ...more];
}

/** Patches that yarn puts on some packages by itself, by how their descriptors begin. */
function ownPatchesIn({ nodes }: BerryLock): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  for (const [place, { descriptor }] of nodes.entries()) {
    if (!isOwnPatch(descriptor)) continue;
    const start = descriptor.slice(0, descriptor.indexOf('#') + 1);
    found.set(start, [...(found.get(start) ?? []), place]);
  }
  return found;
}

const straysOf = ({ nodes, folders }: BerryLock, edges: readonly Edge[]): readonly Descriptor[] =>
  edges.flatMap(({ dependency, places }) =>
    folders.has(dependency.name) &&
    places.some((place) => {
      const { descriptor, entry } = nodes[place] as Node;
      return entry.workspace === undefined && isOpen(parseDescriptor(descriptor).range);
    })
      ? [dependency]
      : [],
  );
