/** Where built programs are kept: outside the checkout, one folder for each set of sources and flags. */
import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tools, type Tool, type ToolName, type Wanted } from './catalog.ts';

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where sources come from and programs go to. */
export interface Workshop {
  /** Holds a pinned Go module per tool, in the folder of its name, and the scripts. */
  readonly modules: string;
  readonly cache: string;
  readonly environment: Environment;
}

/** The workshop of this checkout: the cache is `towline/tools` in `XDG_CACHE_HOME`, or in `~/.cache`. */
export async function openWorkshop(environment: Environment): Promise<Workshop> {
  const home = environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache');
  return { modules: await findModules(), cache: join(home, 'towline', 'tools'), environment };
}

/** From a bundle, the modules are those of the checkout that it lies in. */
async function findModules(start = fileURLToPath(import.meta.url)): Promise<string> {
  for (let folder = dirname(start); ; folder = dirname(folder)) {
    const candidate = join(folder, 'deploy', 'tools');
    if (await exists(join(candidate, 'pulumi', 'go.sum'))) return candidate;
    if (dirname(folder) === folder) throw new Error(`no deploy/tools in any folder above ${start}`);
  }
}

/** Folder of a program as the compiler made it. */
export async function builtFolder(workshop: Workshop, tool: Tool): Promise<string> {
  return join(workshop.cache, `${tool.name}-${await keyOf(workshop, [tool])}`);
}

/** Folder of a program with everything that must lie beside it. */
export async function setFolder(workshop: Workshop, want: Wanted): Promise<string> {
  if (want.beside.length === 0) return builtFolder(workshop, tools[want.name]);
  const key = await keyOf(workshop, partsOf(want), scriptsOf(want));
  return join(workshop.cache, `${want.name}-set-${key}`);
}

/** The programs to build for what is wanted. */
export const partsOf = (want: Wanted): readonly Tool[] =>
  [want.name, ...want.beside].filter(isTool).map((name) => tools[name]);

/** What is copied as it is from this folder. */
export function scriptsOf(want: Wanted): readonly string[] {
  const built = new Set(partsOf(want).flatMap(({ scripts = [] }) => scripts));
  return want.beside.filter((name) => !isTool(name) && !built.has(name));
}

const isTool = (name: string): name is ToolName => name in tools;

/** The same key means the same program, as far as sources, flags and platform decide it. */
async function keyOf(
  workshop: Workshop,
  parts: readonly Tool[],
  scripts: readonly string[] = [],
): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, parts, scripts]));
  const files = [...parts.flatMap(({ name }) => [`${name}/go.mod`, `${name}/go.sum`]), ...scripts];
  for (const file of files) hash.update(await readFile(join(workshop.modules, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Is there anything at this path? */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
