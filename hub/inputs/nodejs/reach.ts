/** What source files reach outside of the folder that they are read in. */
import { posix } from 'node:path';
import type { TreeEntry } from '../../git/source.ts';
import { isProjectFile } from '../../projectfile.ts';
import { folderOf, inside, isBelow, joinPath, upwards } from '../paths.ts';
import type { Question, View } from '../view.ts';
import { packageFolder } from './install.ts';
import { manifestIn } from './manifest.ts';
import { type Mapping, mappedPaths, mappingKey } from './mapping.ts';
import type { Spelled } from './references.ts';
import { filesAt, leavesOf, type Probe, throughOther } from './resolve.ts';
import { isSource, sourceParser } from './source.ts';
import { isPackage, isRelative, packageOf } from './specifier.ts';

/** A path that the program spells out. */
export type Place = {
  /** From the repository's root; or from the working directory, which differs between the projects that share a file. */
  readonly path: string;
  readonly fromCwd: boolean;
  readonly use: Spelled['use'];
  readonly open: boolean;
  /** The source file. */
  readonly by: string;
};

export type Reach = {
  /** Files outside of the folder. */
  readonly files: string[];
  readonly places: Place[];
  /** Names of packages, and the first file that imports each. */
  readonly packages: [string, string][];
  readonly warnings: string[];
};

/** Reach of all sources of a folder, without the folders of projects below. */
export const reachOfFolder = (folder: string, mappings: readonly Mapping[]): Question<Reach> => ({
  key: `nodejs/sources\0${folder}\0${mappingKey(mappings)}`,
  answer: (view) => {
    const listing = new Map(view.below(folder).map((entry) => [entry.path, entry]));
    const isNested = nestedIn(listing.keys(), folder);
    const entry = (path: string): TreeEntry | undefined =>
      isBelow(path, folder) ? listing.get(path) : view.entry(path);
    const isOwn = (path: string): boolean => (path === folder || isBelow(path, folder)) && !isNested(path);
    const scan = startScan(view, { mappings, entry, isOwn });
    for (const path of listing.keys())
      if (isSource(path) && !INSTALLED.test(path) && !isNested(path)) scanFile(scan, path);
    return answerOf(scan);
  },
});

/** Reach of one file of a folder that is not an input as a whole. */
export const reachOfFile = (path: string, mappings: readonly Mapping[]): Question<Reach> => ({
  key: `nodejs/source\0${path}\0${mappingKey(mappings)}`,
  answer: (view) => {
    const isOwn = (other: string): boolean => other === path;
    const scan = startScan(view, { mappings, entry: (at) => view.entry(at), isOwn });
    scanFile(scan, path);
    // what stands in the package.json above decides how the file is loaded
    const scope = view.fact(packageFolder(folderOf(path)));
    if (scope !== null) scan.files.add(inside(scope, 'package.json'));
    return answerOf(scan);
  },
});

/** Whether a path below a folder lies in a project of its own. */
function nestedIn(paths: Iterable<string>, folder: string): (path: string) => boolean {
  const nested = new Set(
    [...paths]
      .filter(isProjectFile)
      .map(folderOf)
      .filter((at) => at !== folder),
  );
  return (path) => nested.size > 0 && upwards(path).some((at) => nested.has(at) && isBelow(at, folder));
}

/** What package managers put there, and no person wrote. */
const INSTALLED = /(?:^|\/)(?:node_modules\/|\.yarn\/|\.pnp\.)/;

interface Scope {
  readonly mappings: readonly Mapping[];
  readonly entry: (path: string) => TreeEntry | undefined;
  /** Whether it is read anyway. */
  readonly isOwn: (path: string) => boolean;
}

interface Scan extends Scope {
  readonly view: View;
  readonly probe: Probe;
  readonly files: Set<string>;
  readonly places: Map<string, Place>;
  readonly packages: Map<string, string>;
  readonly warnings: Set<string>;
}

const startScan = (view: View, scope: Scope): Scan => ({
  ...scope,
  view,
  probe: { entry: scope.entry, manifest: (folder) => manifestIn(view, folder) },
  files: new Set(),
  places: new Map(),
  packages: new Map(),
  warnings: new Set(),
});

const answerOf = ({ files, places, packages, warnings }: Scan): Reach => ({
  files: [...files].sort(),
  places: [...places.values()],
  packages: [...packages],
  warnings: [...warnings],
});

