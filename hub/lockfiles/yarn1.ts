/**
 * `yarn.lock` of yarn 1. It does not know workspaces: what they depend on stands in their manifests alone.
 *
 * `yarn install --frozen-lockfile` takes whatever a workspace needs and the lockfile lacks from the registry, in the
 * newest version and without a word (tried with 1.22). So a lockfile that lacks something is a problem here.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import semver from 'semver';
import type { Lockfile, PackageManifest, Slice, Workspaces } from './lockfile.ts';
import { bodyOf, yarn1Text, type Fields } from './yarn1text.ts';

/** One package of the lockfile, under all the patterns (`name@range`) that it is the answer to. */
interface Block {
  readonly name: string;
  readonly version: string;
  readonly fields: Fields;
  readonly edges: readonly Edge[];
  /** Of the fields. */
  readonly digest: string;
  body: string | undefined;
}

type Blocks = ReadonlyMap<string, Block>;

interface Edge {
  readonly name: string;
  readonly range: string;
}

/** The folder of the workspace that depends on something; undefined for a package of the lockfile. */
type Asker = string | undefined;

/** One walk over what a workspace installs. */
interface Walk {
  readonly blocks: Blocks;
  readonly resolutions: ReadonlyMap<string, readonly string[]>;
  readonly workspaces: Workspaces;
  readonly kept: Map<Block, Set<string>>;
  readonly folders: Set<string>;
  readonly paths: Set<string>;
  readonly problems: Set<string>;
}

const REMEDY = 'run “yarn install” and commit yarn.lock';

/** The lockfile of a file that was parsed: values by pattern, the same object where patterns share a block. */
export function yarn1Lockfile(parsed: Readonly<Record<string, unknown>>): Lockfile {
  const blocks = blocksOf(parsed);
  return {
    slice: (folder, workspaces, also = []) =>
      sliceOf(blocks, [...new Set(['.', folder, ...also])], workspaces),
  };
}

function blocksOf(parsed: Readonly<Record<string, unknown>>): Blocks {
  const known = new Map<unknown, Block>();
  const blocks = new Map<string, Block>();
  for (const [pattern, value] of Object.entries(parsed)) {
    if (typeof value !== 'object' || value === null) continue;
    const block = known.get(value) ?? blockOf(pattern, value as Fields);
    known.set(value, block);
    blocks.set(pattern, block);
  }
  return blocks;
}

const blockOf = (pattern: string, fields: Fields): Block => ({
  name: nameIn(pattern),
  version: String(fields['version']),
  fields,
  edges: [...edgesIn(fields['dependencies']), ...edgesIn(fields['optionalDependencies'])],
  digest: createHash('sha256').update(JSON.stringify(fields)).digest('hex'),
  body: undefined,
});

/** `@scope/name@range` → `@scope/name` */
function nameIn(pattern: string): string {
  const cut = pattern.indexOf('@', 1);
  return cut < 0 ? pattern : pattern.slice(0, cut);
}

const edgesIn = (table: unknown): Edge[] =>
  typeof table === 'object' && table !== null
    ? Object.entries(table).map(([name, range]) => ({ name, range: String(range) }))
    : [];

function sliceOf(blocks: Blocks, folders: readonly string[], workspaces: Workspaces): Slice {
  const walk: Walk = {
    blocks,
    resolutions: resolutionsOf(workspaces.manifest('.')),
    workspaces,
    kept: new Map(),
    folders: new Set(),
    paths: new Set(),
    problems: new Set(),
  };
  for (const folder of folders) enterWorkspace(walk, folder);
  for (const folder of folders) if (folder !== '.') requireNamed(walk, folder);
  const { kept, paths, problems } = walk;
  return {
    text: () => textOf(kept),
    key: keyOf(kept),
    workspaces: [...walk.folders].filter((folder) => !folders.includes(folder)).sort(),
    paths: [...paths].sort(),
    packages: new Set(Array.from(kept.keys(), ({ name, version }) => [name, `${name}@${version}`]).flat()),
    problems: [...problems].sort(),
  };
}

const textOf = (kept: Walk['kept']): string =>
  yarn1Text(
    Array.from(kept, ([block, patterns]) => ({ patterns, body: (block.body ??= bodyOf(block.fields)) })),
  );

function keyOf(kept: Walk['kept']): string {
  const lines = Array.from(kept, ([{ digest }, patterns]) => `${[...patterns].sort().join('\n')}\n${digest}`);
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

/**
 * What the root's `resolutions` ask for, by the name of the package. Where one holds only below another package
 * (`a/**\/b`), both answers are taken: yarn does not mind what it has no use for.
 */
function resolutionsOf(root: PackageManifest | undefined): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>();
  for (const { name: path, range } of edgesIn(root?.['resolutions'])) {
    const parts = path.split('/');
    const scope = parts.at(-2)?.startsWith('@') === true ? `${parts.at(-2)}/` : '';
    const name = `${scope}${parts.at(-1)}`;
    byName.set(name, [...(byName.get(name) ?? []), range]);
  }
  return byName;
}

