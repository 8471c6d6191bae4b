/** Locks of a stack and the processes of ours that may have left them. */
import { readdir, readFile, rm, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { limits } from '../shared/limits.ts';
import { readIfThere, writeWhole, type RunFolders } from './folders.ts';
import {
  judgeLocks,
  lockFolder,
  parseLockFile,
  type LockState,
  type OwnProcess,
  type StackLock,
} from './locks.ts';
import type { Cli } from './pulumi/cli.ts';
import { cancelLocks, probeLocks } from './pulumi/stack.ts';
import type { Run } from './run.ts';
import { readCli } from './runner/gate.ts';
import { thisMachine } from './runner/processes.ts';

/** The CLI processes of a run, as the marks in its folder name them. */
export async function processesOf(run: RunFolders): Promise<OwnProcess[]> {
  const names = (await readdir(run.marks).catch(() => [])).filter((name) => name.endsWith('.cli'));
  const found = await Promise.all(names.map((name) => readCli({ cli: join(run.marks, name) })));
  return found.flatMap((cli) => (cli === undefined ? [] : [{ ...cli, runId: basename(run.root) }]));
}

/** Keeps the processes of a cut-off run in mind after its folder is gone. */
export async function keepHolders(folder: string, run: RunFolders): Promise<void> {
  const processes = await processesOf(run);
  if (processes.length === 0) return;
  await writeWhole(join(folder, `${basename(run.root)}.json`), JSON.stringify(processes));
  // run ids grow with time, so the oldest come first
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  for (const name of names.slice(0, -limits.keptHolders)) await unlink(join(folder, name));
}

/** Drops what {@link keepHolders} kept of a run. */
export const dropHolders = (folder: string, runId: string): Promise<void> =>
  rm(join(folder, `${runId}.json`), { force: true });

async function knownProcesses(folder: string, run: RunFolders): Promise<OwnProcess[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const kept = await Promise.all(names.map((name) => readIfThere(join(folder, name))));
  const earlier = kept.flatMap((text) => (text === undefined ? [] : (JSON.parse(text) as OwnProcess[])));
  return [...earlier, ...(await processesOf(run))];
}

/** Judges locks by what this agent knows of its own processes. */
export async function judge(folder: string, run: Run, locks: readonly StackLock[]): Promise<LockState> {
  return judgeLocks(locks, await knownProcesses(folder, run.folders), thisMachine());
}

/**
 * The locks of a stack in a folder of this machine, without a process. Those of dead runs of ours are removed, each by
 * its own name: `pulumi cancel` would take along one that somebody takes at this moment.
 */
export async function settleFileLocks(folder: string, run: Run): Promise<LockState | undefined> {
  const locksAt = lockFolder(run.backendUrl, run.order.inputs.pulumiStack);
  if (locksAt === undefined) return undefined;
  const names = (await readdir(locksAt).catch(() => [])).filter((name) => !name.endsWith('.attrs'));
  const locks = await Promise.all(
    names.map(async (name) => parseLockFile(await readFile(join(locksAt, name), 'utf8').catch(() => ''))),
  );
  const state = await judge(folder, run, locks);
  if (state.kind !== 'clearable') return state;
  for (const name of names) {
    await rm(join(locksAt, name), { force: true });
    await rm(join(locksAt, `${name}.attrs`), { force: true });
  }
  return { kind: 'free' };
}

/** The same for every backend: where locks are no files of this machine, the CLI is asked for them and clears them. */
export async function settleLocks(folder: string, run: Run, cli: Cli): Promise<LockState> {
  const files = await settleFileLocks(folder, run);
  if (files !== undefined) return files;
  const locks = await probeLocks(cli, run.order);
  return locks === undefined ? { kind: 'unknown' } : clearIfDead(folder, run, { cli, locks });
}

/** Clears locks that are known from the CLI's message, when every one of them is of a dead run of ours. */
export async function clearIfDead(
  folder: string,
  run: Run,
  found: { readonly cli: Cli; readonly locks: readonly StackLock[] },
): Promise<LockState> {
  const state = await judge(folder, run, found.locks);
  if (state.kind !== 'clearable') return state;
  const cancelled = await cancelLocks(found.cli, run.order);
  return cancelled.exit === 0 ? { kind: 'free' } : state;
}
