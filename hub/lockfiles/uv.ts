/**
 * `uv.lock`, cut so that `uv sync --frozen` installs it and `uv lock --check` finds nothing to change. It names the
 * members of the workspace with their folders, so that no manifest has to be read.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { parse, stringify, type TomlTable } from 'smol-toml';
import type { Parser } from '../inputs/view.ts';
import type { Lockfile, ReadLockfile, Slice } from './lockfile.ts';
import { inOrder, reach } from './walk.ts';
import { stringsOf, tableOf, uvGraph, type UvGraph, type UvNode, type UvPackage } from './uvgraph.ts';

/** Of uv 0.4 to 0.13: later revisions of version 1 may know edges that are not known here. Tried with 5. */
const LAST_REVISION = 5;

/** Reads `uv.lock`. */
export const uvLock: Parser<ReadLockfile> = { name: 'uv.lock', parse: read };

function read(content: Buffer): ReadLockfile {
  try {
    const parsed = parse(content.toString('utf8'));
    const { version, revision = 0 } = parsed;
    if (version !== 1 || typeof revision !== 'number' || revision > LAST_REVISION)
      return {
        kind: 'whole',
        why: `uv.lock is not of version 1 with a revision up to ${LAST_REVISION}`,
      };
    return { kind: 'lockfile', lockfile: lockfileOf(uvGraph(parsed)) };
  } catch (error) {
    return { kind: 'whole', why: `uv.lock cannot be read: ${(error as Error).message}` };
  }
}

function lockfileOf(graph: UvGraph): Lockfile {
  const texts = new Map<string, string>();
  return {
    slice(folder, _, also = []) {
      const own = [folder, ...also];
      const linked = reach(graph.next, placesOf(graph, own));
      const all = reach(graph.next, [...linked, ...placesOf(graph, ['.']), ...graph.loose]);
      return sliceOf(graph, { own, linked, all, texts });
    },
  };
}

const placesOf = ({ members }: UvGraph, folders: readonly string[]): readonly number[] =>
  folders.flatMap((folder) => members.get(folder) ?? []);

interface Cut {
  readonly own: readonly string[];
  /** What the own folders lead to. */
  readonly linked: ReadonlySet<number>;
  /** The same with what the root leads to. */
  readonly all: ReadonlySet<number>;
  /** Texts of packages that were made before, by name of the text. */
  readonly texts: Map<string, string>;
}

function sliceOf(graph: UvGraph, { own, linked, all, texts }: Cut): Slice {
  const nodes = inOrder(graph.nodes, all);
  const owners = nodes.filter(({ extra }) => extra === undefined).map(({ owner }) => owner);
  const members = new Set(owners.filter(({ member }) => member));
  const head = headOf(graph.head, members);
  const root = placesOf(graph, ['.']).some((place) => linked.has(place));
  return {
    text: () => [head, ...blocksOf(nodes, texts)].join('\n'),
    key: createHash('sha256')
      .update(head + nodes.map(({ digest }) => digest).join())
      .digest('hex'),
    workspaces: Array.from(members, ({ folder = '.' }) => folder)
      .filter((folder) => !own.includes(folder) && (folder !== '.' || root))
      .sort(),
    paths: [...new Set(owners.flatMap(({ paths }) => paths))].sort(),
    get packages() {
      return new Set(owners.flatMap(({ name, version }) => [name, `${name}@${version ?? ''}`]));
    },
    problems: [
      ...problemsOf(graph, own),
      ...owners.flatMap((owner) => graph.strays(owner).map((name) => stray(owner, name))),
    ],
  };
}

/** Everything but the packages; the list of members is cut to those that are there. */
function headOf(head: TomlTable, kept: ReadonlySet<UvPackage>): string {
  const manifest = tableOf(head['manifest']);
  if (manifest['members'] === undefined) return stringify(head);
  const names = new Set(Array.from(kept, ({ name }) => name));
  const members = stringsOf(manifest['members']).filter((name) => names.has(name));
  return stringify({ ...head, manifest: { ...manifest, members } });
}

/** Of a package's extras, those that are asked for. */
function blocksOf(nodes: readonly UvNode[], texts: Map<string, string>): readonly string[] {
  const extras = new Map<UvPackage, string[]>();
  for (const { owner, extra } of nodes)
    extras.set(owner, [...(extras.get(owner) ?? []), ...(extra === undefined ? [] : [extra])]);
  return Array.from(extras, ([owner, names]) => {
    const key = JSON.stringify([owner.name, owner.version, owner.fields['source'], names]);
    const text = texts.get(key) ?? stringify({ package: [withExtras(owner.fields, names)] });
    texts.set(key, text);
    return text;
  });
}

function withExtras(fields: TomlTable, names: readonly string[]): TomlTable {
  const { 'optional-dependencies': extras, ...rest } = fields;
  if (names.length === 0) return rest;
  const kept = Object.entries(tableOf(extras)).filter(([name]) => names.includes(name));
  return { ...rest, 'optional-dependencies': Object.fromEntries(kept) };
}

const problemsOf = ({ members }: UvGraph, folders: readonly string[]): readonly string[] =>
  folders
    .filter((folder) => !members.has(folder))
    .map((folder) => `uv.lock has no member in ${folder}: run “uv lock” and commit uv.lock`);

const stray = ({ folder = '.' }: UvPackage, name: string): string =>
  `${posix.join(folder, 'pyproject.toml')} depends on ${name}, which is not the workspace member of that name: ` +
  `uv.lock takes a package from elsewhere: write “${name} = { workspace = true }” into its tool.uv.sources, run ` +
  `“uv lock” and commit uv.lock`;
