/** Where built programs are kept: outside the checkout, one folder for each set of sources and flags. */
import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DYNAMIC_PROVIDER, tools, wanted, type Tool, type ToolName, type Wanted } from './catalog.ts';

/** The environment of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the pinned modules; from a bundle it is found in the checkout that the bundle lies in. */
export async function modulesFolder(start = fileURLToPath(import.meta.url)): Promise<string> {
  for (let folder = dirname(start); ; folder = dirname(folder)) {
    const candidate = join(folder, 'deploy', 'tools');
    if (await exists(join(candidate, 'pulumi', 'go.sum'))) return candidate;
    if (dirname(folder) === folder) throw new Error(`no deploy/tools in any folder above ${start}`);
  }
}

/** `XDG_CACHE_HOME`, or `~/.cache`, with our name. */
export const cacheFolder = (environment: Environment): string =>
  join(environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache'), 'towline', 'tools');

/** Folder of a program as the compiler made it. */
export async function builtFolder(environment: Environment, tool: Tool): Promise<string> {
  return join(cacheFolder(environment), `${tool.name}-${await keyOf([tool])}`);
}

/** Folder of a program with everything that must lie beside it. */
export async function setFolder(environment: Environment, want: Wanted): Promise<string> {
  const parts = partsOf(want);
  if (want.beside.length === 0) return builtFolder(environment, tools[want.name]);
  const script = await readFile(join(await modulesFolder(), DYNAMIC_PROVIDER), 'utf8');
  return join(cacheFolder(environment), `${want.name}-set-${await keyOf(parts, script)}`);
}

/** The programs to build for what is wanted. */
export const partsOf = (want: Wanted): readonly Tool[] =>
  [want.name, ...want.beside].filter((name): name is ToolName => name in tools).map((name) => tools[name]);

/** The same key means the same bytes, as far as the sources decide it. */
async function keyOf(parts: readonly Tool[], ...more: readonly string[]): Promise<string> {
  const modules = await modulesFolder();
  const hash = createHash('sha256').update(JSON.stringify([process.platform, process.arch, parts, more]));
  for (const tool of parts)
    for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(modules, tool.name, file)));
  return hash.digest('hex').slice(0, 16);
}

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

/** The catalog again, for callers that go over it. */
export const allWanted: readonly Wanted[] = Object.values(wanted);
