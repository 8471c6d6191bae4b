/** `towline local`: a whole fleet on this machine from one repository. */
import { helpOf, parseSettings } from '../../shared/config.ts';
import { ToolMissing } from '../tools/find.ts';
import { BadInput } from './input.ts';
import { FolderTaken } from './processes.ts';
import { makeScreen, silentScreen } from './screen.ts';
import { contradictions, localSettings } from './settings.ts';
import { runSession } from './session.ts';
import { Interrupted } from './watch.ts';

const USAGE = 'towline local (--repo PATH|URL | --demo) [flags]';

/**
 * Resolves to the exit code: 0 all succeeded, 1 a run failed or the fleet did, 2 bad input. SIGINT and SIGTERM stop the
 * fleet in order; a second one does not wait for runs.
 */
export async function main(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const parsed = parseSettings(localSettings, argv, environment);
  if (parsed.kind === 'help') return print(helpOf(USAGE, localSettings), 0);
  if (parsed.kind === 'errors') return complain(parsed.errors);
  const { values } = parsed;
  const wrong = contradictions(values);
  if (wrong.length > 0) return complain(wrong);
  // What agents install must be readable by the user of their runs; what is private has its own mode.
  process.umask(0o022);
  const screen = values.json ? silentScreen : makeScreen(process.stdout, environment);
  using signals = listenForSignals();
  try {
    const outcome = await runSession({ values, environment, screen, cwd: process.cwd() }, signals);
    if (values.json && outcome.result !== undefined) print(`${JSON.stringify(outcome.result)}\n`, 0);
    if (values.json) outcome.problems.forEach((problem) => process.stderr.write(`${problem}\n`));
    return outcome.exitCode;
  } catch (error) {
    if (error instanceof BadInput || error instanceof ToolMissing || error instanceof FolderTaken)
      return complain([error.message]);
    if (!(error instanceof Error)) throw error;
    process.stderr.write(`towline local: ${describe(error)}\n`);
    return 1;
  }
}

function print(text: string, code: number): number {
  process.stdout.write(text);
  return code;
}

function complain(errors: readonly string[]): 2 {
  for (const error of errors) process.stderr.write(`towline local: ${error}\n`);
  return 2;
}

const describe = (error: Error): string =>
  error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;

export interface Signals extends Disposable {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  /** Aborted by the second one. */
  readonly hurry: AbortSignal;
}

function listenForSignals(): Signals {
  const [stop, hurry] = [new AbortController(), new AbortController()];
  const hear = (signal: NodeJS.Signals): void =>
    (stop.signal.aborted ? hurry : stop).abort(new Interrupted(`stopped by ${signal}`));
  process.on('SIGINT', hear).on('SIGTERM', hear);
  return {
    stop: stop.signal,
    hurry: hurry.signal,
    [Symbol.dispose]: () => void process.off('SIGINT', hear).off('SIGTERM', hear),
  };
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
