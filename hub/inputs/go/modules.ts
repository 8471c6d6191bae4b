/** Modules of the repository that a Go program is built from, and where packages of theirs are. */
import { readFile, type Findings } from '../findings.ts';
import { folderOf, inside, joinPath, upwards } from '../paths.ts';
import type { View } from '../view.ts';
import { modfileParser, type Modfile } from './modfile.ts';

export interface Modules {
  /** Folder of the package of an import; undefined: it is not the repository's. Adds its module to those in use. */
  folderOf(path: string): string | undefined;
  /** Folders of the modules in use. Grows with what is asked for. */
  readonly folders: ReadonlySet<string>;
  /** Folder of the go.work that is in force. */
  readonly workspace: string | undefined;
}

/** Modules that lead to modules. */
const MAX_MODULES = 2_000;

interface Search {
  readonly findings: Findings;
  readonly main: string;
  readonly workspace: string | undefined;
  readonly vendor: string | undefined;
  /** Folders by the module that they hold, of those that a file names. */
  readonly named: Map<string, string>;
  readonly folders: Set<string>;
}

/** The modules of a program in a folder; undefined: there is no go.mod above it. */
export function modulesOf(findings: Findings, home: string): Modules | undefined {
  const { view } = findings;
  const main = nearest(view, home, 'go.mod');
  if (main === undefined) return undefined;
  const workspace = nearest(view, home, 'go.work');
  const vendor = [workspace ?? main]
    .map((folder) => inside(folder, 'vendor'))
    .find((folder) => view.entry(inside(folder, 'modules.txt')) !== undefined);
  if (vendor !== undefined) findings.take(inside(vendor, 'modules.txt'));
  const search: Search = { findings, main, workspace, vendor, named: new Map(), folders: new Set() };
  if (workspace !== undefined) nameReplaced(search, inside(workspace, 'go.work'));
  use(search, main);
  return { folderOf: (path) => packageFolder(search, path), folders: search.folders, workspace };
}

const nearest = (view: View, folder: string, name: string): string | undefined =>
  upwards(folder).find((at) => view.entry(inside(at, name)) !== undefined);

/** Counts a module in, and those that it needs: go reads the go.mod of each, imported or not. */
function use(search: Search, first: string): void {
  const { findings, folders, named } = search;
  const open = new Set([first]);
  for (const folder of open) {
    if (folders.has(folder)) continue;
    if (folders.size >= MAX_MODULES) {
      findings.problem(`${first} needs more than ${MAX_MODULES} modules of the repository`);
      return;
    }
    folders.add(folder);
    const file = inside(folder, 'go.mod');
    if (findings.view.entry(file) !== undefined) findings.take(file);
    const read = readFile(findings, file, modfileParser);
    if (read?.module !== undefined) named.set(read.module, folder);
    takeSums(search, folder, read?.module);
    nameReplaced(search, file, read);
    for (const module of read?.requires ?? []) {
      const at = named.get(module) ?? workspaceModule(search, module)?.folder;
      if (at !== undefined) open.add(at);
    }
  }
}

/** Sums are read beside the program's own go.mod and those of its workspace, not of what replaces a module. */
function takeSums({ findings, workspace, main }: Search, folder: string, module: string | undefined): void {
  const file = inside(folder, 'go.sum');
  const used =
    workspace !== undefined &&
    module !== undefined &&
    workspaceModule({ findings, workspace }, module)?.folder === folder;
  if ((folder === main || used) && findings.view.entry(file) !== undefined) findings.take(file);
}

/** Folders that a file puts in place of modules. Only the file of the program, or of its workspace, has a say in go. */
function nameReplaced(search: Search, file: string, read?: Modfile): void {
  const { findings, named } = search;
  const modfile = read ?? readFile(findings, file, modfileParser);
  for (const { module, path } of modfile?.replaces ?? []) {
    const folder = joinPath(folderOf(file), path);
    if (folder === undefined)
      findings.warn(`${file} replaces ${module} by ${path}, which is not in the repository`);
    else if (!named.has(module)) named.set(module, folder);
  }
}

interface WorkspaceModule {
  readonly module: string;
  readonly folder: string;
}

/** The module of a workspace that a package belongs to. */
function workspaceModule(
  { findings, workspace }: Pick<Search, 'findings' | 'workspace'>,
  path: string,
): WorkspaceModule | undefined {
  if (workspace === undefined) return undefined;
  const found = findings.view.fact({
    key: `go module:${workspace}:${path}`,
    answer: (view): { module: string; folder: string } | null => {
      const folders = usedModules(view, workspace);
      const module = prefixesOf(path).find((prefix) => Object.hasOwn(folders, prefix));
      const folder = module === undefined ? undefined : folders[module];
      return module === undefined || folder === undefined ? null : { module, folder };
    },
  });
  return found ?? undefined;
}

/** Folders of the modules that a go.work uses, by module. */
const usedModules = (view: View, workspace: string): Readonly<Record<string, string>> =>
  view.fact({
    key: `go modules:${workspace}`,
    answer: (inner) => {
      const used: Record<string, string> = {};
      for (const path of modfileAt(inner, inside(workspace, 'go.work'))?.uses ?? []) {
        const folder = joinPath(workspace, path);
        const module = folder === undefined ? undefined : modfileAt(inner, inside(folder, 'go.mod'))?.module;
        if (folder !== undefined && module !== undefined) used[module] = folder;
      }
      return used;
    },
  });

function modfileAt(view: View, file: string): Modfile | undefined {
  const read = view.parsed(file, modfileParser);
  return read?.kind === 'read' ? read.value : undefined;
}

/** A path and those above it, longest first. */
const prefixesOf = (path: string): string[] => upwards(path).filter((prefix) => prefix !== '.');

function packageFolder(search: Search, path: string): string | undefined {
  const { findings, named, vendor } = search;
  const vendored = vendor === undefined ? undefined : inside(vendor, path);
  if (vendored !== undefined && findings.view.hasFolder(vendored)) return vendored;
  const own = prefixesOf(path).find((prefix) => named.has(prefix));
  const shared = workspaceModule(search, path);
  // the longest module that fits holds the package
  const module = shared !== undefined && shared.module.length > (own?.length ?? 0) ? shared.module : own;
  const folder = module === own ? named.get(own ?? '') : shared?.folder;
  if (module === undefined || folder === undefined) return undefined;
  use(search, folder);
  return joinPath(folder, path.slice(module.length + 1));
}
