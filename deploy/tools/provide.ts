/** Finds the programs that Towline starts and builds those that are not there. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { buildTool, layTogether, type Say } from './build.ts';
import { openWorkshop, partsOf, type Environment, type Workshop } from './cache.ts';
import { wanted, type Tool, type Wanted } from './catalog.ts';
import { goFault, newest } from './decide.ts';
import { findTools, lookUp, ToolMissing, type Tools } from './find.ts';
import { lookForGo } from './look.ts';

/** The linker of a large program uses gigabytes, and the compiler all cores by itself. */
const BUILDS_AT_ONCE = 2;

/** As findTools, but builds what is missing, which takes minutes. Rejects with ToolMissing or BuildFailed. */
export async function provideTools(environment: Environment, say: Say): Promise<Tools> {
  const workshop = await openWorkshop(environment);
  const missing: Wanted[] = [];
  for (const want of Object.values(wanted)) {
    const found = await lookUp(want, workshop);
    if (found.kind !== 'build') continue;
    missing.push(want);
    if (found.passedOver !== undefined) say(`${want.name}: ${found.passedOver}`);
  }
  if (missing.length > 0) await provide(missing, workshop, say);
  return findTools(environment);
}

async function provide(missing: readonly Wanted[], workshop: Workshop, say: Say): Promise<void> {
  const parts = missing.flatMap(partsOf);
  await requireGo(missing, parts, workshop);
  const limit = pLimit({ concurrency: BUILDS_AT_ONCE, rejectOnClear: true });
  try {
    await Promise.all(parts.map((tool) => limit(() => buildTool(workshop, tool, say))));
  } finally {
    limit.clearQueue();
  }
  for (const want of missing) await layTogether(workshop, want);
}

/** Says what to install before a build starts that cannot end well. */
async function requireGo(
  missing: readonly Wanted[],
  parts: readonly Tool[],
  workshop: Workshop,
): Promise<void> {
  const modules = parts.map(({ name }) => join(workshop.modules, name));
  const versions = await Promise.all(modules.map(goVersionOf));
  const needed = newest(versions);
  const folder = modules[versions.indexOf(needed)] ?? workshop.modules;
  const fault = goFault(needed, await lookForGo(folder, workshop.environment));
  if (fault === undefined) return;
  const names = missing.map(({ name, variable }) => `${name} (or set ${variable} to its path)`);
  throw new ToolMissing(`To build ${names.join(' and ')}: ${fault}`);
}

async function goVersionOf(module: string): Promise<string> {
  const file = join(module, 'go.mod');
  const version = /^go (\S+)$/m.exec(await readFile(file, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${file} names no Go version`);
  return version;
}
