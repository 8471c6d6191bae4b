/** The Pulumi CLI behind a script that writes down each start, so that no run can be told from a quick one. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { testTools } from '../harness/tools.ts';

export interface CountedPulumi {
  readonly path: string;
  /** Command lines of all starts so far, oldest first. */
  started(): Promise<readonly string[]>;
}

/** The script replaces itself with the CLI, so process ids and signals are as in production. */
export async function countedPulumi(folder: string): Promise<CountedPulumi> {
  const { pulumi } = await testTools();
  const path = join(folder, 'bin', 'pulumi');
  const list = join(folder, 'started');
  await mkdir(dirname(path));
  const script = `#!/bin/sh\necho "$*" >> '${list}'\nPATH="$PATH:${dirname(pulumi)}" exec '${pulumi}' "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
  return {
    path,
    started: async () => (await readFile(list, 'utf8').catch(() => '')).split('\n').filter(Boolean),
  };
}
