/** What Python files read: the modules that they import from outside of their folder, and the paths that they name. */
import { isProjectFile } from '../../projectfile.ts';
import { readFile, type Findings } from '../findings.ts';
import { takeLiteral } from '../literals.ts';
import { folderOf, inside, isBelow, joinPath } from '../paths.ts';
import type { View } from '../view.ts';
import type { PyImport } from './imports.ts';
import { programParser, type PyLiteral, type PyProgram } from './program.ts';

export interface Sources {
  /** Folder in which the program runs. */
  readonly home: string;
  /** Files that are looked at first; what they lead to is looked at as well. */
  readonly files: readonly string[];
  /** Folders outside of the program's in which modules are looked for. */
  readonly roots: readonly string[];
}

/** Files of one program that are looked at. */
const MAX_FILES = 5_000;

interface Search {
  readonly findings: Findings;
  readonly home: string;
  /** Grows while it is walked. */
  readonly files: Set<string>;
  readonly roots: Set<string>;
  /** Imports that are looked for in every root, by their text. */
  readonly wanted: Map<string, PyImport>;
}

/** Takes all that the files read. */
export function takeSources(findings: Findings, { home, files, roots }: Sources): void {
  const search: Search = { findings, home, files: new Set(files), roots: new Set(roots), wanted: new Map() };
  let looked = 0;
  for (const file of search.files) {
    if (++looked > MAX_FILES) {
      findings.warn(`${home} leads to more than ${MAX_FILES} Python files: list what it reads in include`);
      return;
    }
    const program = readFile(findings, file, programParser);
    if (program !== undefined) takeProgram(search, file, program);
  }
}

function takeProgram(search: Search, file: string, { imports, paths, roots, brokenAt }: PyProgram): void {
  const { findings, home } = search;
  const folder = folderOf(file);
  if (brokenAt !== undefined)
    findings.warn(`${file} line ${brokenAt} is not understood: list what the file reads in include`);
  for (const path of paths) {
    const bases = path.from === 'file' ? [folder] : path.from === 'cwd' ? [home] : [home, folder];
    const taken = takeLiteral(findings, path, { bases, homes: [home, folder], file });
    for (const one of taken) if (one.endsWith('.py')) search.files.add(one);
  }
  for (const root of roots) addRoot(search, file, root);
  for (const one of imports) {
    if (one.level > 0) takeModule(search, upFrom(folder, one.level - 1), one);
    else if (one.module.length > 0) want(search, one);
  }
}

function want(search: Search, one: PyImport): void {
  const key = `${one.module.join('.')} ${one.names.join()}`;
  if (search.wanted.has(key)) return;
  search.wanted.set(key, one);
  for (const root of search.roots) takeModule(search, root, one);
}

function addRoot(search: Search, file: string, { from, path, open, line }: PyLiteral): void {
  const { findings, home, roots, wanted } = search;
  if (open) {
    findings.warn(`${file} line ${line} looks for modules where only the run knows: list them in include`);
    return;
  }
  const root = joinPath(from === 'file' ? folderOf(file) : home, path);
  if (root === undefined || roots.has(root)) return;
  // an archive of modules, or a link to a folder of them
  if (!findings.view.hasFolder(root)) findings.take(root);
  roots.add(root);
  for (const one of wanted.values()) takeModule(search, root, one);
}

const upFrom = (folder: string, steps: number): string | undefined =>
  joinPath(folder, '../'.repeat(Math.min(steps, 64)));

/** Follows a name through packages, and takes each file that Python would run on the way. */
function takeModule(search: Search, root: string | undefined, { module, names }: PyImport): void {
  if (root === undefined) return;
  const { view } = search.findings;
  let at = root;
  for (const part of module) {
    at = inside(at, part);
    takeFile(search, `${at}.py`);
    if (!view.hasFolder(at)) return;
    takeFile(search, inside(at, '__init__.py'));
  }
  // the whole of the package, since only the package knows what all is
  if (names.includes('*') && at !== root) for (const file of pythonFiles(view, at)) takeFile(search, file);
  if (module.length === 0) takeFile(search, inside(at, '__init__.py'));
  for (const name of names) {
    if (name === '*') continue;
    takeFile(search, `${inside(at, name)}.py`);
    takeFile(search, inside(inside(at, name), '__init__.py'));
  }
}

function takeFile({ findings, files }: Search, path: string): void {
  if (findings.view.entry(path) === undefined) return;
  findings.take(path);
  files.add(path);
}

/** Folders that package managers fill; what is in them is not the program's own. */
const INSTALLED = /(?:^|\/)(?:site-packages|node_modules)\//;

/** Python files below a folder, without those of projects below it. */
export function pythonFiles(view: View, folder: string): string[] {
  const paths = view.below(folder).map(({ path }) => path);
  const nested = paths
    .filter(isProjectFile)
    .map(folderOf)
    .filter((at) => at !== folder && isBelow(at, folder));
  return paths.filter(
    (path) =>
      path.endsWith('.py') && !INSTALLED.test(path) && !nested.some((project) => isBelow(path, project)),
  );
}
