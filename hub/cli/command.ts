/** How the commands that need no hub begin and end. */
import { CommanderError, type Command } from 'commander';

/** Exit code: it cannot be told, or the command line is wrong. */
export const UNKNOWN = 2;

/** Parses the command line and answers; what keeps it from an answer is said under the command's name. */
export async function runCommand(
  program: Command,
  argv: readonly string[],
  answer: () => Promise<number>,
): Promise<number> {
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : UNKNOWN;
  }
  try {
    return await answer();
  } catch (error) {
    process.stderr.write(`${program.name()}: ${(error as Error).message}\n`);
    return UNKNOWN;
  }
}
