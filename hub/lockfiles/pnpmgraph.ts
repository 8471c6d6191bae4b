/** The importers, packages and snapshots of a pnpm lockfile as a graph. */
import { posix } from 'node:path';
import { fieldsOf, textOf, textPairs, type Fields } from './json.ts';
import { memo } from './memo.ts';
import { resolutionsOf, type PnpmDocument, type PnpmResolution } from './pnpmdocument.ts';
import { DEV, OPTIONAL, WORKSPACE, type Graph } from './reach.ts';

export type PnpmSection = 'importers' | 'packages' | 'snapshots';

export interface PnpmEntry {
  readonly section: PnpmSection;
  readonly key: string;
  readonly value: Fields;
}

export interface PnpmGraph extends Graph {
  /** By section, then by key in the order of code units. */
  readonly entries: readonly PnpmEntry[];
  importer(folder: string): number | undefined;
  /** Files and folders that an entry itself names, besides importers. */
  paths(node: number): readonly string[];
}

const SECTIONS: readonly PnpmSection[] = ['importers', 'packages', 'snapshots'];

/** Numbers the entries and finds what each leads to. */
export function pnpmGraph(document: PnpmDocument): PnpmGraph {
  const entries = SECTIONS.flatMap((section) =>
    Object.entries(document[section])
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]): PnpmEntry => ({ section, key, value: value as Fields })),
  );
  const numbers = new Map(entries.map(({ section, key }, node) => [`${section} ${key}`, node]));
  const find = (section: PnpmSection, key: string): number | undefined => numbers.get(`${section} ${key}`);
  const context: Context = { version: document.version, find };
  const leads = memo((node) => leadsOf(entries[node], context));
  return {
    size: entries.length,
    entries,
    edges: (node) => leads(node).edges,
    paths: (node) => leads(node).paths,
    importer: (folder) => find('importers', folder),
  };
}

interface Context {
  readonly version: 6 | 9;
  find(section: PnpmSection, key: string): number | undefined;
}

interface Leads {
  readonly edges: number[];
  readonly paths: string[];
}

/** Sections of dependencies, those of which a name that is in several is taken first. */
const KINDS: readonly (readonly [string, number])[] = [
  ['dependencies', 0],
  ['devDependencies', DEV],
  ['optionalDependencies', OPTIONAL],
];

/** Dependencies of an importer or a snapshot with the kinds of their edges. */
export const dependenciesOf = ({
  section,
  value,
}: PnpmEntry): readonly (PnpmResolution & { readonly kind: number })[] =>
  KINDS.flatMap(([field, kind]) =>
    (section === 'importers' ? resolutionsOf(value[field]) : snapshotPairs(value[field])).map((one) => ({
      ...one,
      kind,
    })),
  );

const snapshotPairs = (value: unknown): readonly PnpmResolution[] =>
  textPairs(value).map(([name, version]) => ({ name, specifier: '', version }));

function leadsOf(entry: PnpmEntry | undefined, context: Context): Leads {
  const leads: Leads = { edges: [], paths: [] };
  if (entry === undefined) return leads;
  const from = entry.section === 'importers' ? entry.key : '.';
  for (const { name, version, kind } of dependenciesOf(entry)) {
    if (version.startsWith(LINK)) leadToFolder(leads, linkTarget(from, version), context);
    else leadTo(leads, snapshotOf(name, version, context), kind);
  }
  if (entry.section === 'snapshots')
    leadTo(leads, context.find('packages', entry.key.slice(0, suffixStart(entry.key))), 0);
  if (entry.section === 'packages') leadToSource(leads, entry.value, context);
  return leads;
}

const LINK = 'link:';

/** Folder that a `link:` of an importer or, from the root, of a snapshot leads to. */
export const linkTarget = (from: string, version: string): string =>
  posix.join(from, version.slice(LINK.length)).replace(/\/$/, '');

function leadTo({ edges }: Leads, node: number | undefined, kind: number): void {
  if (node !== undefined) edges.push(node, kind);
}

function leadToFolder(leads: Leads, folder: string, { find }: Context): void {
  const importer = find('importers', folder);
  if (importer === undefined) leads.paths.push(folder);
  else leadTo(leads, importer, WORKSPACE);
}

/** A package of a folder or an archive in the repository. A folder may be that of an injected workspace. */
function leadToSource(leads: Leads, value: Fields, context: Context): void {
  const resolution = fieldsOf(value['resolution']) ?? {};
  const directory = textOf(resolution['directory']);
  const tarball = textOf(resolution['tarball']);
  if (directory !== undefined) leadToFolder(leads, posix.normalize(directory), context);
  if (tarball?.startsWith('file:') === true) leads.paths.push(posix.normalize(tarball.slice('file:'.length)));
}

/** The snapshot that a version of a dependency names: a key, or the version of a package of the dependency's name. */
function snapshotOf(name: string, version: string, { version: format, find }: Context): number | undefined {
  if (format === 6) {
    const whole = version.startsWith('file:') || version.slice(0, suffixStart(version)).includes('/');
    return find('packages', whole ? version : `/${name}@${version}`);
  }
  const front = version.slice(0, suffixStart(version));
  const at = front.indexOf('@');
  const colon = front.indexOf(':');
  const whole = at >= 0 && (colon < 0 || at < colon);
  return find('snapshots', whole ? version : `${name}@${version}`);
}

/** Where the peers and the patch begin in a key: a run of balanced parentheses at its end. */
export function suffixStart(key: string): number {
  let depth = 0;
  let start = key.length;
  for (let at = key.length - 1; at >= 0; at--) {
    const char = key.charAt(at);
    if (char === ')') depth += 1;
    else if (char === '(') depth -= 1;
    else if (depth === 0) break;
    if (depth === 0) start = at;
  }
  return depth === 0 ? start : key.length;
}
