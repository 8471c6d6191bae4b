/** What a poll costs that finds nothing new. */
import { readFile } from 'node:fs/promises';
import type { Sources } from '../../../hub/git/source.ts';
import { parseLine } from '../census.ts';
import { openSources } from './hub.ts';

export interface PollCost {
  readonly cpuMs: number;
  /** Processes that a poll starts; 1: at least one. */
  readonly processes: number;
}

/** Measures polls of a URL, in a process of its own whose children are counted; `ready` is called before the first of them. */
export async function measurePolls(
  { url, folder, polls }: { readonly url: string; readonly folder: string; readonly polls: number },
  ready: () => Promise<void>,
): Promise<PollCost> {
  const sources = await openSources(url, folder);
  while ((await sources.refresh(Date.now()))[0]?.state !== 'Ready');
  await poll(sources);
  await ready();
  const [faults, cpu] = [await reapedFaults(), process.cpuUsage()];
  for (let n = 0; n < polls; n++) await poll(sources);
  const { user, system } = process.cpuUsage(cpu);
  const children = (await reapedFaults()) - faults;
  await sources.close();
  return { cpuMs: (user + system) / 1_000 / polls, processes: children > 0 ? 1 : 0 };
}

/** Polls once and waits for the answer. */
async function poll(sources: Sources): Promise<void> {
  const before = (await sources.refresh(Date.now()))[0]?.checkedAt ?? 0;
  while (((await sources.refresh(Date.now()))[0]?.checkedAt ?? 0) <= before);
}

/** Page faults of children: no process lives without one. */
const reapedFaults = async (): Promise<number> =>
  parseLine(await readFile('/proc/self/stat', 'utf8'))?.reapedFaults ?? Number.NaN;
