/** Everything that a program reaches from the folders that it consists of, by imports and by paths. */
import { isProjectFile } from '../../projectfile.ts';
import { folderOf, inside, isBelow, joinPath, upwards } from '../paths.ts';
import type { View } from '../view.ts';
import { manifestIn } from './manifest.ts';
import type { Mapping } from './mapping.ts';
import { comesWith } from './nearest.ts';
import { notCommitted, type Place, type Reach, reachOfFile, reachOfFolder } from './reach.ts';
import { throughOther } from './resolve.ts';
import { isSource } from './source.ts';
import { compiledBy } from './tsconfig.ts';
import type { Roots } from './globs.ts';

export interface Start {
  /** Folder of the project. */
  readonly project: string;
  /** Folders that may be the working directory. */
  readonly directories: readonly string[];
  readonly roots: Roots;
  /** Folders whose sources are read. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly mapping: Mapping | null;
}

export interface Traced {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
  /** Name of a package and the first file that imports it. */
  readonly packages: ReadonlyMap<string, string>;
  readonly warnings: ReadonlySet<string>;
}

interface Trace extends Start {
  readonly view: View;
  /** Folders and files, as far as they were found: sets grow while they are walked. */
  readonly taken: {
    readonly folders: Set<string>;
    readonly files: Set<string>;
    readonly assets: Set<string>;
  };
  readonly packages: Map<string, string>;
  readonly warnings: Set<string>;
}

/** Follows folders first, then the files that they lead to, until nothing new is found. */
export function trace(view: View, start: Start): Traced {
  const taken = { folders: new Set(start.folders), files: new Set<string>(), assets: new Set<string>() };
  const at: Trace = { ...start, view, taken, packages: new Map(), warnings: new Set() };
  for (const file of start.files) addFile(at, file);
  for (const folder of taken.folders) addReach(at, view.fact(reachOfFolder(folder, mappingsOf(at, folder))));
  const mappings = start.mapping === null ? [] : [start.mapping];
  for (const file of taken.files) if (isSource(file)) addReach(at, view.fact(reachOfFile(file, mappings)));
  return {
    files: taken.files,
    folders: new Set([...taken.folders, ...taken.assets]),
    packages: at.packages,
    warnings: at.warnings,
  };
}

/** That of the project, and that of the folder itself. */
function mappingsOf(at: Trace, folder: string): Mapping[] {
  const { view, roots, mapping, taken } = at;
  const own = view.fact(compiledBy(roots, inside(folder, 'tsconfig.json')));
  own.files.forEach((file) => addFile(at, file));
  own.folders.forEach((found) => taken.folders.add(found));
  own.warnings.forEach((warning) => at.warnings.add(warning));
  const all = [mapping, own.mapping].filter((one) => one !== null);
  return all.length === 2 && JSON.stringify(all[0]) === JSON.stringify(all[1]) ? all.slice(1) : all;
}

function addReach(at: Trace, { files, places, packages, warnings }: Reach): void {
  for (const file of files) addFile(at, file);
  for (const place of places) addPlace(at, place);
  for (const [name, by] of packages) if (!at.packages.has(name)) at.packages.set(name, by);
  for (const warning of warnings) at.warnings.add(warning);
}

function addFile(at: Trace, file: string): void {
  if (!isCovered(at, file)) at.taken.files.add(file);
}

/** Whether a path comes with a folder that is taken. */
const isCovered = ({ view, taken }: Trace, path: string): boolean =>
  upwards(folderOf(path)).some(
    (folder) => taken.folders.has(folder) && comesWith(view, folderOf(path), folder),
  );

function addPlace(at: Trace, place: Place): void {
  const paths = place.fromCwd
    ? at.directories.map((directory) => joinPath(directory, place.path))
    : [place.path];
  const found = paths.filter((path) => path !== undefined && take(at, place, path));
  if (found.length > 0 || (place.use !== 'asset' && place.use !== 'read')) return;
  const [path] = paths;
  at.warnings.add(
    path === undefined
      ? `${place.by} reads ${place.path}, which is outside of the repository`
      : notCommitted(place.by, `reads ${place.path}`, path),
  );
}

/** Whether there is something at a path; what is not part of the project then is taken. */
function take(at: Trace, place: Place, path: string): boolean {
  const { view, project } = at;
  if (!place.open && view.entry(path) !== undefined) {
    addFile(at, path);
    return true;
  }
  if (!view.hasFolder(path)) {
    const other = throughOther(
      { entry: (way) => view.entry(way), manifest: (way) => manifestIn(view, way) },
      path,
    );
    if (other !== undefined) at.taken.files.add(other.path);
    return other !== undefined;
  }
  const isAround = path === project || path === '.' || isBelow(project, path);
  if (isAround && (place.use === 'hint' || path === project)) return true;
  if (isAround)
    at.warnings.add(
      `${place.by} reads all of ${path}, so that each change there runs the stack; name in include what it needs, and read only that`,
    );
  if (isCovered(at, inside(path, 'x'))) return true;
  takeFolder(at, path);
  return true;
}

/** A folder that is read whole is an input whole, with the projects in it. */
function takeFolder({ view, taken, project }: Trace, folder: string): void {
  taken.assets.add(folder);
  const around = folder === '.' || isBelow(project, folder);
  const below = around ? [] : view.below(folder);
  if (below.some(({ path }) => isProjectFile(path) && folderOf(path) !== folder))
    for (const { path } of below) taken.files.add(path);
}
