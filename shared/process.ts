/** Processes as /proc shows them: who one is, and whether it lives. */
import { readFileSync } from 'node:fs';

/** Identity of a process that cannot be mistaken for another one, not even after a reboot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot, from /proc/PID/stat. */
  readonly startTime: string;
  readonly bootId: string;
}

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
  const text = readIfThere(`/proc/${pid}/stat`);
  const stat = text === undefined ? undefined : parseStat(text);
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat;
}

/** Changes with every boot of the machine; empty where the system does not say. */
export const bootId = (): string => (readIfThere('/proc/sys/kernel/random/boot_id') ?? '').trim();

/** Identity of a living process. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = statOf(pid);
  return stat === undefined ? undefined : { pid, startTime: stat.startTime, bootId: bootId() };
}

/** Whether this very process still runs. */
export const lives = (process: ProcessIdentity): boolean =>
  statOf(process.pid)?.startTime === process.startTime && process.bootId === bootId();

/** Gone, or not for us to see. */
const UNSEEN: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

/** Whatever else keeps it from being read, such as too many open files, proves nothing about a process: it is thrown. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (UNSEEN.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}
