/** What programs in .NET are built from: projects that they refer to, imported settings, files of other folders. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { makeFindings, readFile, type Findings } from './findings.ts';
import type { Inferred } from './infer.ts';
import { filesIn } from './listing.ts';
import { takeLiteral } from './literals.ts';
import { folderOf, inside, joinPath, upwards } from './paths.ts';
import { programOf } from './pulumi.ts';
import type { View } from './view.ts';
import { attributeOf, elementsNamed, textIn, xmlParser, type Xml } from './xml.ts';

interface MsBuild {
  readonly references: readonly string[];
  readonly imports: readonly string[];
  /** Files that are compiled or copied, patterns among them, and libraries. */
  readonly items: readonly string[];
  /** Folders of packages, of NuGet's settings. */
  readonly sources: readonly string[];
}

/** Files of folders above that the build reads by itself; names are compared as the tools do. */
const ABOVE = [
  'Directory.Build.props',
  'Directory.Build.targets',
  'Directory.Build.rsp',
  'Directory.Packages.props',
  'NuGet.config',
  'NuGet.Config',
  'nuget.config',
  'global.json',
] as const;

/** Items that are files. */
const FILE_ITEMS = [
  'Compile',
  'Content',
  'None',
  'EmbeddedResource',
  'AdditionalFiles',
  'Protobuf',
  'Reference',
];
const PROJECT = /\.(?:cs|fs|vb)proj$/;
/** Files of one build that are looked into. */
const MAX_FILES = 2_000;

const msbuildParser = xmlParser('msbuild', readMsBuild);

/** Inputs of a program in .NET. */
export function inferDotnet(project: ProjectFile, view: View): Inferred {
  const findings = makeFindings(view);
  const program = programOf(project, view);
  const names = filesIn(view, program.folder).filter((name) => PROJECT.test(name));
  // each file with the folder of the project that it is read for
  const open = new Map<string, string>();
  for (const name of names) addProject(findings, open, inside(program.folder, name));
  if (names.length === 0) takeAbove(findings, open, program.folder);
  for (const [file, home] of open) {
    if (open.size > MAX_FILES) {
      findings.problem(`${program.folder} is built from more than ${MAX_FILES} files of MSBuild`);
      break;
    }
    const read = readFile(findings, file, msbuildParser);
    if (read !== undefined) takeBuild(findings, open, { file, home, read });
  }
  return findings.result();
}

function addProject(findings: Findings, open: Map<string, string>, file: string): void {
  open.set(file, folderOf(file));
  takeAbove(findings, open, folderOf(file));
}

function takeAbove(findings: Findings, open: Map<string, string>, home: string): void {
  for (const path of upwards(home).flatMap((folder) => ABOVE.map((name) => inside(folder, name)))) {
    if (findings.view.entry(path) === undefined) continue;
    findings.take(path);
    if (!open.has(path) && !/\.(?:json|rsp)$/.test(path)) open.set(path, home);
  }
}

interface Build {
  readonly file: string;
  readonly home: string;
  readonly read: MsBuild;
}

function takeBuild(findings: Findings, open: Map<string, string>, { file, home, read }: Build): void {
  const folder = folderOf(file);
  const at = (path: string): string | undefined => (path.includes('$(') ? undefined : joinPath(folder, path));
  for (const reference of read.references.flatMap(pathsIn)) {
    const path = at(reference);
    if (path === undefined || findings.view.entry(path) === undefined) {
      findings.warn(
        `${file} refers to ${reference}, which no commit has: list the project's folder in include`,
      );
    } else if (!open.has(path)) {
      findings.take(folderOf(path));
      addProject(findings, open, path);
    }
  }
  for (const imported of read.imports.flatMap(pathsIn)) {
    const path = at(imported);
    if (path === undefined || findings.take(path) !== 'file' || open.has(path)) continue;
    open.set(path, home);
  }
  for (const item of [...read.items.flatMap(pathsIn), ...read.sources.flatMap(pathsIn)])
    takeLiteral(findings, itemOf(item), { bases: [...new Set([home, folder])], homes: [home, folder], file });
}

const WILDCARD = /[*?]/;

/** A pattern counts as its folder; a property in the middle ends what is known. */
function itemOf(path: string): { path: string; open: boolean; lists: boolean; line: number } {
  const [known = ''] = path.split(/[$%@]\(/);
  const parts = known.split('/');
  const wild = parts.findIndex((part) => WILDCARD.test(part));
  if (wild >= 0) return { path: parts.slice(0, wild).join('/'), open: false, lists: true, line: 1 };
  return { path: known, open: known !== path, lists: false, line: 1 };
}

/** Properties that stand for the folder of the file, or of the project. */
const HERE = /^\$\((?:MSBuildThisFileDirectory|MSBuildProjectDirectory|ProjectDir)\)\/*/;

/** Paths of a list; those of tools and packages are none of the repository's. */
const pathsIn = (list: string): string[] =>
  list
    .split(';')
    .map((path) => path.trim().replaceAll('\\', '/').replace(HERE, './'))
    .filter((path) => path !== '' && !/^(?:\/|[$%@]\(|[A-Za-z][A-Za-z0-9+.-]*:)/.test(path));

function readMsBuild(root: Xml): MsBuild {
  const included = (name: string): readonly string[] =>
    elementsNamed(root, name).flatMap((element) => attributeOf(element, 'Include') ?? []);
  return {
    references: included('ProjectReference'),
    imports: elementsNamed(root, 'Import').flatMap((element) => attributeOf(element, 'Project') ?? []),
    // only what leaves the folder: the rest of the folder is an input anyway
    items: [...FILE_ITEMS.flatMap(included), ...elementsNamed(root, 'HintPath').map(textIn)].filter((path) =>
      /^(?:\.\.|\$\()/.test(path),
    ),
    sources: elementsNamed(root, 'packageSources')
      .flatMap((sources) => elementsNamed(sources, 'add'))
      .flatMap((element) => attributeOf(element, 'value') ?? []),
  };
}