/** Yarn 1 passes over a workspace without a name or a version, and over all that it depends on. */
function requireNamed({ workspaces, problems }: Walk, folder: string): void {
  const manifest = workspaces.manifest(folder);
  if (manifest === undefined || (manifest.name && manifest.version)) return;
  const field = manifest.name ? 'version' : 'name';
  problems.add(
    `${folder}/package.json has no “${field}”: yarn 1 installs nothing for such a workspace: add one`,
  );
}

function enterWorkspace(walk: Walk, folder: string): void {
  if (walk.folders.has(folder)) return;
  walk.folders.add(folder);
  const manifest = walk.workspaces.manifest(folder);
  const { dependencies, devDependencies, optionalDependencies } = manifest ?? {};
  for (const edge of [dependencies, devDependencies, optionalDependencies].flatMap(edgesIn))
    follow(walk, { name: edge.name, range: fromRoot(edge.range, folder) }, folder);
}

/** Yarn names files and folders from the lockfile's folder, and keeps a leading `./` that was written. */
function fromRoot(range: string, folder: string): string {
  const prefix = ['file:', 'link:'].find((one) => range.startsWith(one));
  if (prefix === undefined) return range;
  const written = range.slice(prefix.length);
  if (written.startsWith('/')) return range;
  const path = posix.join(folder, written).replace(/\/$/, '');
  const dotted = /^\.(?:\/|$)/.test(written) && !path.startsWith('.');
  return `${prefix}${dotted ? './' : ''}${path}`;
}

/** Takes what one dependency leads to. Resolutions of the root come first, then workspaces, then the lockfile. */
function follow(walk: Walk, edge: Edge, from: Asker): void {
  const resolved = walk.resolutions.get(edge.name);
  const taken =
    resolved === undefined
      ? takeWorkspace(walk, edge, from) || takeBlock(walk, edge, isUpToDate)
      : [edge.range, ...resolved]
          .map((range) => ({ name: edge.name, range }))
          .map((one) => takeWorkspace(walk, one, undefined) || takeBlock(walk, one, () => true))
          .includes(true);
  if (!taken) walk.problems.add(`yarn.lock has no package for ${edge.name}@${edge.range}: ${REMEDY}`);
}

function takeWorkspace(walk: Walk, edge: Edge, from: Asker): boolean {
  if (!isRange(edge.range)) return false;
  const folder = walk.workspaces.folderOf(edge.name);
  if (folder === undefined) return false;
  const { version } = walk.workspaces.manifest(folder) ?? {};
  if (version !== undefined && semver.satisfies(version, edge.range, true)) {
    enterWorkspace(walk, folder);
    return true;
  }
  if (from !== undefined) walk.problems.add(elsewhere(edge, { from, folder, version }));
  return false;
}

const elsewhere = (
  { name, range }: Edge,
  {
    from,
    folder,
    version,
  }: { readonly from: string; readonly folder: string; readonly version: string | undefined },
): string =>
  `${posix.join(from, 'package.json')} depends on ${name}@${range}, which the workspace ${folder} of that name ` +
  `(${version === undefined ? 'without a version' : `version ${version}`}) does not satisfy: yarn 1 would install ` +
  `the public package: make the range fit the workspace, or write “npm:${name}@${range}” if the public one is meant`;

/** Whether the lockfile has a package for it. */
function takeBlock(walk: Walk, edge: Edge, fits: (block: Block, edge: Edge) => boolean): boolean {
  takePath(walk, edge);
  const pattern = `${edge.name}@${edge.range}`;
  const block = walk.blocks.get(pattern);
  if (block === undefined || !fits(block, edge)) return false;
  const patterns = walk.kept.get(block);
  if (patterns !== undefined) patterns.add(pattern);
  else {
    walk.kept.set(block, new Set([pattern]));
    for (const next of block.edges) follow(walk, next, undefined);
  }
  return true;
}

function takePath({ paths }: Walk, { range }: Edge): void {
  const path = /^(?:file:|link:|(?=\.{0,2}\/))(.*)$/.exec(range)?.[1];
  if (path !== undefined) paths.add(posix.normalize(path));
}

/** A version or a tag, which yarn looks up among the workspaces; not a URL, a path or an alias. */
const isRange = (range: string): boolean => !range.includes(':') && !range.includes('/');

/** Yarn passes over a package of the lockfile that its range does not allow. */
const isUpToDate = ({ version }: Block, { range }: Edge): boolean =>
  semver.validRange(range, true) === null ||
  semver.valid(version, true) === null ||
  semver.satisfies(version, range, true);
