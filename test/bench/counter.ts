/** A Pulumi CLI that leaves a mark of every start: a file whose time says when, and whose lines say how. */
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface CliStart {
  /** ms since the epoch; as exact as the clock of the file system, some ms. */
  readonly at: number;
  readonly arguments: string;
}

export interface Counter {
  /** The program to be started instead of Pulumi. */
  readonly program: string;
  /** The starts since the last call, oldest first. */
  take(): Promise<readonly CliStart[]>;
}

/** Two built-in commands of the shell, and then it is the CLI: no process more, and a millisecond. */
const scriptOf = (marks: string, pulumi: string): string =>
  `#!/bin/sh\nprintf '%s\\n' "$*" >>"${marks}/$$"\nexec "${pulumi}" "$@"\n`;

/** Puts the counting program into a folder, with the language hosts beside it where agents look for them. */
export async function countStarts(folder: string, pulumi: string): Promise<Counter> {
  const marks = join(folder, 'starts');
  await mkdir(marks, { recursive: true });
  const program = join(folder, basename(pulumi));
  await writeFile(program, scriptOf(marks, pulumi));
  await chmod(program, 0o755);
  for (const name of await readdir(dirname(pulumi)))
    if (name.startsWith('pulumi-')) await symlink(join(dirname(pulumi), name), join(folder, name));
  const take = async (): Promise<readonly CliStart[]> => {
    const starts: CliStart[] = [];
    for (const name of await readdir(marks)) {
      const file = join(marks, name);
      const { mtimeMs } = await stat(file);
      const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
      await rm(file);
      starts.push(...lines.map((line) => ({ at: mtimeMs, arguments: line })));
    }
    return starts.sort((a, b) => a.at - b.at);
  };
  return { program, take };
}
