/** Fails the test that leaves processes, servers, sockets, watchers or timers behind. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { atEnd, type Owner } from './owned.ts';
import { until } from './until.ts';

/** What was started may still be on its way out when the test's own clean-up has returned. */
const GRACE_MS = 5_000;

/** Every process that a test starts inherits it, also one that has left its parent and session. */
const MARK = `TOWLINE_TEST_PROCESS=${randomUUID()}`;

/** Call it before anything else is started, so that it looks after everything else has ended. */
export function watchLeaks(owner: Owner, graceMs = GRACE_MS): void {
  const [name, value] = MARK.split('=') as [string, string];
  process.env[name] = value;
  const before = process.getActiveResourcesInfo();
  atEnd(owner, async () => {
    const look = async (): Promise<readonly string[]> => [
      ...added(before, process.getActiveResourcesInfo()),
      ...(await leftProcesses()),
    ];
    const accept = (left: readonly string[]): boolean => left.length === 0;
    await until('the test to leave nothing behind', look, { accept, deadlineMs: graceMs });
  });
}

/** What there is more of now than before, as often as there is more of it. */
export function added(before: readonly string[], now: readonly string[]): readonly string[] {
  const known = [...before];
  return now.filter((name) => {
    const index = known.indexOf(name);
    if (index < 0) return true;
    known.splice(index, 1);
    return false;
  });
}

/** Living processes with our mark or below us, as `PID command line`. Empty where there is no /proc. */
async function leftProcesses(): Promise<readonly string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const seen = (await Promise.all(pids.map(readProcess))).filter((one) => one !== undefined);
  const ours = new Set([process.pid]);
  for (const one of seen.sort((a, b) => a.pid - b.pid))
    if (ours.has(one.parent) || one.marked) ours.add(one.pid);
  ours.delete(process.pid);
  return seen.filter((one) => ours.has(one.pid)).map((one) => `${one.pid} ${one.command}`);
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly marked: boolean;
}

/** Undefined for one that ended meanwhile, or has ended and only waits for its parent to notice. */
async function readProcess(pid: string): Promise<Process | undefined> {
  try {
    const [stat, environment, command] = await Promise.all(
      ['stat', 'environ', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'latin1')),
    );
    const [state, parent] = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return undefined;
    const marked = (environment ?? '').split('\0').includes(MARK) && Number(pid) !== process.pid;
    return {
      pid: Number(pid),
      parent: Number(parent),
      command: (command ?? '').replaceAll('\0', ' ').trim(),
      marked,
    };
  } catch {
    return undefined;
  }
}
