/**
 * Stops a run so that as little as possible is lost: SIGINT to the CLI alone (a signal to its plugins as well loses
 * resources without a trace in state, seen), time for creates in flight, a second SIGINT, and only then SIGKILL.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { lives, type ProcessIdentity } from '../../shared/process.ts';
import { livesBehind, signal } from './processes.ts';

export interface Graces {
  /** After the first SIGINT. */
  readonly firstMs: number;
  /** After the second one. */
  readonly secondMs: number;
}

/** The parts of a run that a stop deals with. */
export interface Stoppable {
  readonly gate: ProcessIdentity;
  /** The CLI, once it began. */
  cli(): Promise<ProcessIdentity | undefined>;
}

/** How far it had to go. From `second` on, creates may have been cut off. */
export type StopDepth = 'first' | 'second' | 'killed';

const LOOK_MS = 20;

/** Ends the CLI behind a gate and returns when neither of them lives. */
export async function stopRun(run: Stoppable, graces: Graces): Promise<StopDepth> {
  const cli = await untilCli(run, graces.firstMs);
  if (cli === undefined) {
    if (lives(run.gate)) signal(run.gate.pid, 'SIGKILL');
    await untilGone(run.gate, undefined, graces.secondMs);
    return 'killed';
  }
  const interrupt = (name: NodeJS.Signals): void => {
    if (livesBehind(run.gate, cli)) signal(cli.pid, name);
  };
  interrupt('SIGINT');
  if (await untilGone(run.gate, cli, graces.firstMs)) return 'first';
  interrupt('SIGINT');
  if (await untilGone(run.gate, cli, graces.secondMs)) return 'second';
  interrupt('SIGKILL');
  if (!(await untilGone(run.gate, cli, graces.secondMs)) && lives(run.gate)) signal(run.gate.pid, 'SIGKILL');
  return 'killed';
}

/** A gate that was told to go has its CLI within milliseconds; one that never gets there has run nothing. */
async function untilCli(run: Stoppable, withinMs: number): Promise<ProcessIdentity | undefined> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const cli = await run.cli();
    if (cli !== undefined || !lives(run.gate) || performance.now() >= deadline) return cli;
    await delay(LOOK_MS);
  }
}

async function untilGone(
  gate: ProcessIdentity,
  cli: ProcessIdentity | undefined,
  withinMs: number,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (lives(gate) || (cli !== undefined && livesBehind(gate, cli))) {
    if (performance.now() >= deadline) return false;
    await delay(LOOK_MS);
  }
  return true;
}
