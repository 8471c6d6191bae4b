/** A process of the fleet that is kept alive until it is told to stop. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEnd, type Ending } from './restart.ts';

export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Standard output and error are appended to it. */
  readonly logFile: string;
}

export type ChildEvent =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'restarting'; readonly ending: Ending; readonly delayMs: number }
  /** It ended again and again; it is not started any more. */
  | { readonly kind: 'givenUp'; readonly ending: Ending };

export interface Child {
  readonly name: string;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  signal(signal: NodeJS.Signals): void;
  /**
   * SIGTERM; after `graceMs`, or once `hurry` is aborted, SIGKILL. Both go to the process alone: what it started itself
   * it has to end, or to leave to its next start. Resolves when it is gone.
   */
  stop(graceMs: number, hurry?: AbortSignal): Promise<'ended' | 'killed'>;
}

/** Starts a program and starts it again whenever it ends, until it is stopped or given up. */
export function supervise(program: Program, listen: (event: ChildEvent) => void): Child {
  let child: ChildProcess | undefined;
  const stopping = new AbortController();
  const life = keepAlive(program, stopping.signal, {
    listen,
    run: (started) => void (child = started),
  });
  const pid = (): number | undefined => (alive(child) ? child.pid : undefined);
  return {
    name: program.name,
    pid,
    signal: (signal) => void (pid() !== undefined && child?.kill(signal)),
    stop: async (graceMs, hurry) => {
      stopping.abort();
      child?.kill('SIGTERM');
      const patience = new AbortController();
      const late = delay(graceMs, undefined, { signal: either(patience.signal, hurry) }).catch(
        () => undefined,
      );
      const first = await Promise.race([life.then(() => 'ended' as const), late.then(() => 'late' as const)]);
      patience.abort();
      if (first === 'ended') return 'ended';
      child?.kill('SIGKILL');
      await life;
      return 'killed';
    },
  };
}

const either = (signal: AbortSignal, other: AbortSignal | undefined): AbortSignal =>
  other === undefined ? signal : AbortSignal.any([signal, other]);

const alive = (child: ChildProcess | undefined): child is ChildProcess =>
  child?.pid !== undefined && child.exitCode === null && child.signalCode === null;

interface Life {
  readonly listen: (event: ChildEvent) => void;
  readonly run: (child: ChildProcess) => void;
}

async function keepAlive(program: Program, stopping: AbortSignal, { listen, run }: Life): Promise<void> {
  let inARow = 0;
  while (!stopping.aborted) {
    const startedAt = performance.now();
    const child = launch(program);
    run(child);
    if (child.pid !== undefined) listen({ kind: 'started', pid: child.pid });
    const ending = await endOf(child);
    if (stopping.aborted) return;
    const next = afterEnd(ending, { aliveMs: performance.now() - startedAt, inARow });
    if (next.kind === 'giveUp') return listen({ kind: 'givenUp', ending });
    inARow = next.inARow;
    listen({ kind: 'restarting', ending, delayMs: next.delayMs });
    await delay(next.delayMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/** In a process group of its own: Ctrl-C on the terminal reaches only us, and we stop the fleet in order. */
function launch(program: Program): ChildProcess {
  mkdirSync(dirname(program.logFile), { recursive: true });
  const log = openSync(program.logFile, 'a', 0o600);
  try {
    return spawn(program.command, program.args, {
      env: { ...program.environment },
      stdio: ['ignore', log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

const endOf = (child: ChildProcess): Promise<Ending> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve({ kind: 'notStarted', error: error.message }));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exit', code: code ?? 0 } : { kind: 'signal', signal }),
    );
  });
