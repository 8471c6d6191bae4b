/** One launch, from `go` to the end of its last process, whoever started it. */
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../shared/limits.ts';
import { type ProcessIdentity, lives } from '../../shared/process.ts';
import type { StopCause } from '../failures.ts';
import { follow, type Followed } from './follow.ts';
import { marksOf, readCli, readExit, type Launch } from './gate.ts';
import { livesBehind } from './processes.ts';
import { stopRun, type Graces, type StopDepth } from './stop.ts';

export interface Watching {
  readonly launch: Pick<Launch, 'marks' | 'name'>;
  readonly gate: ProcessIdentity;
  /** Settles when the shell ends, where this process started it: it is then noticed at once. */
  readonly ended?: Promise<void>;
  /** From now to its time limit; measured without the clock, which may be put forward or back. */
  readonly leftMs: number;
  readonly stop: AbortSignal;
  readonly patterns: readonly Buffer[];
  readonly output: (lines: readonly string[]) => void;
  readonly graces: Graces;
}

/** How a launch ended. */
export interface Watched extends Followed {
  readonly exit?: number;
  readonly stopped?: { readonly cause: StopCause; readonly depth: StopDepth };
  /** The CLI itself began. */
  readonly began: boolean;
}

/** Follows to the end; stops it at its deadline or when asked to. */
export async function watch(watching: Watching): Promise<Watched> {
  const marks = marksOf(watching.launch);
  const deadline = performance.now() + watching.leftMs;
  const follower = follow(marks, watching.patterns, watching.output);
  const wake = makeWake(watching);
  let stopping: Promise<StopDepth> | undefined;
  let cause: StopCause | undefined;
  while (await isRunning(watching)) {
    await follower.read();
    cause ??= causeOf(watching.stop, deadline);
    if (cause !== undefined && stopping === undefined)
      stopping = stopRun({ gate: watching.gate, cli: () => readCli(marks) }, watching.graces);
    await wake();
  }
  const exit = await readExit(marks);
  return {
    ...(await follower.end()),
    ...(exit === undefined ? {} : { exit }),
    ...(cause === undefined || stopping === undefined ? {} : { stopped: { cause, depth: await stopping } }),
    began: (await readCli(marks)) !== undefined,
  };
}

/** The CLI outlives a shell that was killed. */
async function isRunning({ gate, launch }: Watching): Promise<boolean> {
  if (lives(gate)) return true;
  const cli = await readCli(marksOf(launch));
  return cli !== undefined && livesBehind(gate, cli);
}

function causeOf(stop: AbortSignal, deadline: number): StopCause | undefined {
  if (stop.aborted) return 'cancelled';
  return performance.now() >= deadline ? 'timeout' : undefined;
}

/** Waits until something may have changed: the shell ended, a stop was asked for, or it is time to read on. */
function makeWake({ ended, stop }: Watching): () => Promise<void> {
  // what happened once wakes once
  let shell = ended?.then(() => void (shell = undefined));
  return async () => {
    const done = new AbortController();
    const asked = new Promise<void>((resolve) => {
      if (!stop.aborted) stop.addEventListener('abort', () => resolve(), { once: true, signal: done.signal });
    });
    const timer = delay(limits.followMs, undefined, { signal: done.signal }).catch(() => undefined);
    await Promise.race([timer, asked, shell ?? timer]);
    done.abort();
  };
}
