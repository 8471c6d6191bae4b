/** What one package of the repository takes from the repository, by its package.json. */
import { inside, joinPath } from '../paths.ts';
import type { Question, View } from '../view.ts';
import { brokenManifest, type Edge, edgesOf, manifestIn } from './manifest.ts';
import { type Place, placeOf } from './place.ts';
import type { Roots } from './globs.ts';
import { hasWorkspaces, workspaceFolders } from './workspaces.ts';

export type Needs = {
  /** Folders that are packages of their own. */
  readonly packages: string[];
  readonly files: string[];
  /** Names that its sources may import. */
  readonly names: string[];
  readonly problems: string[];
};

/** Direct needs of the package in a folder. The whole closure is what these lead to. */
export const needsOf = (roots: Roots, folder: string): Question<Needs> => ({
  key: `nodejs/needs\0${roots.manager ?? ''}\0${roots.root}\0${folder}`,
  answer: (view) => {
    const manifest = manifestIn(view, folder);
    const broken = brokenManifest(view, folder);
    const edges = manifest === undefined ? [] : edgesOf(manifest);
    const found: Found = { packages: new Set(), files: new Set(), problems: new Set() };
    if (broken !== undefined) found.problems.add(broken);
    for (const edge of edges) addEdge(view, { roots, folder, edge, found });
    if (edges.some(({ name }) => name === 'patch-package') && view.hasFolder(inside(folder, 'patches')))
      for (const { path } of view.below(inside(folder, 'patches'))) found.files.add(path);
    const own = manifest?.name === undefined ? [] : [manifest.name];
    return {
      packages: [...found.packages].sort(),
      files: [...found.files].sort(),
      names: [...new Set([...own, ...edges.map(({ name }) => name)])].sort(),
      problems: [...found.problems],
    };
  },
});

interface Found {
  readonly packages: Set<string>;
  readonly files: Set<string>;
  readonly problems: Set<string>;
}

interface At {
  readonly roots: Roots;
  readonly folder: string;
  readonly edge: Edge;
  readonly found: Found;
}

function addEdge(view: View, at: At): void {
  const { edge, roots } = at;
  const place = placeOf(edge.name, edge.spec);
  if (place.kind === 'workspace' || place.kind === 'elsewhere') {
    const name = place.kind === 'workspace' ? place.name : edge.name;
    const folders = hasWorkspaces(view, roots) ? view.fact(workspaceFolders(roots, name)) : [];
    folders.forEach((folder) => at.found.packages.add(folder));
    if (folders.length > 1) at.found.problems.add(twice(name, folders));
    if (folders.length === 0 && place.kind === 'workspace' && !edge.optional)
      at.found.problems.add(noWorkspace(at, name));
  } else if (place.kind === 'patches') for (const file of place.files) addPath(view, at, file);
  else addPath(view, at, place);
}

/** A folder is a package, a file an archive of one or a patch. */
function addPath(view: View, { roots, folder, edge, found }: At, place: Place): void {
  if (place.kind !== 'path' && place.kind !== 'fromRoot') return;
  const path = joinPath(place.kind === 'path' ? folder : roots.root, place.path);
  if (path === undefined) found.problems.add(outside(folder, edge));
  else if (view.entry(path) !== undefined) found.files.add(path);
  else if (view.hasFolder(path)) found.packages.add(path);
  else if (!edge.optional) found.problems.add(missing(folder, edge, path));
}

const says = (folder: string, { name, spec }: Edge): string =>
  `${inside(folder, 'package.json')} depends on ${name} (${spec.slice(0, 200)})`;

const twice = (name: string, folders: readonly string[]): string =>
  `two workspaces are named ${name}: ${folders.join(' and ')}; give one of them another name`;

const noWorkspace = ({ folder, edge, roots }: At, name: string): string =>
  `${says(folder, edge)}, but no workspace of ${roots.root === '.' ? 'the repository' : roots.root} is named ${name}: add its folder to the workspaces, or take the dependency out`;

const outside = (folder: string, edge: Edge): string =>
  `${says(folder, edge)}, which is outside of the repository: runs see files of the repository only`;

const missing = (folder: string, edge: Edge, path: string): string =>
  `${says(folder, edge)}, but the commit has no ${path}: commit it, since packages are installed before anything is built`;
