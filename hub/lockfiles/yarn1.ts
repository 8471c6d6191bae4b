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
import { inOrder } from './walk.ts';
import { bodyOf, yarn1Text, type Fields } from './yarn1text.ts';

/** One package of the lockfile. */
interface Block {
  readonly name: string;
  readonly version: string;
  readonly edges: readonly Edge[];
  /** Its text below the line of its patterns. */
  readonly body: string;
}

/** One of the patterns (`name@range`) that a package is the answer to. */
interface Answer {
  readonly pattern: string;
  readonly block: Block;
  /** Place among all patterns, in the order of their texts. */
  readonly place: number;
  /** Yarn passes over a package that the range does not allow. */
  readonly allowed: boolean;
  /** Of the pattern and of what the block says. */
  readonly digest: string;
}

interface Edge {
  readonly name: string;
  readonly range: string;
  readonly pattern: string;
  /** The range is a version or a tag, which yarn looks up among the workspaces; not a URL, a path or an alias. */
  readonly open: boolean;
}

/** By place, and by pattern. */
interface Answers {
  readonly all: readonly Answer[];
  readonly by: ReadonlyMap<string, Answer>;
}

/** The folder of the workspace that depends on something; undefined for a package of the lockfile. */
type Asker = string | undefined;

/** One walk over what a workspace installs. */
interface Walk {
  readonly answers: Answers;
  readonly resolutions: ReadonlyMap<string, readonly Edge[]>;
  readonly workspaces: Workspaces;
  readonly kept: Set<Answer>;
  readonly blocks: Set<Block>;
  readonly folders: Set<string>;
  readonly paths: Set<string>;
  readonly problems: Set<string>;
}

const REMEDY = 'run “yarn install” and commit yarn.lock';

/** The lockfile of a file that was parsed: values by pattern, the same object where patterns share a block. */
export function yarn1Lockfile(parsed: Readonly<Record<string, unknown>>): Lockfile {
  const answers = answersIn(parsed);
  return {
    slice: (folder, workspaces, also = []) =>
      sliceOf(answers, [...new Set(['.', folder, ...also])], workspaces),
  };
}

function answersIn(parsed: Readonly<Record<string, unknown>>): Answers {
  const blocks = new Map<unknown, Block>();
  const all = Object.entries(parsed)
    .filter((entry): entry is [string, Fields] => typeof entry[1] === 'object' && entry[1] !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([pattern, fields], place): Answer => {
      const block = blocks.get(fields) ?? blockOf(pattern, fields);
      blocks.set(fields, block);
      const digest = createHash('sha256').update(`${pattern}\n${block.body}`).digest('base64');
      return { pattern, block, place, allowed: isAllowed(block, pattern), digest };
    });
  return { all, by: new Map(all.map((answer) => [answer.pattern, answer])) };
}

const blockOf = (pattern: string, fields: Fields): Block => ({
  name: nameIn(pattern),
  version: String(fields['version']),
  edges: [...edgesIn(fields['dependencies']), ...edgesIn(fields['optionalDependencies'])],
  body: bodyOf(fields),
});

/** `@scope/name@range` → `@scope/name` */
function nameIn(pattern: string): string {
  const cut = pattern.indexOf('@', 1);
  return cut < 0 ? pattern : pattern.slice(0, cut);
}

function isAllowed({ name, version }: Block, pattern: string): boolean {
  const range = pattern.slice(name.length + 1);
  const comparable = semver.validRange(range, true) !== null && semver.valid(version, true) !== null;
  return !comparable || semver.satisfies(version, range, true);
}

const edgesIn = (table: unknown): Edge[] =>
  typeof table === 'object' && table !== null
    ? Object.entries(table).map(([name, range]) => edgeOf(name, String(range)))
    : [];

const edgeOf = (name: string, range: string): Edge => ({
  name,
  range,
  pattern: `${name}@${range}`,
  open: !range.includes(':') && !range.includes('/'),
});

function sliceOf(answers: Answers, folders: readonly string[], workspaces: Workspaces): Slice {
  const resolutions = resolutionsOf(workspaces.manifest('.'));
  const sets = { kept: new Set<Answer>(), blocks: new Set<Block>(), folders: new Set<string>() };
  const walk: Walk = { answers, resolutions, workspaces, ...sets, paths: new Set(), problems: new Set() };
  for (const folder of folders) enterWorkspace(walk, folder);
  for (const folder of folders) if (folder !== '.') requireNamed(walk, folder);
  const kept = inOrder(
    answers.all,
    Array.from(walk.kept, ({ place }) => place),
  );
  return {
    text: () => textOf(kept),
    key: createHash('sha256')
      .update(kept.map(({ digest }) => digest).join())
      .digest('hex'),
    workspaces: [...walk.folders].filter((folder) => !folders.includes(folder)).sort(),
    paths: [...walk.paths].sort(),
    get packages() {
      return new Set(Array.from(walk.blocks, ({ name, version }) => [name, `${name}@${version}`]).flat());
    },
    problems: [...walk.problems].sort(),
  };
}

function textOf(kept: readonly Answer[]): string {
  const lines = new Map<Block, string[]>();
  for (const { block, pattern } of kept) {
    const patterns = lines.get(block);
    if (patterns === undefined) lines.set(block, [pattern]);
    else patterns.push(pattern);
  }
  return yarn1Text(Array.from(lines, ([{ body }, patterns]) => ({ patterns, body })));
}

/**
 * What the root's `resolutions` ask for, by the name of the package. Where one holds only below another package
 * (`a/**\/b`), both answers are taken: yarn does not mind what it has no use for.
 */
function resolutionsOf(root: PackageManifest | undefined): ReadonlyMap<string, readonly Edge[]> {
  const byName = new Map<string, Edge[]>();
  for (const { name: path, range } of edgesIn(root?.['resolutions'])) {
    const parts = path.split('/');
    const scope = parts.at(-2)?.startsWith('@') === true ? `${parts.at(-2)}/` : '';
    const name = `${scope}${parts.at(-1)}`;
    byName.set(name, [...(byName.get(name) ?? []), edgeOf(name, range)]);
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
    follow(walk, edge.open ? edge : edgeOf(edge.name, fromRoot(edge.range, folder)), folder);
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
      ? takeWorkspace(walk, edge, from) || takeAnswer(walk, edge, false)
      : [edge, ...resolved]
          .map((one) => takeWorkspace(walk, one, undefined) || takeAnswer(walk, one, true))
          .includes(true);
  if (!taken) walk.problems.add(`yarn.lock has no package for ${edge.pattern}: ${REMEDY}`);
}

function takeWorkspace(walk: Walk, edge: Edge, from: Asker): boolean {
  if (!edge.open) return false;
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

/** Whether the lockfile has a package for it. What is there by a resolution need not be in the range. */
function takeAnswer(walk: Walk, edge: Edge, resolved: boolean): boolean {
  if (!edge.open) takePath(walk, edge);
  const answer = walk.answers.by.get(edge.pattern);
  if (answer === undefined || !(answer.allowed || resolved)) return false;
  walk.kept.add(answer);
  if (walk.blocks.has(answer.block)) return true;
  walk.blocks.add(answer.block);
  for (const next of answer.block.edges) follow(walk, next, undefined);
  return true;
}

function takePath({ paths }: Walk, { range }: Edge): void {
  const path = /^(?:file:|link:|(?=\.{0,2}\/))(.*)$/.exec(range)?.[1];
  if (path !== undefined) paths.add(posix.normalize(path));
}
