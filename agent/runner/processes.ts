/** What is left of a run among the processes of this machine, and how it is ended. */
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../shared/limits.ts';
import { bootId, lives, statOf, type ProcessIdentity, type ProcessStat } from '../../shared/process.ts';
import type { Machine } from '../locks.ts';

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** The same, and it is in the session of that gate: a program may write anything into what its run says of itself. */
export const livesBehind = (gate: ProcessIdentity, process: ProcessIdentity): boolean =>
  lives(process) && statOf(process.pid)?.session === gate.pid;

/** This machine, for judging locks. */
export const thisMachine = (): Machine => ({
  host: hostname(),
  bootId: bootId(),
  processOf: (pid) => {
    const stat = statOf(pid);
    return stat === undefined
      ? undefined
      : { startTime: stat.startTime, startedAt: bootedAt() + Number(stat.startTime) * TICK_MS };
  },
});

/** Linux shows times to programs in hundredths of a second. */
const TICK_MS = 10;

/** In milliseconds since the epoch; 0 where the system does not say. */
const bootedAt = (): number =>
  Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? 0) * 1_000;

/** What tells a run's processes apart from all others. */
export interface Marks {
  /** Entries of the environment, all of which a process must have. */
  readonly environment: Readonly<Record<string, string>>;
  /** The gate, whose session the run's processes share unless they leave it. */
  readonly gate?: ProcessIdentity;
}

/** Living processes that carry the marks, or are in the session of the gate. */
export function findMarked(marks: Marks): number[] {
  const wanted = Object.entries(marks.environment).map(([name, value]) => `${name}=${value}`);
  const session = sessionOf(marks.gate);
  return allStats()
    .filter((stat) => stat.session === session || carries(stat.pid, wanted))
    .map(({ pid }) => pid);
}

/** A session's number is free for others once all of it is gone: it counts only while its leader is not another one. */
function sessionOf(gate: ProcessIdentity | undefined): number | undefined {
  if (gate === undefined || gate.bootId !== bootId()) return undefined;
  const leader = statOf(gate.pid);
  return leader === undefined || leader.startTime === gate.startTime ? gate.pid : undefined;
}

function allStats(): ProcessStat[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && pid !== process.pid)
    .flatMap((pid) => statOf(pid) ?? []);
}

function carries(pid: number, wanted: readonly string[]): boolean {
  const environment = readProc(pid, 'environ');
  if (environment === undefined || wanted.length === 0) return false;
  const entries = new Set(environment.split('\0'));
  return wanted.every((entry) => entries.has(entry));
}

/** The value of a variable of every living process that has it and the marks. */
export function valuesOf(name: string, marks: Readonly<Record<string, string>>): Set<string> {
  const prefix = `${name}=`;
  const values = findMarked({ environment: marks }).flatMap((pid) =>
    (readProc(pid, 'environ') ?? '').split('\0').filter((entry) => entry.startsWith(prefix)),
  );
  return new Set(values.map((entry) => entry.slice(prefix.length)));
}

/** Sends a signal; a process that is gone already is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const LOOK_MS = 20;

/** Ends everything that carries the marks: SIGTERM, and SIGKILL for what is there after a while. Returns how many. */
export async function endMarked(marks: Marks, graceMs: number = limits.survivorGraceMs): Promise<number> {
  const found = findMarked(marks);
  if (found.length === 0) return 0;
  for (const pid of found) signal(pid, 'SIGTERM');
  const deadline = performance.now() + graceMs;
  for (let left = findMarked(marks); left.length > 0; left = findMarked(marks)) {
    if (performance.now() >= deadline) for (const pid of left) signal(pid, 'SIGKILL');
    await delay(LOOK_MS);
  }
  return found.length;
}