function scanFile(scan: Scan, path: string): void {
  const source = scan.view.parsed(path, sourceParser(path));
  if (source === undefined) return;
  if (source.broken !== undefined)
    scan.warnings.add(
      `${path} cannot be read as a program (${source.broken}): name in include what it imports from other folders`,
    );
  for (const specifier of source.imports) addImport(scan, path, specifier);
  for (const spelled of source.paths) addSpelled(scan, path, spelled);
}

function addImport(scan: Scan, from: string, specifier: string): void {
  if (specifier.startsWith('#')) return addSubpath(scan, from, specifier);
  if (isRelative(specifier)) return addRelative(scan, from, specifier);
  if (addMapped(scan, specifier) || !isPackage(specifier)) return;
  const name = packageOf(specifier);
  if (!scan.packages.has(name)) scan.packages.set(name, from);
}

function addRelative(scan: Scan, from: string, specifier: string): void {
  const path = joinPath(folderOf(from), specifier);
  if (path === undefined) {
    scan.warnings.add(`${from} imports ${specifier}, which is outside of the repository`);
    return;
  }
  const isFolder = /(?:^|\/)\.{0,2}$/.test(specifier);
  const exact = filesAt(scan.probe, path, isFolder);
  const files = exact.length > 0 ? exact : filesAt(scan.probe, path.split('?')[0] ?? path, isFolder);
  if (files.length > 0) return addFiles(scan, files);
  const other = throughOther(scan.probe, path);
  if (other !== undefined) return addOther(scan, from, other);
  if (!/\.d\.[mc]?ts$/.test(from)) scan.warnings.add(notCommitted(from, `imports ${specifier}`, path));
}

/** What a link or a submodule leads to is an input with it, but is not read for imports. */
function addOther(scan: Scan, from: string, { path, mode }: TreeEntry): void {
  addFiles(scan, [path]);
  if (mode === '120000')
    scan.warnings.add(
      `${from} imports through the symlink ${path}: name in include what is imported behind it from other folders`,
    );
}

/** A warning on what only a build makes. */
export const notCommitted = (by: string, does: string, path: string): string =>
  `${by} ${does}, but no commit has ${path}; for a built file: add run.build`;

const addFiles = (scan: Scan, files: readonly string[]): void =>
  files.filter((file) => !scan.isOwn(file)).forEach((file) => scan.files.add(file));

/** Whether a mapping knows the specifier. */
function addMapped(scan: Scan, specifier: string): boolean {
  const hits = scan.mappings.flatMap((mapping) =>
    firstOf(mappedPaths(specifier, mapping), (path) => filesAt(scan.probe, path)),
  );
  addFiles(scan, hits);
  return hits.length > 0;
}

function firstOf(paths: readonly string[], files: (path: string) => string[]): string[] {
  for (const path of paths) {
    const found = files(path);
    if (found.length > 0) return found;
  }
  return [];
}

/** `imports` of the package.json above: all that its conditions may choose, in files or by a `*`. */
function addSubpath(scan: Scan, from: string, specifier: string): void {
  if (addMapped(scan, specifier)) return;
  const scope = scan.view.fact(packageFolder(folderOf(from)));
  const imports = scope === null ? undefined : manifestIn(scan.view, scope)?.['imports'];
  if (scope === null || imports === null || typeof imports !== 'object') return;
  const paths = Object.entries(imports).map(([pattern, targets]): [string, string[]] => [
    pattern,
    leavesOf(targets).flatMap((target) => joinPath(scope, target) ?? []),
  ]);
  for (const path of mappedPaths(specifier, { base: null, paths })) addFiles(scan, filesAt(scan.probe, path));
}

function addSpelled(scan: Scan, by: string, { base, path, use, open }: Spelled): void {
  const at = base === 'cwd' ? posix.normalize(path) : joinPath(folderOf(by), path);
  const matters = use === 'asset' || use === 'read';
  if (at === undefined || (base === 'cwd' && !matters && !at.startsWith('..'))) return;
  if (base === 'file' && scan.isOwn(at) && (!matters || isThere(scan, at))) return;
  const key = `${base} ${at} ${use} ${open}`;
  if (!scan.places.has(key)) scan.places.set(key, { path: at, fromCwd: base === 'cwd', use, open, by });
}

const isThere = (scan: Scan, path: string): boolean =>
  scan.entry(path) !== undefined || scan.view.hasFolder(path);
