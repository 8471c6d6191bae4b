/** Processes as /proc shows them: identity, life, and what is left of a run. */
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../shared/limits.ts';
import type { ProcessIdentity } from '../executor.ts';
import type { Machine } from '../locks.ts';

export interface ProcessStat {
  readonly pid: number;
  readonly state: string;
  readonly session: number;
  readonly startTime: string;
}

/** Fields of /proc/PID/stat behind the name, which may hold anything. */
const STATE = 0;
const SESSION = 3;
const START_TIME = 19;

/** Reads a line of /proc/PID/stat. */
export function parseStat(line: string): ProcessStat | undefined {
  const pid = Number.parseInt(line, 10);
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const state = fields[STATE];
  const startTime = fields[START_TIME];
  if (Number.isNaN(pid) || state === undefined || startTime === undefined) return undefined;
  return { pid, state, session: Number(fields[SESSION]), startTime };
}

/** A living process; one that only waits to be reaped is none. */
export function statOf(pid: number): ProcessStat | undefined {
  const text = readProc(pid, 'stat');
  const stat = text === undefined ? undefined : parseStat(text);
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat;
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Changes with every boot of the machine. */
export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** Identity of a living process. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = statOf(pid);
  return stat === undefined ? undefined : { pid, startTime: stat.startTime, bootId: bootId() };
}

/** Whether this very process still runs. */
export const lives = (process: ProcessIdentity): boolean =>
  statOf(process.pid)?.startTime === process.startTime && process.bootId === bootId();

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
