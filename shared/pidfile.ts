/** One process a folder: files with the identity of the process that holds it, which a later one can prove dead. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootId, identityOf, type ProcessIdentity } from './process.ts';

export type FolderClaim =
  | { readonly kind: 'held'; release(): Promise<void> }
  /** Another live process has it. */
  | { readonly kind: 'taken'; readonly pid: number };

/**
 * Claims a folder for this process and makes it when missing. What a dead process left is taken over: a process is known
 * by pid, start time and boot, so neither a reused pid nor a reboot is mistaken for it.
 *
 * Claims are numbered and a number is never used twice: the highest one counts, and its holder has looked again after
 * making it. So of many that find the same dead holder exactly one gets the folder.
 */
export async function claimFolder(folder: string): Promise<FolderClaim> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.claim-${randomUUID()}`);
  await writeFile(draft, JSON.stringify(whoIs(process.pid)), { mode: 0o600 });
  try {
    for (;;) {
      const highest = Math.max(0, ...(await claimsIn(folder)));
      const holder = parse((await readIfThere(claimFile(folder, highest))) ?? '');
      if (holder !== undefined && isAlive(holder)) return { kind: 'taken', pid: holder.pid };
      const number = highest + 1;
      if (!(await linked(draft, claimFile(folder, number)))) continue;
      if (await isHighest(folder, number)) return await hold(folder, number);
      await rm(claimFile(folder, number), { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

const claimFile = (folder: string, number: number): string => join(folder, `process.${number}.lock`);

async function claimsIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder);
  return names
    .flatMap((name) => Number(/^process\.(\d+)\.lock$/.exec(name)?.[1] ?? NaN))
    .filter(Number.isSafeInteger);
}

const isHighest = async (folder: string, number: number): Promise<boolean> =>
  (await claimsIn(folder)).every((other) => other <= number);

/** The file of a claim that is let go stays, empty, so that its number is not used again. */
async function hold(folder: string, number: number): Promise<FolderClaim> {
  for (const other of await claimsIn(folder))
    if (other < number) await rm(claimFile(folder, other), { force: true });
  const release = async (): Promise<void> => {
    if ((await readIfThere(claimFile(folder, number))) !== undefined)
      await writeFile(claimFile(folder, number), '');
  };
  return { kind: 'held', release };
}

/** Where the system does not say when a process began, its number alone has to do. */
const whoIs = (pid: number): ProcessIdentity => identityOf(pid) ?? { pid, startTime: '', bootId: bootId() };

function isAlive(holder: ProcessIdentity): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = whoIs(holder.pid);
  return now.startTime === holder.startTime && now.bootId === holder.bootId;
}

function parse(text: string): ProcessIdentity | undefined {
  try {
    const { pid, startTime, bootId } = JSON.parse(text) as Partial<ProcessIdentity>;
    return pid !== undefined && startTime !== undefined && bootId !== undefined
      ? { pid, startTime, bootId }
      : undefined;
  } catch {
    return undefined;
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
