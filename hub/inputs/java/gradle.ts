/** Gradle: the settings of the whole build, projects of it that a program depends on, and builds that take part. */
import { holdsFolder, readFile, type Findings } from '../findings.ts';
import { folderOf, inside, joinPath, upwards } from '../paths.ts';
import { accessorOf, scriptParser, type Script } from './script.ts';

const SETTINGS = ['settings.gradle.kts', 'settings.gradle'] as const;
const BUILD = ['build.gradle.kts', 'build.gradle'] as const;
/** What every project of a build reads of its root. */
const AT_ROOT = [
  ...SETTINGS,
  ...BUILD,
  'gradle.properties',
  'gradlew',
  'gradlew.bat',
  'gradle',
  'buildSrc',
  'settings-gradle.lockfile',
  'buildscript-gradle.lockfile',
] as const;
/** Gradle configures every project of a build. Of a larger one only those that are depended on are taken. */
const MAX_CONFIGURED = 200;
/** Scripts of one program that are looked into. */
const MAX_SCRIPTS = 2_000;

interface Build {
  readonly root: string;
  /** Folders of the projects, by name. */
  readonly folders: ReadonlyMap<string, string>;
  /** Names by accessor. */
  readonly accessors: ReadonlyMap<string, string>;
}

interface Search {
  readonly findings: Findings;
  readonly home: string;
  /** Scripts to look into, each with its build. Grows while it is walked. */
  readonly scripts: Map<string, Build>;
  readonly builds: Set<string>;
}

/** Takes what the program in a folder is built from. */
export function takeGradle(findings: Findings, home: string): void {
  const { view } = findings;
  const has = (folder: string, names: readonly string[]): boolean =>
    names.some((name) => view.entry(inside(folder, name)) !== undefined);
  const root = upwards(home).find((folder) => has(folder, SETTINGS));
  if (root === undefined && !has(home, BUILD)) return;
  const search: Search = { findings, home, scripts: new Map(), builds: new Set() };
  const build = takeBuild(search, root ?? home);
  addScripts(search, build, home);
  for (const [file, of] of search.scripts) {
    if (search.scripts.size > MAX_SCRIPTS) {
      findings.problem(`${home} is built from more than ${MAX_SCRIPTS} scripts of Gradle`);
      return;
    }
    const script = readFile(findings, file, scriptParser);
    if (script !== undefined) takeScript(search, { file, script, build: of });
  }
}

/** The root of a build, and the builds that it includes. */
function takeBuild(search: Search, root: string): Build {
  const { findings, builds } = search;
  builds.add(root);
  for (const name of AT_ROOT) {
    const path = inside(root, name);
    if (findings.view.entry(path) !== undefined || findings.view.hasFolder(path)) findings.take(path);
  }
  const scripts = SETTINGS.flatMap((name) => readFile(findings, inside(root, name), scriptParser) ?? []);
  const folders = new Map<string, string>([[':', root]]);
  for (const name of scripts.flatMap(({ includes }) => includes).flatMap(withParents)) {
    const folder = joinPath(root, name.replaceAll(':', '/').slice(1));
    if (folder !== undefined) folders.set(name, folder);
  }
  for (const { project, path } of scripts.flatMap((script) => script.folders)) {
    const folder = joinPath(root, path);
    if (folder !== undefined) folders.set(project, folder);
  }
  const accessors = new Map([...folders.keys()].map((name) => [accessorOf(name), name]));
  const build: Build = { root, folders, accessors };
  takeConfigured(search, build);
  for (const name of SETTINGS) addScript(search, build, inside(root, name));
  addScripts(search, build, root);
  return build;
}

/** `:a:b` makes `:a` a project as well. */
const withParents = (name: string): string[] =>
  name
    .slice(1)
    .split(':')
    .map((_part, at, parts) => `:${parts.slice(0, at + 1).join(':')}`);

function takeConfigured({ findings }: Search, { root, folders }: Build): void {
  if (folders.size > MAX_CONFIGURED) {
    findings.warn(
      `the build in ${root} has more than ${MAX_CONFIGURED} projects: of those that nothing depends on, list the build files in include`,
    );
    return;
  }
  for (const path of [...folders.values()].flatMap((folder) =>
    [...BUILD, 'gradle.properties'].map((name) => inside(folder, name)),
  ))
    if (findings.view.entry(path) !== undefined) findings.take(path);
}

const addScripts = (search: Search, build: Build, folder: string): void =>
  BUILD.forEach((name) => addScript(search, build, inside(folder, name)));

function addScript({ findings, scripts }: Search, build: Build, file: string): void {
  if (!scripts.has(file) && findings.view.entry(file) !== undefined) scripts.set(file, build);
}

interface ScriptFile {
  readonly file: string;
  readonly script: Script;
  readonly build: Build;
}

function takeScript(search: Search, { file, script, build }: ScriptFile): void {
  const { findings, home, builds } = search;
  const folder = folderOf(file);
  for (const path of script.builds) {
    const root = joinPath(folder, path);
    if (root === undefined || builds.has(root) || findings.take(root) !== 'folder') continue;
    takeBuild(search, root);
  }
  for (const path of script.scripts) {
    const at = joinPath(folder, path);
    if (at !== undefined && findings.take(at) === 'file') addScript(search, build, at);
  }
  const named = script.accessors.flatMap((accessor) => accessorTarget(build, accessor));
  for (const name of [...script.projects, ...named]) {
    const at = build.folders.get(name);
    if (at === undefined || holdsFolder(at, home)) continue;
    findings.take(at);
    addScripts(search, build, at);
  }
  for (const path of script.outward) {
    const at = joinPath(folder, path);
    if (at !== undefined && !holdsFolder(at, folder) && !holdsFolder(at, home)) findings.take(at);
  }
}

/** `projects.libs.net.dependencyProject` names a project, the one with the longest name that fits, and something of it. */
function accessorTarget({ accessors }: Build, accessor: string): string[] {
  for (let end = accessor.length; end > 0; end--) {
    const name = accessors.get(accessor.slice(0, end));
    if (name !== undefined) return [name];
  }
  return [];
}
