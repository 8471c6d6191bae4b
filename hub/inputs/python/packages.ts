/** What the packages of a Python program are made of, as far as the repository has it: manifests, projects, archives. */
import { holdsFolder, readFile, type Findings } from '../findings.ts';
import { folderOf, inside, joinPath, upwards } from '../paths.ts';
import { pyprojectParser, type Pyproject } from './pyproject.ts';
import { takeUvLock } from './lock.ts';
import { requirementsParser } from './requirements.ts';
import { memberOf, workspaceRoot } from './workspace.ts';

export interface Packages {
  /** Folders of projects that the program's packages are built from. */
  readonly projects: readonly string[];
  /** Folders above the program whose modules it may import, since it is installed with them. */
  readonly roots: readonly string[];
}

/** Manifests of which one says what a program installs. */
const MANIFESTS = ['pyproject.toml', 'requirements.txt', 'Pipfile'] as const;
/** What stands beside them, and is taken whole. */
const BESIDE = [
  'setup.py',
  'setup.cfg',
  'uv.toml',
  'poetry.toml',
  'poetry.lock',
  'Pipfile.lock',
  'pylock.toml',
] as const;
/** Projects that lead to projects. */
const MAX_PROJECTS = 1_000;

interface Search {
  readonly findings: Findings;
  /** Folder in which the install runs. */
  readonly home: string;
  /** Grows while it is walked. */
  readonly projects: Set<string>;
  readonly roots: Set<string>;
}

/** Takes all that the packages of a program in a folder are made of. */
export function takePackages(findings: Findings, home: string): Packages {
  const search: Search = { findings, home, projects: new Set(), roots: new Set() };
  const governing = upwards(home).find((folder) =>
    MANIFESTS.some((name) => findings.view.entry(inside(folder, name)) !== undefined),
  );
  if (governing !== undefined) {
    takeManifests(search, governing);
    takeLock(search, governing);
    if (governing !== home) takeAbove(search, governing);
  }
  for (const project of search.projects) {
    if (search.projects.size > MAX_PROJECTS) {
      findings.problem(`${home} leads to more than ${MAX_PROJECTS} Python projects of the repository`);
      break;
    }
    takeManifests(search, project);
  }
  return { projects: [...search.projects], roots: [...search.roots] };
}

/** The lockfile of the workspace. A root without a name is no member, and has no part of its own in the lockfile. */
function takeLock({ findings, projects }: Search, folder: string): void {
  const root = workspaceRoot(findings.view, folder) ?? folder;
  const named = readFile(findings, inside(folder, 'pyproject.toml'), pyprojectParser)?.name !== undefined;
  if (named) takeUvLock(findings, { root, folder }).forEach((project) => projects.add(project));
  else takeThere(findings, inside(root, 'uv.lock'));
}

/** What stands in one folder, and what that names. */
function takeManifests(search: Search, folder: string): void {
  const { findings } = search;
  for (const name of [...MANIFESTS, ...BESIDE]) takeThere(findings, inside(folder, name));
  const root = workspaceRoot(findings.view, folder);
  for (const name of ['pyproject.toml', 'uv.toml']) takeThere(findings, inside(root ?? folder, name));
  takeRequirements(search, inside(folder, 'requirements.txt'));
  for (const name of ['pyproject.toml', 'Pipfile', 'uv.toml']) {
    const file = inside(folder, name);
    const read = readFile(findings, file, pyprojectParser);
    if (read !== undefined) takeProject(search, { file, read, root });
  }
  takeSetup(search, inside(folder, 'setup.cfg'));
}

function takeThere({ view, take }: Findings, path: string): void {
  if (view.entry(path) !== undefined) take(path);
}

/** A requirements file, and those that it names, each once. */
function takeRequirements(search: Search, first: string): void {
  const { findings, home } = search;
  const open = new Set([first]);
  for (const file of open) {
    const read = readFile(findings, file, requirementsParser);
    if (read === undefined) continue;
    findings.take(file);
    const folder = folderOf(file);
    for (const path of read.files) {
      const at = joinPath(folder, path);
      if (at === undefined || findings.view.entry(at) === undefined) missing(findings, file, path);
      else open.add(at);
    }
    for (const path of read.paths) takePath(search, { file, path, bases: [home, folder] });
  }
}

