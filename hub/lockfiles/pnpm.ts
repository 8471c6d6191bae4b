/** pnpm-lock.yaml of lockfile versions 6 and 9. */
import { sha256 } from '../../shared/canonical.ts';
import type { Parser } from '../inputs/view.ts';
import { makeClosures, type Closures } from './closures.ts';
import { changeFields, fieldsOf, type Fields } from './json.ts';
import type { Lockfile, ReadLockfile, Slice, Workspaces } from './lockfile.ts';
import { memo, once } from './memo.ts';
import { entryYaml, parsePnpm, yamlOf, type PnpmDocument } from './pnpmdocument.ts';
import { catalogUses, declaredNames, namesReached, pnpmNames, pnpmProblems, useOf } from './pnpmfound.ts';
import { pnpmGraph, type PnpmEntry, type PnpmGraph, type PnpmSection } from './pnpmgraph.ts';
import { eachReached, NOT_DEV, NOT_OPTIONAL, OVER_DEV } from './reach.ts';
import { cutPatches, cutRules } from './rules.ts';

/** Reads `pnpm-lock.yaml`. */
export const pnpmLock: Parser<ReadLockfile> = { name: 'pnpm-lock.yaml', parse: read };

function read(content: Buffer): ReadLockfile {
  const document = parsePnpm(content.toString('utf8'));
  if (typeof document === 'string') return { kind: 'whole', why: document };
  const shared = once(() => sharedOf(document));
  const lockfile: Lockfile = {
    slice: (folder, workspaces, also = []) => sliceOf(shared(), [folder, ...also], workspaces),
  };
  return { kind: 'lockfile', lockfile };
}

/** What all slices of a lockfile share. */
interface Shared {
  readonly document: PnpmDocument;
  readonly graph: PnpmGraph;
  readonly closures: Closures;
  /** Entries of catalogs that no importer uses: something else does, so they go by name. */
  readonly otherCatalogs: ReadonlySet<string>;
  /** Hash of what stands before the sections, but for catalogs and times. */
  readonly key: string;
  /** An entry without what depends on how it is reached. */
  textOf(node: number): string;
  namesOf(node: number): readonly string[];
}

function sharedOf(document: PnpmDocument): Shared {
  const graph = pnpmGraph(document);
  const { catalogs, time, ...head } = document.head;
  const textOf = memo((node) => {
    const entry = graph.entries[node];
    return entry === undefined ? '' : entryYaml(entry.key, withoutFlags(entry));
  });
  // JSON is made faster than YAML, and says as much.
  const hashed = (entry: PnpmEntry): string =>
    JSON.stringify([
      ...[entry.section, entry.key, withoutFlags(entry)],
      entry.section === 'packages' ? fieldsOf(time)?.[entry.key] : null,
    ]);
  const closures = makeClosures({
    ...graph,
    text: (node) =>
      graph.entries
        .slice(node, node + 1)
        .map(hashed)
        .join(),
    isMarked: (node) => graph.entries[node]?.section === 'importers' || graph.paths(node).length > 0,
  });
  const used = catalogUses(graph.entries.filter(({ section }) => section === 'importers'));
  const otherCatalogs = new Set(catalogEntries(catalogs).filter((use) => !used.has(use)));
  const key = sha256(JSON.stringify([document.before, head]));
  const namesOf = memo((node) => graph.entries.slice(node, node + 1).flatMap(pnpmNames));
  return { document, graph, closures, otherCatalogs, key, textOf, namesOf };
}

const catalogEntries = (catalogs: unknown): readonly string[] =>
  Object.entries(fieldsOf(catalogs) ?? {}).flatMap(([catalog, entries]) =>
    Object.keys(fieldsOf(entries) ?? {}).map((name) => useOf(catalog, name)),
  );

