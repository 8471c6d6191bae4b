/** Removes what runs leave: processes, folders, artifacts that nobody needs. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Order } from '../shared/wire.ts';
import type { Context } from './context.ts';
import { readIfThere, removeFolder, runFoldersOf } from './folders.ts';
import { keepHolders } from './holders.ts';
import { marksOfAgent, marksOfRun } from './run.ts';
import { marksOf, readCli, readExit } from './runner/gate.ts';
import { endMarked, valuesOf } from './runner/processes.ts';

/** Ends what a run still has going and removes its folder. */
export async function discard(context: Context, runId: string): Promise<void> {
  await endMarked({ environment: marksOfRun(context.dataDir, runId) });
  await removeFolder(runFoldersOf(context.folders, runId).root);
}

const BY_SIGNAL = 128;

/** Nobody finished this run: keeps in mind whose lock it may have left. */
async function remember(context: Context, runId: string): Promise<void> {
  const run = runFoldersOf(context.folders, runId);
  const marks = marksOf({ marks: run.marks, name: 'up' });
  const [cli, exit] = await Promise.all([readCli(marks), readExit(marks)]);
  if (cli !== undefined && (exit === undefined || exit >= BY_SIGNAL))
    await keepHolders(context.folders.holders, run);
}

/** Ends and removes all runs of this agent that are not known. Other agents' runs carry another data folder. */
export async function sweep(context: Context, known: ReadonlySet<string>): Promise<void> {
  const folders = await readdir(context.folders.runs);
  const running = valuesOf('TOWLINE_RUN', marksOfAgent(context.dataDir));
  for (const runId of new Set([...folders, ...running])) {
    if (known.has(runId)) continue;
    context.log.info({ run: runId }, 'removing what an unknown run left');
    await remember(context, runId);
    await discard(context, runId);
  }
}

/** Removes a run's folder, and artifacts above the budget. */
export async function cleanup(context: Context, runId: string): Promise<void> {
  await discard(context, runId);
  await context.artifacts.trim(await neededArtifacts(context.folders.successes));
  await context.at('cleanup');
}

async function neededArtifacts(successes: string): Promise<Set<string>> {
  const names = (await readdir(successes)).filter((name) => name.endsWith('.json'));
  const texts = await Promise.all(names.map((name) => readIfThere(join(successes, name))));
  return new Set(
    texts.flatMap((text) => (text === undefined ? [] : [(JSON.parse(text) as Order).artifact.name])),
  );
}
