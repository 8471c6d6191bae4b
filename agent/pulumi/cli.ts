/** One short call of the Pulumi CLI for a run, behind a gate like the update itself: never more than one at a time. */
import { readFile } from 'node:fs/promises';
import type { RunUser } from '../folders.ts';
import type { Run } from '../run.ts';
import { marksOf, startGate, type Launch } from '../runner/gate.ts';
import type { Graces } from '../runner/stop.ts';
import { watch, type Watched } from '../runner/watch.ts';

export interface Call {
  /** First part of the names of its files; a second call of the same name writes over the first one's. */
  readonly name: string;
  readonly arguments: readonly string[];
  readonly timeoutMs: number;
  readonly input?: string;
}

/** The CLI for one run. */
export interface Cli {
  /** Runs to the end. Rejects when the caller's signal was aborted. */
  call(call: Call): Promise<Watched>;
  /** Everything that a call printed: the state for `stack export`. Not redacted: it must not leave. */
  printed(name: string): Promise<string>;
}

export interface CliOptions {
  readonly pulumi: string;
  readonly user: RunUser | undefined;
  readonly graces: Graces;
  readonly signal: AbortSignal;
}

/** A CLI whose calls end with the signal. */
export function makeCli(run: Run, options: CliOptions): Cli {
  return {
    call: async (call) => {
      options.signal.throwIfAborted();
      const launch = launchOf(run, options, call);
      const gate = await startGate(launch);
      gate.go();
      const watched = await watch({
        launch,
        gate: gate.process,
        ended: gate.ended,
        leftMs: call.timeoutMs,
        stop: options.signal,
        patterns: run.patterns,
        output: () => undefined,
        graces: options.graces,
      });
      options.signal.throwIfAborted();
      return watched;
    },
    printed: (name) => readFile(marksOf({ marks: run.folders.marks, name }).output, 'utf8'),
  };
}

/** How a command of a run is started. */
export const launchOf = (
  run: Run,
  options: Pick<CliOptions, 'pulumi' | 'user'>,
  call: Pick<Call, 'name' | 'arguments' | 'input'>,
): Launch => ({
  marks: run.folders.marks,
  name: call.name,
  command: [options.pulumi, ...call.arguments],
  env: run.env,
  cwd: run.cwd,
  user: options.user,
  ...(call.input === undefined ? {} : { input: call.input }),
});
