/** Runtime → how its inputs are found; and all that one project reads besides its own folder. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { inferDotnet } from './dotnet.ts';
import { makeFindings } from './findings.ts';
import { NOTHING_INFERRED, type Infer, type Inferred } from './infer.ts';
import { inferGo } from './go.ts';
import { inferJava } from './java.ts';
import { inside } from './paths.ts';
import { inferNodejs } from './nodejs.ts';
import { isTooDeep } from './patterns.ts';
import { pulumiParts } from './pulumi.ts';
import { inferPython } from './python.ts';
import { toolFiles } from './project.ts';
import type { View } from './view.ts';
import { inferYaml } from './yaml.ts';

/** By the name that a project file gives its runtime. */
const RUNTIMES: Readonly<Record<string, Infer>> = {
  dotnet: inferDotnet,
  go: inferGo,
  java: inferJava,
  kotlin: inferJava,
  scala: inferJava,
  nodejs: inferNodejs,
  bun: inferNodejs,
  python: inferPython,
  yaml: inferYaml,
};

/** Plugins that lead to plugins, each counted once. */
const MAX_PLUGINS = 100;

/** What a project reads besides its own folder: what its file names, and what its runtime finds; its plugins alike. */
export function infer(project: ProjectFile, view: View): Inferred {
  // a project that lies deeper is refused whatever it reads
  if (isTooDeep(inside(project.folder, project.file))) return NOTHING_INFERRED;
  const findings = makeFindings(view);
  const seen = new Set<string>();
  const open = [project];
  // what is added while it is walked is walked as well
  for (const next of open) {
    const file = inside(next.folder, next.file);
    if (seen.has(file)) continue;
    seen.add(file);
    if (seen.size > MAX_PLUGINS) {
      findings.problem(`${file} is one of more than ${MAX_PLUGINS} plugins that lead to each other`);
      break;
    }
    const { inferred, plugins } = pulumiParts(next, view);
    findings.add(inferred);
    open.push(...plugins);
    if (next !== project) toolFiles(view, next).forEach((path) => findings.take(path));
    const inferOne = Object.hasOwn(RUNTIMES, next.runtime) ? RUNTIMES[next.runtime] : undefined;
    if (inferOne !== undefined) findings.add(inferOne(next, view));
    else findings.warn(unknownRuntime(file, next.runtime));
  }
  return { ...findings.result(), gitFiles: true };
}

const unknownRuntime = (file: string, runtime: string): string =>
  `${file} has the runtime ${runtime}, whose programs are not looked into: list what they read outside of their folder in include`;
