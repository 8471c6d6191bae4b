/** The data folder of a fleet: where it is, that it may be used, and that runs can reach it. */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BadInput, closedFolder } from './input.ts';
import type { LocalValues } from './settings.ts';

/** Stands in a folder that the demo made and may empty. */
const DEMO_MARK = '.towline-demo';
/** For root in a checkout that other users cannot enter. */
const ROOT_FOLDER = '/var/lib/towline';

export interface Place {
  readonly data: string;
  /** Something that people should know about the choice. */
  readonly note?: string;
}

/**
 * The agents of root run programs as another user, which must be able to get to their folders; `isRoot` says whether
 * that is so. Rejects with BadInput when the folder that was asked for is out of that user's reach.
 */
export async function choosePlace(
  values: Pick<LocalValues, 'data' | 'demo'>,
  { cwd, isRoot }: { cwd: string; isRoot: boolean },
): Promise<Place> {
  const name = values.demo ? 'demo' : 'local';
  const data = values.data === '' ? join(cwd, '.towline', name) : resolve(cwd, values.data);
  const closed = isRoot ? await closedFolder(data) : undefined;
  if (closed === undefined) return { data };
  const reason = `root’s programs run as another user, who may not enter ${closed}`;
  if (values.data !== '') throw new BadInput(`--data: ${reason}; choose another folder`);
  const instead = join(ROOT_FOLDER, name);
  return { data: instead, note: `everything is kept in ${instead}: ${reason}` };
}

/**
 * Empties a folder for a new demo, but for the files of the process that holds it. Rejects with BadInput when it holds
 * what no demo left there.
 */
export async function emptyForDemo(data: string): Promise<void> {
  const names = (await readdir(data)).filter((name) => !isClaim(name));
  if (names.length > 0 && !names.includes(DEMO_MARK))
    throw new BadInput(`--data: ${data} holds something else than a demo; choose an empty folder`);
  for (const name of names.filter((one) => one !== DEMO_MARK))
    await rm(join(data, name), { recursive: true, force: true, maxRetries: 5 });
  await writeFile(join(data, DEMO_MARK), 'A demo made this folder and empties it when it starts.\n');
}

const isClaim = (name: string): boolean => /^process(es)?\./.test(name) || name.startsWith('.claim-');
