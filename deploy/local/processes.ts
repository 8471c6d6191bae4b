/**
 * Which processes belong to a data folder. A fleet that was killed leaves its hub, agents and broker behind; the next
 * one on the same folder ends them first, since two agents on one ledger would be two writers of one stack.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { durableFile } from '../../shared/durable.ts';
import { claimFolder } from '../../shared/pidfile.ts';
import { identityOf, lives } from '../../shared/process.ts';

const identitySchema = z.object({
  name: z.string(),
  pid: z.number().int().positive(),
  /** Clock ticks since boot, from /proc: tells a process from a later one with the same number. */
  startTime: z.string(),
  bootId: z.string(),
});
type Identity = z.infer<typeof identitySchema>;

const recordSchema = z.object({ children: z.array(identitySchema) });

/** After it a leftover is killed. */
const LEFTOVER_GRACE_MS = 10_000;
const LOOK_EVERY_MS = 50;

/** Another fleet runs in the folder. */
export class FolderTaken extends Error {}

export interface Processes {
  /** Takes a started process into the record, in place of the former one with its name. */
  add(name: string, pid: number): Promise<void>;
  /** All processes have ended: the folder is free. */
  release(): Promise<void>;
}

/**
 * Claims a folder for this process, and ends what an earlier owner left. Rejects with FolderTaken when that one still
 * lives. `say` hears which processes are ended.
 */
export async function claimFleet(folder: string, say: (text: string) => void): Promise<Processes> {
  const claim = await claimFolder(folder);
  if (claim.kind === 'taken')
    throw new FolderTaken(`another “towline local” (process ${claim.pid}) uses ${folder}`);
  const store = durableFile(join(folder, 'processes.json'), { version: 1, data: recordSchema });
  for (const child of (await store.read())?.children ?? []) await end(child, say);
  let children: readonly Identity[] = [];
  const write = (): Promise<void> => store.write({ children: [...children] });
  await write();
  return {
    add: async (name, pid) => {
      const identity = identityOf(pid);
      const others = children.filter((child) => child.name !== name);
      children = identity === undefined ? others : [...others, { name, ...identity }];
      await write();
    },
    release: async () => {
      children = [];
      await write();
      await claim.release();
    },
  };
}

async function end(child: Identity, say: (text: string) => void): Promise<void> {
  if (!lives(child)) return;
  say(`ending ${child.name} (process ${child.pid}), left by an earlier run`);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    kill(child.pid, signal);
    const deadline = performance.now() + LEFTOVER_GRACE_MS;
    while (performance.now() < deadline) {
      if (!lives(child)) return;
      await delay(LOOK_EVERY_MS);
    }
  }
  throw new FolderTaken(`${child.name} (process ${child.pid}), left by an earlier run, does not end`);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
