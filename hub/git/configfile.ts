/** Files of a repository in the form of git's configuration, read by git itself. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { limits } from '../../shared/limits.ts';
import { gitEnvironment, runGit, type GitProgram } from './command.ts';

export interface ConfigPlace {
  readonly git: GitProgram;
  /** Where the content is put for git to read. */
  readonly file: string;
}

/** Its settings as `git config --null --list` prints them; undefined: git cannot read it. */
export async function listConfig(content: Buffer, { git, file }: ConfigPlace): Promise<Buffer | undefined> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, content);
  const args = ['config', '--file', file, '--null', '--list'];
  const bounds = { timeoutMs: limits.gitTimeoutMs, maxBytes: limits.manifestBytes };
  const end = await runGit(git, { args, env: gitEnvironment(git), ...bounds });
  return end.kind === 'done' ? end.stdout : undefined;
}

/** The settings by name, the last word on each. Sections and names are in lower case. */
export const settingsIn = (listed: Buffer): ReadonlyMap<string, string> =>
  new Map(
    listed
      .toString('utf8')
      .split('\0')
      .flatMap((record): [string, string][] => {
        const cut = record.indexOf('\n');
        return cut < 0 ? [] : [[record.slice(0, cut), record.slice(cut + 1)]];
      }),
  );
