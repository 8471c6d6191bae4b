/** Runs the command as a person would. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

export interface Result {
  readonly code: number;
  /** Standard output, then standard error. */
  readonly output: string;
}

/** Runs a launcher, by default that of this checkout, to its end. */
export function runTowline(
  args: readonly string[],
  launcher = join(root, 'hub/cli/towline'),
  env: NodeJS.ProcessEnv = process.env,
): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(launcher, [...args], { env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}
