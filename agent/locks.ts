/**
 * Whose lock is it, and does its holder live? A lock is only ever taken away when its holder is known to be ours and
 * proven dead.
 */
import type { ProcessIdentity } from '../shared/process.ts';
import type { LockHolder } from './executor.ts';

/** A lock of a Pulumi stack, from its file or from the CLI's message. */
export interface StackLock {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  /** Milliseconds; absent when it could not be read. */
  readonly since?: number;
}

/** A Pulumi process that this agent started. */
export interface OwnProcess extends ProcessIdentity {
  readonly runId: string;
  readonly host: string;
}

/** This machine now. */
export interface Machine {
  readonly host: string;
  readonly bootId: string;
  /** A living process; undefined when there is none of that pid. */
  processOf(pid: number): LivingProcess | undefined;
}

export interface LivingProcess {
  /** As in {@link ProcessIdentity}. */
  readonly startTime: string;
  /** The same in milliseconds since the epoch, to a second. */
  readonly startedAt: number;
}

/** `dead`: ours, and proven to be gone. `alive`: ours, and there. `foreign`: not ours, so nothing is known of it. */
export type Standing = 'dead' | 'alive' | 'foreign';

interface LockFile {
  readonly pid?: number;
  readonly username?: string;
  readonly hostname?: string;
  readonly timestamp?: string;
}

/** Reads a lock file; a broken one is a lock of nobody knows whom. */
export function parseLockFile(text: string): StackLock {
  try {
    const { pid = 0, username = '?', hostname = '?', timestamp = '' } = JSON.parse(text) as LockFile;
    return { pid, user: username, host: hostname, ...sinceOf(timestamp) };
  } catch {
    return { pid: 0, user: '?', host: '?' };
  }
}

const HOLDER = /created by (\S*)@(\S+) \(pid (\d+)\) at (\S+)/g;

/** The holders named in the CLI's message that a stack is locked. */
export function parseLockMessage(text: string): StackLock[] {
  return [...text.matchAll(HOLDER)].map(([, user = '?', host = '?', pid = '0', at = '']) => ({
    pid: Number(pid),
    user,
    host,
    ...sinceOf(at),
  }));
}

function sinceOf(text: string): { since?: number } {
  const since = Date.parse(text);
  return Number.isNaN(since) ? {} : { since };
}

/**
 * What is known of a lock's holder. That a process of ours had its number once is no proof while another one has it now:
 * that one may have taken the lock, unless it began after the lock was made.
 */
export function judgeLock(lock: StackLock, own: readonly OwnProcess[], machine: Machine): Standing {
  const known = own.filter((one) => one.pid === lock.pid && one.host === lock.host);
  if (known.length === 0 || lock.host !== machine.host) return 'foreign';
  if (known.some((one) => lives(one, machine))) return 'alive';
  return mayHold(machine.processOf(lock.pid), lock) ? 'foreign' : 'dead';
}

const lives = (one: OwnProcess, machine: Machine): boolean =>
  one.bootId === machine.bootId && machine.processOf(one.pid)?.startTime === one.startTime;

/** Start times are known to a second, and so may be a lock's. */
const CLOCK_SLACK_MS = 2_000;

const mayHold = (process: LivingProcess | undefined, { since }: StackLock): boolean =>
  process !== undefined && (since === undefined || process.startedAt <= since + CLOCK_SLACK_MS);

/**
 * All locks of a stack together: `free` when there is none, `clearable` when every one is of a dead run of ours, `unknown`
 * when nobody could be asked.
 */
export type LockState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'free' }
  | { readonly kind: 'clearable' }
  | { readonly kind: 'held'; readonly standing: 'alive' | 'foreign'; readonly by: LockHolder };

/** What may be done about the locks of a stack. */
export function judgeLocks(
  locks: readonly StackLock[],
  own: readonly OwnProcess[],
  machine: Machine,
): LockState {
  for (const lock of locks) {
    const standing = judgeLock(lock, own, machine);
    if (standing !== 'dead') return { kind: 'held', standing, by: holderOf(lock) };
  }
  return locks.length === 0 ? { kind: 'free' } : { kind: 'clearable' };
}

/** A lock's holder for people. */
export const holderOf = (lock: StackLock): LockHolder => ({
  holder: `${lock.user}@${lock.host} (pid ${lock.pid})`,
  ...(lock.since === undefined ? {} : { since: lock.since }),
});

/**
 * The folder of a stack's lock files when its backend is a folder of this machine, otherwise undefined.
 * `stack` is the full name, `organization/<project>/<stack>`.
 */
export function lockFolder(backendUrl: string, stack: string): string | undefined {
  if (!URL.canParse(backendUrl)) return undefined;
  const url = new URL(backendUrl);
  if (url.protocol !== 'file:' || url.hostname !== '') return undefined;
  return `${decodeURIComponent(url.pathname).replace(/\/+$/, '')}/.pulumi/locks/${stack}`;
}
