/** A program that runs beside a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { atEnd, type Owner } from './owned.ts';

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment. Default: that of the test. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

export interface Child {
  /** Process id while it runs, undefined afterwards. */
  pid(): number | undefined;
  /** Standard output and error so far, in the order in which they came. */
  output(): string;
  /** Exit code or the signal that ended it; undefined while it runs. */
  exit(): number | NodeJS.Signals | undefined;
  /** Sends a signal without waiting. */
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal and waits for the end, which SIGKILL alone guarantees. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a program with no standard input. It is killed when the owner ends, if it runs until then. */
export function startChild(owner: Owner, launch: Launch): Child {
  let output = '';
  const { program, args, env, cwd } = launch;
  // First of all: an owner that has ended already throws here, and nothing is started that nobody would end.
  atEnd(owner, () => stop('SIGKILL'));
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd });
  const append = (text: string): void => void (output += text);
  child.stdout.setEncoding('utf8').on('data', append);
  child.stderr.setEncoding('utf8').on('data', append);
  child.on('error', (error) => append(`${error.message}\n`));
  const exit = (): number | NodeJS.Signals | undefined =>
    child.pid === undefined ? 127 : (child.exitCode ?? child.signalCode ?? undefined);
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (exit() !== undefined) return;
    const end = once(child, 'close');
    child.kill(signal);
    await end;
  };
  return {
    pid: () => (exit() === undefined ? child.pid : undefined),
    output: () => output,
    exit,
    signal: (signal) => void child.kill(signal),
    stop,
  };
}
