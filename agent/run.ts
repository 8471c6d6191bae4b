/**
 * What is known of one run while its folder exists. The values that must be taken out of its output are kept in that
 * folder, readable by the agent alone: read anew after a restart they could be other values than those that the run has.
 */
import { join } from 'node:path';
import type { Order } from '../shared/wire.ts';
import { readIfThere, runFoldersOf, writeWhole, type Folders, type RunFolders } from './folders.ts';
import { patternsOf } from './redact.ts';
import type { Scene } from './undeclared.ts';

/** The part of an order that command lines and settings are made of. */
export type RunOrder = Pick<Order, 'inputs' | 'policy' | 'surroundings'>;

/** A run that was laid out. */
export interface Run {
  readonly runId: string;
  readonly folders: RunFolders;
  readonly order: RunOrder;
  /** The project folder. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Full path of the stack's settings file. */
  readonly settings: string;
  /** Where the state is: the order's or the project's backend. */
  readonly backendUrl: string;
  readonly patterns: readonly Buffer[];
}

interface Kept {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: string;
  readonly backendUrl: string;
  readonly secrets: readonly string[];
}

/** Where a run is, and what it is to do. */
interface Start {
  readonly runId: string;
  readonly folders: RunFolders;
  readonly order: RunOrder;
}

/** Writes down what {@link loadRun} reads. */
export async function keepRun(start: Start, kept: Kept): Promise<Run> {
  await writeWhole(start.folders.privates, JSON.stringify(kept));
  return runOf(start, kept);
}

/** A run that was prepared by this agent or an earlier one; undefined when its folder is gone. */
export async function loadRun(all: Folders, runId: string, order: RunOrder): Promise<Run | undefined> {
  const folders = runFoldersOf(all, runId);
  const text = await readIfThere(folders.privates);
  return text === undefined ? undefined : runOf({ runId, folders, order }, JSON.parse(text) as Kept);
}

const runOf = (start: Start, kept: Kept): Run => ({
  ...start,
  cwd: join(start.folders.work, kept.project),
  env: kept.env,
  settings: join(start.folders.work, kept.project, kept.settings),
  backendUrl: kept.backendUrl,
  patterns: patternsOf(kept.secrets),
});

/** What lay around a run's files; undefined when they are the whole tree. */
export const sceneOf = ({ order, folders }: Run): Scene | undefined =>
  order.surroundings && {
    surroundings: order.surroundings,
    work: folders.work,
    project: order.inputs.project,
  };

/** Environment entries that all processes of a run carry. The data folder tells agents of one machine apart. */
export const marksOfRun = (dataDir: string, runId: string): Record<string, string> => ({
  TOWLINE_RUN: runId,
  ...marksOfAgent(dataDir),
});

/** Those that tell this agent's processes from others. */
export const marksOfAgent = (dataDir: string): Record<string, string> => ({ TOWLINE_DATA: dataDir });
