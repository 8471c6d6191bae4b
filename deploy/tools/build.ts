/** Builds programs from their pinned Go modules, once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, link, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { builtFolder, exists, partsOf, scriptsOf, setFolder, type Workshop } from './cache.ts';
import type { Tool, Wanted } from './catalog.ts';

/** Takes one line of progress. */
export type Say = (line: string) => void;

/** A program did not build; the message ends with what the compiler said last. */
export class BuildFailed extends Error {}

const PROGRESS_EVERY_MS = 15_000;
const LAST_LINES = 20;

/** Builds a program unless it is there. Resolves to its path. Rejects with BuildFailed. */
export async function buildTool(workshop: Workshop, tool: Tool, say: Say): Promise<string> {
  const folder = await builtFolder(workshop, tool);
  await fillOnce(folder, async (draft) => {
    const start = performance.now();
    const elapsed = (): string => duration(performance.now() - start);
    say(`${tool.name}: building`);
    const ticker = setInterval(
      () => say(`${tool.name}: still building after ${elapsed()}`),
      PROGRESS_EVERY_MS,
    );
    try {
      await compile(workshop, tool, join(draft, tool.name));
      await copyScripts(workshop, tool, draft);
    } finally {
      clearInterval(ticker);
    }
    say(`${tool.name}: built in ${elapsed()}`);
  });
  return join(folder, tool.name);
}

/** Lays the parts of a program together, all of them built before. Resolves to the path of the program. */
export async function layTogether(workshop: Workshop, want: Wanted): Promise<string> {
  const folder = await setFolder(workshop, want);
  await fillOnce(folder, async (draft) => {
    for (const tool of partsOf(want)) {
      const built = await builtFolder(workshop, tool);
      for (const name of [tool.name, ...(tool.scripts ?? [])])
        await place(join(built, name), join(draft, name));
    }
    for (const script of scriptsOf(want)) {
      await copyFile(join(workshop.modules, script), join(draft, script));
      await chmod(join(draft, script), 0o755);
    }
  });
  return join(folder, want.name);
}

/** A second name of the same file, since a symbolic link would lead the program away from its neighbours. */
async function place(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch {
    await copyFile(from, to);
  }
}

/** Whoever reads the folder sees all of it or nothing; of two that fill it at once, one wins. */
async function fillOnce(folder: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (await exists(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.draft-`);
  try {
    await fill(draft);
    await chmod(draft, 0o755);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
}

async function compile(workshop: Workshop, tool: Tool, output: string): Promise<void> {
  await go(workshop, tool, ['build', '-trimpath', '-ldflags', tool.linkerFlags, '-o', output, tool.source]);
}

/** The module was fetched to build the program, so its scripts are at hand as well. */
async function copyScripts(workshop: Workshop, tool: Tool, draft: string): Promise<void> {
  if (tool.scripts === undefined) return;
  const folder = (await go(workshop, tool, ['list', '-f', '{{.Dir}}', tool.source])).trim();
  for (const name of tool.scripts) {
    await copyFile(join(dirname(folder), name), join(draft, name));
    await chmod(join(draft, name), 0o755);
  }
}

/** Runs Go in a tool's module. Resolves to what it printed. */
async function go(workshop: Workshop, tool: Tool, args: readonly string[]): Promise<string> {
  const child = spawn('go', args, {
    cwd: join(workshop.modules, tool.name),
    env: { ...workshop.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let messages = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (messages += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return printed;
  const last = messages.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  throw new BuildFailed(`${tool.name} does not build:\n${last}`);
}

/** `45 s`, `4 min 16 s` */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
