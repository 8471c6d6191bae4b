/** Removes what runs leave: processes, folders, artifacts that nobody needs. */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ProcessIdentity, identityOf, statOf } from '../shared/process.ts';
import type { Order } from '../shared/wire.ts';
import type { Context } from './context.ts';
import { BY_SIGNAL } from './failures.ts';
import { isRunId, readIfThere, runFoldersOf, type RunFolders } from './folders.ts';
import { keepHolders, processesOf } from './holders.ts';
import { removeFolder } from './reclaim.ts';
import { marksOfAgent, marksOfRun } from './run.ts';
import { marksOf, readExit } from './runner/gate.ts';
import { endMarked, findMarked, valuesOf } from './runner/processes.ts';
import { stopRun } from './runner/stop.ts';

/** Ends what a run still has going and removes its folder. One that cannot be removed is only disk: the next start tries. */
async function discard(context: Context, runId: string): Promise<void> {
  await endMarked({ environment: marksOfRun(context.dataDir, runId) });
  await removeFolder(runFoldersOf(context.folders, runId).root, context.user).catch((error: unknown) =>
    context.log.error({ err: error, run: runId }, 'the folder of a run could not be removed'),
  );
}

/** The same for a run that nobody finishes: whose lock it may have left is kept in mind. */
export async function abandon(context: Context, runId: string): Promise<void> {
  const run = runFoldersOf(context.folders, runId);
  await halt(context, runId);
  await remember(context, run);
  await discard(context, runId);
}

/** Stops what Pulumi still does, as any stop does: ended at once, a create would be lost without a trace in the state. */
async function halt(context: Context, runId: string): Promise<void> {
  const marked = findMarked({ environment: marksOfRun(context.dataDir, runId) });
  const processes = await processesOf(runFoldersOf(context.folders, runId));
  const living = processes.filter(({ pid }) => marked.includes(pid));
  await Promise.all(
    living.map((cli) => stopRun({ gate: gateOf(cli), cli: async () => cli }, context.graces)),
  );
}

/** The leader of its session, whether or not that one still lives. */
function gateOf(cli: ProcessIdentity): ProcessIdentity {
  const session = statOf(cli.pid)?.session ?? cli.pid;
  return identityOf(session) ?? { ...cli, pid: session, startTime: '' };
}

/** A CLI that did not end by itself may have left its lock. */
async function remember(context: Context, run: RunFolders): Promise<void> {
  const names = (await readdir(run.marks).catch(() => [])).filter((name) => name.endsWith('.cli'));
  const exits = await Promise.all(
    names.map((name) => readExit(marksOf({ marks: run.marks, name: basename(name, '.cli') }))),
  );
  if (exits.some((exit) => exit === undefined || exit >= BY_SIGNAL))
    await keepHolders(context.folders.holders, run);
}

/** Ends and removes all runs of this agent that are not known. Other agents' runs carry another data folder. */
export async function sweep(context: Context, known: ReadonlySet<string>): Promise<void> {
  const folders = await readdir(context.folders.runs);
  const running = valuesOf('TOWLINE_RUN', marksOfAgent(context.dataDir));
  const unknown = [...new Set([...folders, ...running])].filter((runId) => !known.has(runId));
  // any process may call itself a run, by a name that is none
  await Promise.all(
    unknown.filter(isRunId).map(async (runId) => {
      context.log.info({ run: runId }, 'removing what an unknown run left');
      await abandon(context, runId);
    }),
  );
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
