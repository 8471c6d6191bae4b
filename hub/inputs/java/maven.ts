/** Maven: parents, modules, and modules of the same build that a program depends on. */
import { holdsFolder, readFile, type Findings } from '../findings.ts';
import { isOutward } from '../literals.ts';
import { folderOf, inside, joinPath, upwards } from '../paths.ts';
import type { View } from '../view.ts';
import { childrenNamed, elementsNamed, textIn, textsOf, xmlParser, type Xml } from '../xml.ts';

interface Coordinates {
  readonly group: string;
  readonly artifact: string;
}

interface Pom extends Coordinates {
  /** Where the parent is: undefined: there is none, or not in the repository. */
  readonly parent?: { readonly path: string; readonly named: boolean };
  readonly modules: readonly string[];
  readonly dependencies: readonly Coordinates[];
  /** Paths that leave the folder. */
  readonly outward: readonly string[];
}

const pomParser = xmlParser('maven', readPom);
/** Files of one build that are looked into. */
const MAX_POMS = 2_000;
/** What stands beside the file of the whole build. */
const BESIDE = ['.mvn', 'mvnw', 'mvnw.cmd'] as const;

/** Takes what the program in a folder is built from. */
export function takeMaven(findings: Findings, home: string): void {
  const { view } = findings;
  const first = inside(home, 'pom.xml');
  if (view.entry(first) === undefined) return;
  for (const folder of upwards(home))
    for (const name of BESIDE)
      if (view.entry(inside(folder, name)) !== undefined || view.hasFolder(inside(folder, name)))
        findings.take(inside(folder, name));
  const open = new Set([first]);
  for (const file of open) {
    if (open.size > MAX_POMS) {
      findings.problem(`${home} is built from more than ${MAX_POMS} modules of Maven`);
      return;
    }
    findings.take(file);
    const pom = readFile(findings, file, pomParser);
    if (pom === undefined) continue;
    for (const next of takePom(findings, { file, pom, own: file === first })) open.add(next);
  }
}

interface PomFile {
  readonly file: string;
  readonly pom: Pom;
  /** It is the program's own. */
  readonly own: boolean;
}

/** Takes what a file names; answers with the files to look into. */
function takePom(findings: Findings, { file, pom, own }: PomFile): string[] {
  const { view } = findings;
  const folder = folderOf(file);
  const next: string[] = [];
  const parent = pom.parent === undefined ? undefined : pomAt(view, folder, pom.parent.path);
  if (parent !== undefined) next.push(parent);
  else if (pom.parent?.named === true)
    findings.warn(`${file} names the parent ${pom.parent.path}, which no commit has: mend its relativePath`);
  for (const module of own ? pom.modules : []) {
    const at = pomAt(view, folder, module);
    if (at === undefined) continue;
    findings.take(folderOf(at));
    next.push(at);
  }
  for (const dependency of pom.dependencies) {
    const at = moduleOf(view, folder, dependency);
    if (at === undefined || at === folder) continue;
    findings.take(at);
    next.push(inside(at, 'pom.xml'));
  }
  for (const path of pom.outward) {
    const at = joinPath(folder, path);
    if (at !== undefined && !holdsFolder(at, folder) && view.entry(inside(at, 'pom.xml')) === undefined)
      findings.take(at);
  }
  return next;
}

/** A path names a file, or a folder with a pom.xml. */
function pomAt(view: View, folder: string, path: string): string | undefined {
  const at = joinPath(folder, path);
  if (at === undefined) return undefined;
  if (view.entry(at) !== undefined) return at;
  const file = inside(at, 'pom.xml');
  return view.entry(file) === undefined ? undefined : file;
}

/** Folder of the module of the builds above a folder that a dependency means. */
function moduleOf(view: View, folder: string, { group, artifact }: Coordinates): string | undefined {
  for (const root of upwards(folder)) {
    const found = view.fact({
      key: `maven module:${root}:${group}:${artifact}`,
      answer: (inner) => {
        const all = modulesOf(inner, root);
        const modules = Object.hasOwn(all, artifact) ? all[artifact] : undefined;
        const fits = modules?.find((module) => sameGroup(module.group, group));
        return fits?.folder ?? null;
      },
    });
    if (found !== null) return found;
  }
  return undefined;
}

/** A property may stand for any group. */
const sameGroup = (a: string, b: string): boolean => a === b || a.includes('${') || b.includes('${');

type Modules = Readonly<Record<string, readonly { readonly group: string; readonly folder: string }[]>>;

/** Modules of the build in a folder, and of theirs, by artifact. */
const modulesOf = (view: View, root: string): Modules =>
  view.fact({
    key: `maven modules:${root}`,
    answer: (inner) => {
      const found = new Map<string, { group: string; folder: string }[]>();
      const open = new Set([inside(root, 'pom.xml')]);
      for (const file of open) {
        if (open.size > MAX_POMS) break;
        const read = inner.entry(file) === undefined ? undefined : inner.parsed(file, pomParser);
        if (read?.kind !== 'read') continue;
        const { group, artifact, modules } = read.value;
        const module = { group, folder: folderOf(file) };
        found.set(artifact, [...(found.get(artifact) ?? []), module]);
        for (const path of modules) {
          const at = pomAt(inner, folderOf(file), path);
          if (at !== undefined) open.add(at);
        }
      }
      return Object.fromEntries(found);
    },
  });

function readPom(root: Xml): Pom {
  const [project = {}] = childrenNamed(root, 'project');
  const text = (element: Xml, name: string): string => textIn(childrenNamed(element, name)[0]);
  const [parent] = childrenNamed(project, 'parent');
  const [relative] = childrenNamed(parent, 'relativePath');
  const path = relative === undefined ? '../pom.xml' : textIn(relative);
  const group = text(project, 'groupId') || text(parent, 'groupId');
  return {
    group,
    artifact: text(project, 'artifactId'),
    ...(parent === undefined || path === '' ? {} : { parent: { path, named: relative !== undefined } }),
    modules: elementsNamed(project, 'module').map(textIn),
    dependencies: elementsNamed(project, 'dependency').map((one) => ({
      group: text(one, 'groupId'),
      artifact: text(one, 'artifactId'),
    })),
    outward: textsOf(root)
      .map((one) => one.replace(/^\$\{(?:project\.)?basedir\}\//, ''))
      .filter(isOutward),
  };
}