interface Named {
  readonly file: string;
  readonly path: string;
  readonly bases: readonly string[];
}

/** A project, an archive, or a folder of archives. */
function takePath({ findings, projects }: Search, { file, path, bases }: Named): void {
  const places = new Set(bases.map((base) => joinPath(base, path)));
  let found = false;
  for (const at of places) {
    const kind = at === undefined ? undefined : findings.take(at);
    found ||= kind !== undefined;
    if (kind === 'folder' && at !== undefined) projects.add(at);
  }
  if (!found) missing(findings, file, path);
}

const missing = ({ warn }: Findings, file: string, path: string): void =>
  warn(`${file} names ${path}, which no commit has: if it is built, say how in run.build`);

interface Project {
  readonly file: string;
  readonly read: Pyproject;
  /** Folder of its workspace. */
  readonly root: string | undefined;
}

function takeProject(search: Search, { file, read, root }: Project): void {
  const { findings } = search;
  const folder = folderOf(file);
  for (const path of read.paths) takePath(search, { file, path, bases: [folder] });
  for (const path of read.outward) {
    const at = joinPath(folder, path);
    if (at !== undefined && !holdsFolder(at, folder)) findings.take(at);
  }
  const shared = root === undefined ? undefined : sourcesAt(findings, root);
  const required = new Set(read.requires);
  for (const name of new Set([...Object.keys(read.sources), ...Object.keys(shared ?? {})])) {
    const own = Object.hasOwn(read.sources, name) ? read.sources[name] : undefined;
    // what the root says holds for what a member asks for
    if (own === undefined && !required.has(name)) continue;
    const base = own === undefined ? (root ?? folder) : folder;
    for (const source of own ?? shared?.[name] ?? []) {
      if (source.path !== undefined) takePath(search, { file, path: source.path, bases: [base] });
      // what nothing asks for is not looked for
      else if (required.has(name)) takeMember(search, { file, name, root });
    }
  }
}

const sourcesAt = (findings: Findings, root: string): Pyproject['sources'] =>
  readFile(findings, inside(root, 'pyproject.toml'), pyprojectParser)?.sources ?? {};

interface Member {
  readonly file: string;
  readonly name: string;
  readonly root: string | undefined;
}

function takeMember({ findings, projects }: Search, { file, name, root }: Member): void {
  const folder = root === undefined ? undefined : memberOf(findings.view, root, name);
  if (folder === undefined) {
    findings.problem(
      `${file} takes ${name} from the workspace, which has no member of that name: add it to the members, or mend its name`,
    );
    return;
  }
  findings.take(folder);
  projects.add(folder);
}

/** Requirements in setup.cfg that are paths; the rest of the folder is an input anyway. */
function takeSetup(search: Search, file: string): void {
  const read = readFile(search.findings, file, requirementsParser);
  const folder = folderOf(file);
  for (const path of read?.paths ?? []) {
    const at = joinPath(folder, path);
    if (at !== undefined && search.findings.view.hasFolder(at))
      takePath(search, { file, path, bases: [folder] });
  }
}

/** A program installed by a project above it: what that project is built from, as far as it names it. */
function takeAbove({ findings, roots, home }: Search, folder: string): void {
  const read = readFile(findings, inside(folder, 'pyproject.toml'), pyprojectParser);
  for (const root of [folder, inside(folder, 'src')]) if (findings.view.hasFolder(root)) roots.add(root);
  if (read === undefined) return;
  const name = read.name?.replaceAll('-', '_');
  const texts = new Set([...read.texts, ...(name === undefined ? [] : [name, `src/${name}`])]);
  for (const text of texts) {
    const at = text.includes('\n') || text.length > 200 ? undefined : joinPath(folder, text);
    if (at !== undefined && !holdsFolder(at, home)) findings.take(at);
  }
}