function sliceOf(shared: Shared, folders: readonly string[], workspaces: Workspaces): Slice {
  const { graph, closures, document } = shared;
  const starts = [...new Set(['.', ...folders])].map(graph.importer).filter((node) => node !== undefined);
  const marked = closures.marked(starts);
  const importers = marked
    .flatMap((node) => graph.entries[node] ?? [])
    .filter(({ section }) => section === 'importers');
  const catalogs = catalogUses(importers);
  const declared = once(() => declaredNames(importers, document.head, workspaces));
  const packages = once(() => {
    const names = namesReached(graph, starts, shared.namesOf);
    for (const name of declared()) names.add(name);
    return names;
  });
  const key = once(() => {
    const kept = cutCatalogs(
      document.head['catalogs'],
      (use) => catalogs.has(use) || shared.otherCatalogs.has(use),
    );
    return sha256(JSON.stringify([shared.key, kept, declared(), starts.map(closures.hash)]));
  });
  return {
    text: () => textFrom(shared, starts, yamlOf(cutHead(shared, packages(), catalogs))),
    get key() {
      return key();
    },
    workspaces: importers.map((one) => one.key).filter((one) => one !== '.' && one !== folders[0]),
    paths: [...new Set(marked.flatMap(graph.paths))].sort(),
    get packages() {
      return packages();
    },
    catalogs,
    problems: [
      ...folders.filter((folder) => graph.importer(folder) === undefined).map(notInLockfile),
      ...pnpmProblems(importers, workspaces),
    ],
  };
}

const notInLockfile = (folder: string): string =>
  `pnpm-lock.yaml has no importer ${folder}: run pnpm install and commit pnpm-lock.yaml`;

function cutHead(
  { document, otherCatalogs }: Shared,
  names: ReadonlySet<string>,
  used: ReadonlySet<string>,
): Fields {
  return changeFields(document.head, (field, value) => {
    switch (field) {
      case 'overrides':
        return cutRules(value, names);
      case 'patchedDependencies':
        return cutPatches(value, names);
      case 'catalogs':
        return cutCatalogs(
          value,
          (use, name) => used.has(use) || (otherCatalogs.has(use) && names.has(name)),
        );
      case 'time':
        return cutTimes(value, names);
      default:
        return value;
    }
  });
}

/** The entries to be kept of a map of catalogs; undefined when none is. */
export function cutCatalogs(catalogs: unknown, keep: (use: string, name: string) => boolean): unknown {
  const fields = fieldsOf(catalogs);
  if (fields === undefined) return catalogs;
  const kept = changeFields(fields, (catalog, entries) => {
    const some = changeFields(fieldsOf(entries) ?? {}, (name, entry) =>
      keep(useOf(catalog, name), name) ? entry : undefined,
    );
    return Object.keys(some).length === 0 ? undefined : some;
  });
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** When packages were published, by `name@version`, in older files `/name@version`. */
const cutTimes = (value: unknown, names: ReadonlySet<string>): unknown => {
  const fields = fieldsOf(value);
  if (fields === undefined) return value;
  return changeFields(fields, (key, time) =>
    names.has(key.startsWith('/') ? key.slice(1) : key) ? time : undefined,
  );
};

/** `optional`, and in version 6 `dev`, depend on the other importers, so they are made anew. */
const withoutFlags = ({ section, value }: PnpmEntry): Fields =>
  section === 'importers'
    ? value
    : changeFields(value, (name, field) => (FLAGS.includes(name) ? undefined : field));

const FLAGS = ['optional', 'dev'];

/** The fields that say how a package is reached, as lines of its entry. */
function flagLines(version: 6 | 9, section: PnpmSection, state: number): readonly string[] {
  if (section !== (version === 6 ? 'packages' : 'snapshots')) return [];
  const optional = (state & NOT_OPTIONAL) === 0 ? ['    optional: true'] : [];
  if (version === 9) return optional;
  if ((state & NOT_DEV) === 0) return ['    dev: true', ...optional];
  return [...((state & OVER_DEV) === 0 ? ['    dev: false'] : []), ...optional];
}

function textFrom({ document, graph, textOf }: Shared, starts: readonly number[], head: string): string {
  const sections: Record<PnpmSection, string[]> = { importers: [], packages: [], snapshots: [] };
  eachReached(graph, starts, (node, state) => {
    const section = graph.entries[node]?.section ?? 'packages';
    sections[section].push(withLines(textOf(node), flagLines(document.version, section, state)));
  });
  const written = Object.entries(sections).flatMap(([section, entries]) =>
    entries.length === 0 ? [] : [`${section}:\n${entries.join('')}`],
  );
  return `${document.before}${head}${written.join('')}`;
}

/** An entry with more lines; one without fields is written `{}`. */
function withLines(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return text;
  const bare = text.indexOf('\n') === text.length - 1 && text.endsWith(EMPTY);
  const open = bare ? `${text.slice(0, -EMPTY.length)}\n` : text;
  return `${open}${lines.join('\n')}\n`;
}

const EMPTY = ' {}\n';
