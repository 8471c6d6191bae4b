/** Which packages of a `uv.lock` lead to which. */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { TomlTable } from 'smol-toml';
import { memo } from './memo.ts';
import type { Next } from './walk.ts';

export interface UvPackage {
  readonly name: string;
  readonly version: string | undefined;
  readonly fields: TomlTable;
  /** Folder of a package that is built in place, from the lockfile's folder. */
  readonly folder: string | undefined;
  /** One of the workspace. All its extras and groups are in the lockfile, of others only those that are asked for. */
  readonly member: boolean;
  /** Files and folders of the repository that it comes from, and no workspace. */
  readonly paths: readonly string[];
}

/** A package, or one of its extras. */
export interface UvNode {
  readonly owner: UvPackage;
  readonly extra: string | undefined;
  /** Of what it adds to the text. */
  readonly digest: string;
}

/** Nodes are named by their place in the file, a package before its extras. */
export interface UvGraph {
  /** Everything beside the packages. */
  readonly head: TomlTable;
  readonly nodes: readonly UvNode[];
  readonly next: Next;
  /** Places of what the workspace itself asks for, without a package: groups of a root that is none. */
  readonly loose: readonly number[];
  /** Place of the member in a folder. */
  readonly members: ReadonlyMap<string, number>;
  /** Names of other members under which a member gets packages from elsewhere. */
  strays(member: UvPackage): readonly string[];
}

interface Dependency {
  readonly name: string;
  readonly version: string | undefined;
  /** As text; undefined: there is one package of that name. */
  readonly source: string | undefined;
  readonly extras: readonly string[];
}

/** Takes a parsed file apart. Throws where a package is not of the known shape. */
export function uvGraph(parsed: TomlTable): UvGraph {
  const { package: packages = [], ...head } = parsed;
  const members = new Set(stringsOf(tableOf(head['manifest'])['members']));
  const owners = tablesOf(packages).map((fields) => packageOf(fields, members));
  const nodes = owners.flatMap(nodesOf);
  const find = finderOf(nodes);
  const all = (value: unknown): number[] => dependenciesOf(value).flatMap(find);
  const manifest = tableOf(head['manifest']);
  const next = memo((place) => {
    const { owner, extra } = nodes[place] as UvNode;
    const extras = tableOf(owner.fields['optional-dependencies']);
    if (extra !== undefined) return [...find(plain(owner)), ...all(extras[extra])];
    const more = owner.member ? find({ ...plain(owner), extras: Object.keys(extras) }) : [];
    const groups = Object.values(tableOf(owner.fields['dev-dependencies'])).flatMap(all);
    return [...all(owner.fields['dependencies']), ...more, ...groups];
  });
  return {
    head,
    nodes,
    next,
    loose: [
      ...all(manifest['requirements']),
      ...Object.values(tableOf(manifest['dependency-groups'])).flatMap(all),
    ],
    members: new Map(
      nodes.flatMap(({ owner, extra }, place) =>
        owner.member && extra === undefined ? [[owner.folder ?? '.', place] as const] : [],
      ),
    ),
    strays(owner) {
      if (!owner.member) return [];
      const extras = Object.keys(tableOf(owner.fields['optional-dependencies']));
      const others = find({ ...plain(owner), extras })
        .flatMap(next)
        .map((place) => (nodes[place] as UvNode).owner);
      return [
        ...new Set(others.filter(({ name, member }) => !member && members.has(name)).map(({ name }) => name)),
      ];
    },
  };
}

const plain = ({ name, version, fields }: UvPackage): Dependency => ({
  name,
  version,
  source: JSON.stringify(fields['source']),
  extras: [],
});

function packageOf(fields: TomlTable, members: ReadonlySet<string>): UvPackage {
  const { name, version } = fields;
  const source = tableOf(fields['source']);
  if (typeof name !== 'string' || Object.keys(source).length === 0)
    throw new Error(`a package has no name or no source: ${JSON.stringify(fields).slice(0, 80)}`);
  const folder = stringsOf([source['editable'] ?? source['virtual'] ?? source['directory']]).map(normal)[0];
  const member = folder !== undefined && (members.has(name) || folder === '.');
  return {
    name,
    version: typeof version === 'string' ? version : undefined,
    fields,
    folder,
    member,
    paths: member ? [] : [...(folder === undefined ? [] : [folder]), ...filesOf(source, fields)],
  };
}

/** An archive at a path, or those of an index that is a folder. */
function filesOf(source: TomlTable, fields: TomlTable): readonly string[] {
  const { path, registry } = source;
  if (typeof path === 'string') return [normal(path)];
  if (typeof registry !== 'string') return [];
  const archives = [...tablesOf(fields['wheels']), tableOf(fields['sdist'])].map((one) => one['path']);
  return stringsOf(archives).map((file) => posix.join(registry, file));
}

const normal = (path: string): string => posix.normalize(path).replace(/\/$/, '');

function nodesOf(owner: UvPackage): UvNode[] {
  const { 'optional-dependencies': extras, ...rest } = owner.fields;
  const digestOf = (value: unknown): string =>
    createHash('sha256')
      .update(`${owner.name}\n${JSON.stringify(value)}`)
      .digest('base64');
  return [
    { owner, extra: undefined, digest: digestOf(rest) },
    ...Object.entries(tableOf(extras)).map(([extra, value]) => ({
      owner,
      extra,
      digest: digestOf([extra, value]),
    })),
  ];
}

/** Finds the places of a package and of its extras. Where a name is not enough, all of that name are taken. */
function finderOf(nodes: readonly UvNode[]): (dependency: Dependency) => number[] {
  const byName = new Map<string, number[]>();
  for (const [place, { owner }] of nodes.entries())
    byName.set(owner.name, [...(byName.get(owner.name) ?? []), place]);
  return ({ name, version, source, extras }) =>
    (byName.get(name) ?? []).filter((place) => {
      const { owner, extra } = nodes[place] as UvNode;
      return (
        (version === undefined || version === owner.version) &&
        (source === undefined || source === JSON.stringify(owner.fields['source'])) &&
        (extra === undefined || extras.includes(extra))
      );
    });
}

const dependenciesOf = (value: unknown): readonly Dependency[] =>
  tablesOf(value).flatMap(({ name, version, source, extra, extras }) =>
    typeof name === 'string'
      ? [
          {
            name,
            version: typeof version === 'string' ? version : undefined,
            source: source === undefined ? undefined : JSON.stringify(source),
            extras: [...stringsOf(extra), ...stringsOf(extras)],
          },
        ]
      : [],
  );

/** A table, or an empty one in place of anything else. */
export const tableOf = (value: unknown): TomlTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as TomlTable) : {};

const tablesOf = (value: unknown): readonly TomlTable[] => (Array.isArray(value) ? value.map(tableOf) : []);

/** The texts of a list. */
export const stringsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
