/** What Node.js programs read besides their own folder. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { type Infer, type Inferred, NOTHING_INFERRED } from './infer.ts';
import { builtFiles } from './nodejs/built.ts';
import { madeFiles } from './nodejs/cut.ts';
import { type Install, installOf } from './nodejs/install.ts';
import { type Packages, packagesOf } from './nodejs/packages.ts';
import { comesWith } from './nodejs/nearest.ts';
import { phantomsIn } from './nodejs/phantoms.ts';
import { type Program, programOf } from './nodejs/program.ts';
import { settingsFiles } from './nodejs/settings.ts';
import { trace, type Traced } from './nodejs/trace.ts';
import { compiledBy } from './nodejs/tsconfig.ts';
import type { Roots } from './nodejs/globs.ts';
import { inside } from './paths.ts';
import { isTooDeep } from './patterns.ts';
import type { View } from './view.ts';

/** Packages of the repository, the lockfile cut to what the program installs, and all that its sources lead to. */
export const inferNodejs: Infer = (project, view) => {
  // a project that lies deeper is refused whatever it reads
  if (isTooDeep(inside(project.folder, project.file))) return NOTHING_INFERRED;
  const setup = setupOf(project, view);
  const used = new Set<string>();
  const warnings = new Set<string>();
  for (;;) {
    const found = find(view, setup, [...used]);
    const fresh = found.phantoms.folders.filter((folder) => !used.has(folder));
    found.phantoms.warnings.forEach((warning) => warnings.add(warning));
    if (fresh.length === 0)
      return inferredFrom(view, setup, { ...found, warnings: [...warnings, ...found.warnings] });
    fresh.forEach((folder) => used.add(folder));
  }
};

interface Setup {
  readonly project: ProjectFile;
  readonly program: Program;
  /** Undefined: there is no package.json. */
  readonly install: Install | undefined;
  readonly roots: Roots;
}

function setupOf(project: ProjectFile, view: View): Setup {
  const program = programOf(project, view);
  const install = installOf(view, program.directories.at(-1) ?? project.folder);
  return { project, program, install, roots: install ?? { root: project.folder, manager: null } };
}

interface Found {
  readonly packages: Packages | undefined;
  readonly settings: { readonly files: readonly string[]; readonly folders: readonly string[] };
  readonly traced: Traced;
  readonly phantoms: ReturnType<typeof phantomsIn>;
  readonly warnings: readonly string[];
}

const NO_SETTINGS = { files: [], folders: [] };
const NO_PHANTOMS = { folders: [], warnings: [] };

/** `used`: workspaces that the sources use and no package.json names. */
function find(view: View, { project, program, install, roots }: Setup, used: readonly string[]): Found {
  const packages = install && packagesOf(view, { project: project.folder, install, more: used });
  const settings = install === undefined ? NO_SETTINGS : view.fact(settingsFiles(install));
  const compiled =
    program.tsconfig === undefined ? undefined : view.fact(compiledBy(roots, program.tsconfig));
  const folders = [
    project.folder,
    ...(packages?.folders ?? []),
    ...(compiled?.folders ?? []),
    ...program.directories,
  ];
  const traced = trace(view, {
    project: project.folder,
    directories: program.directories,
    roots,
    folders: folders.filter(
      (folder) => folder === project.folder || !comesWith(view, folder, project.folder),
    ),
    files: [
      ...programFiles(view, program),
      ...settings.files,
      ...(compiled?.files ?? []),
      ...(packages?.closure.files ?? []),
    ],
    mapping: compiled?.mapping ?? null,
  });
  const phantoms =
    packages === undefined
      ? NO_PHANTOMS
      : phantomsIn(view, { roots, packages: traced.packages, declared: packages.closure.names });
  return { packages, settings, traced, phantoms, warnings: compiled?.warnings ?? [] };
}

/** A program that is one file outside of the project; what lies in the project is read with it. */
const programFiles = (view: View, { main, directories }: Program): string[] =>
  main === undefined || directories.includes(main) || view.entry(main) === undefined ? [] : [main];

function inferredFrom(view: View, { project, program }: Setup, found: Found): Inferred {
  const { packages, settings, traced } = found;
  const { cut, problems = [] } = packages ?? {};
  const files = new Set([
    ...traced.files,
    ...(cut?.whole ?? []),
    ...(cut?.paths ?? []).filter((path) => view.entry(path) !== undefined),
  ]);
  // what is made stands in place of what is there
  cut?.made.forEach(([path]) => files.delete(path));
  const folders = new Set([...traced.folders, ...settings.folders]);
  folders.delete(project.folder);
  const file = inside(project.folder, project.file);
  const built = builtFiles(view, { program, file, packages: packages?.folders ?? [] });
  const leaves = program.main === undefined ? [`${file} names a program outside of the repository`] : [];
  return {
    files: [...files].sort(),
    folders: [...folders].sort(),
    made: packages === undefined ? [] : madeFiles(packages.cut, packages.cutting),
    problems: [...new Set([...leaves, ...problems])],
    warnings: atMost(
      [...new Set([...found.warnings, ...(cut?.warnings ?? []), ...traced.warnings, ...built])].sort(),
    ),
  };
}

/** More of them nobody reads. */
const MAX_WARNINGS = 30;

const atMost = (warnings: readonly string[]): string[] =>
  warnings.length <= MAX_WARNINGS
    ? [...warnings]
    : [...warnings.slice(0, MAX_WARNINGS), `${warnings.length - MAX_WARNINGS} more warnings of this kind`];
