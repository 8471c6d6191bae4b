/** Which files of a repository a project reads by itself: its settings, its lockfile, its tools' settings. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { PROJECT_FILES } from '../projectfile.ts';
import { folderOf, inside, joinPath, nameOf, upwards } from './paths.ts';
import type { View } from './view.ts';

const SETTINGS_FILE = /^Pulumi\..+\.(?:yaml|yml|json)$/;

/** Files of parent folders that decide which tools run and how, by runtime; `all` holds for every project. */
const TOOL_FILES: Readonly<Record<string, readonly string[]>> = {
  all: ['.pulumi-version', '.tool-versions'],
  nodejs: ['.nvmrc', '.node-version', '.npmrc'],
  python: ['.python-version'],
  dotnet: ['global.json', 'Directory.Build.props', 'Directory.Build.targets', 'Directory.Packages.props'],
};

/** In npm's order of precedence. */
const NPM_LOCKFILES = ['npm-shrinkwrap.json', 'package-lock.json'];
const NPM_MANIFESTS = ['package.json', '.npmrc'];

/** Where Pulumi looks for the settings of stacks; undefined when that is outside the repository. */
export const settingsFolder = (project: ProjectFile): string | undefined =>
  joinPath(project.folder, project.stackConfigDir ?? '.');

/** The settings file of one stack: its name is the last part of the stack's, its extension the project file's. */
export function settingsFile(project: ProjectFile, pulumiStack: string): string | undefined {
  const folder = settingsFolder(project);
  const extension = project.file.slice(project.file.lastIndexOf('.'));
  return folder === undefined ? undefined : inside(folder, `Pulumi.${nameOf(pulumiStack)}${extension}`);
}

/** Whether a file holds settings of some stack: of this project, or of another one that the tree holds. */
export function isSettingsFile(path: string, view: View, project: ProjectFile): boolean {
  if (!SETTINGS_FILE.test(nameOf(path))) return false;
  const folder = folderOf(path);
  return folder === project.folder || folder === settingsFolder(project) || isProject(folder, view);
}

/** Whether a folder has a project file of its own. */
export const isProject = (folder: string, view: View): boolean =>
  present(view, folder, PROJECT_FILES).length > 0;

/** The nearest npm lockfile, and the manifests from its folder down to the project. */
export function npmFiles(view: View, project: ProjectFile): string[] {
  if (project.runtime !== 'nodejs') return [];
  const folders = upwards(project.folder);
  const nearest = folders.findIndex((folder) => present(view, folder, NPM_LOCKFILES).length > 0);
  if (nearest < 0) return [];
  return [
    ...present(view, folders[nearest] as string, NPM_LOCKFILES),
    ...folders.slice(0, nearest + 1).flatMap((folder) => present(view, folder, NPM_MANIFESTS)),
  ];
}

/** Tool files in the folders above a project. */
export function toolFiles(view: View, project: ProjectFile): string[] {
  const own = Object.hasOwn(TOOL_FILES, project.runtime) ? TOOL_FILES[project.runtime] : undefined;
  const names = [...(TOOL_FILES['all'] ?? []), ...(own ?? [])];
  return upwards(project.folder).flatMap((folder) => present(view, folder, names));
}

const present = (view: View, folder: string, names: readonly string[]): string[] =>
  names.map((name) => inside(folder, name)).filter((path) => view.entry(path) !== undefined);
