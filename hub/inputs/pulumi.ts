/** What a project file names, whatever the runtime: the program, plugins, packages, and paths among the options. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { isFields } from '../fields.ts';
import { holdsFolder, makeFindings, readFile, type Findings } from './findings.ts';
import type { Inferred } from './infer.ts';
import { yamlParser } from './parsers.ts';
import { folderOf, inside, joinPath } from './paths.ts';
import type { View } from './view.ts';

/** What a project file says beyond what the catalog keeps of it. */
interface Settings {
  readonly main?: string;
  /** Of a program in TypeScript. */
  readonly tsconfig?: string;
  /** Of the file of a plugin. */
  readonly runtime?: string;
  readonly plugins: readonly string[];
  /** Sources of packages that are folders or files. */
  readonly packages: readonly string[];
  /** Texts among options and parameters that may be paths. */
  readonly options: readonly string[];
}

export interface PulumiParts {
  readonly inferred: Inferred;
  /** Plugins of the repository with a runtime of their own; their inputs are this project's as well. */
  readonly plugins: readonly ProjectFile[];
}

/** Where a plugin says what runtime it has. */
const PLUGIN_FILES = ['PulumiPlugin.yaml', 'PulumiPlugin.yml', 'PulumiPlugin.json'] as const;

/** A project file is one document; the catalog refuses any other, and this reads what it can of it. */
const projectParser = yamlParser('pulumi project', ([first]) => settingsOf(isFields(first) ? first : {}));

/** Where a project file says that the program is, and its tsconfig, as written: from the project's folder. */
export function programSettings(
  project: ProjectFile,
  view: View,
): { readonly main?: string; readonly tsconfig?: string } {
  const read = view.parsed(inside(project.folder, project.file), projectParser);
  return read?.kind === 'read' ? read.value : {};
}

/** The folder in which a project's program runs, and its main file where one is named. */
export function programOf(
  project: ProjectFile,
  view: View,
): { readonly folder: string; readonly file?: string } {
  const { main } = programSettings(project, view);
  const path = main === undefined ? project.folder : joinPath(project.folder, main);
  if (path === undefined || path === project.folder) return { folder: project.folder };
  return view.entry(path) === undefined ? { folder: path } : { folder: folderOf(path), file: path };
}

/** What a project file names. */
export function pulumiParts(project: ProjectFile, view: View): PulumiParts {
  const findings = makeFindings(view);
  const file = inside(project.folder, project.file);
  const settings = readFile(findings, file, projectParser);
  if (settings === undefined) return { inferred: findings.result(), plugins: [] };
  const program = programOf(project, view);
  if (program.folder !== project.folder) findings.take(program.folder);
  const plugins = [...settings.plugins, ...settings.packages].flatMap((path) =>
    pluginAt(findings, project, path),
  );
  for (const text of settings.options) takeOption(findings, project.folder, text);
  return { inferred: findings.result(), plugins };
}

function pluginAt(findings: Findings, project: ProjectFile, path: string): ProjectFile[] {
  const { view } = findings;
  const at = joinPath(project.folder, path);
  const file = inside(project.folder, project.file);
  if (at === undefined) {
    findings.problem(`${file} names ${path}, which is not in the repository: name a folder of it`);
    return [];
  }
  const found = findings.take(at);
  if (found === undefined) {
    findings.warn(`${file} names ${path}, which no commit has: if it is built, say how in run.build`);
    return [];
  }
  const folder = found === 'folder' ? at : folderOf(at);
  const name = PLUGIN_FILES.find((candidate) => view.entry(inside(folder, candidate)) !== undefined);
  if (name === undefined) return [];
  const runtime = readFile(findings, inside(folder, name), projectParser)?.runtime;
  return runtime === undefined
    ? []
    : [{ repository: project.repository, folder, file: name, name: project.name, runtime }];
}

/** Options name few paths, and none of them has to be there. A folder that holds the project is none of them. */
function takeOption(findings: Findings, folder: string, text: string): void {
  for (const part of text.split(/[\s=,]+/)) {
    const path = part.includes('/') ? joinPath(folder, part) : undefined;
    if (path !== undefined && !holdsFolder(path, folder)) findings.take(path);
  }
}

function settingsOf({ main, runtime, plugins, packages }: Record<string, unknown>): Settings {
  const sources = isFields(packages) ? Object.values(packages) : [];
  const name = isFields(runtime) ? runtime['name'] : runtime;
  const options = isFields(runtime) && isFields(runtime['options']) ? runtime['options'] : {};
  return {
    ...(typeof main === 'string' && main !== '' ? { main } : {}),
    ...(typeof name === 'string' ? { runtime: name } : {}),
    ...(typeof options['tsconfig'] === 'string' ? { tsconfig: options['tsconfig'] } : {}),
    plugins: textsOf(plugins, (field) => field === 'path'),
    packages: sources
      .map((source) => (isFields(source) ? source['source'] : source))
      .filter((source) => typeof source === 'string')
      .filter((source) => /^\.{1,2}(?:\/|$)/.test(source)),
    options: [
      // a virtual environment is made by the install
      ...textsOf(options, (field) => field !== 'virtualenv'),
      ...sources.flatMap((source) => (isFields(source) ? textsOf(source['parameters'], () => true) : [])),
    ],
  };
}

/** Texts in a value, of the fields that count. What aliases stand for is looked at once. */
function textsOf(value: unknown, counts: (field: string) => boolean): string[] {
  const found: string[] = [];
  const open = new Map<unknown, string>([[value, '']]);
  for (const [at, field] of open) {
    if (at === null || typeof at !== 'object') continue;
    for (const [key, inner] of Object.entries(at)) {
      const name = Array.isArray(at) ? field : key;
      if (typeof inner !== 'string') open.set(inner, name);
      else if (counts(name)) found.push(inner);
    }
  }
  return found;
}
