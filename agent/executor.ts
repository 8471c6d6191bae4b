/**
 * What reconcile.ts asks of the part that carries out runs. Types only.
 *
 * A run goes through: prepare (files, dependencies, the stack, a first preview), gate (a process that has done nothing
 * yet), the ledger's record of the attempt, go, and its end. Whoever dies in between leaves something that the next
 * agent can tell apart.
 */
import type { FailureClass, Reason } from '../shared/outcome.ts';
import type { ProcessIdentity } from '../shared/process.ts';
import type { Changes, Order, RunRecord } from '../shared/wire.ts';

export interface Job {
  readonly runId: string;
  readonly order: Order;
  /** The placement has no recorded success: its first update is previewed, and held if it would delete. */
  readonly first: boolean;
  /** The last update did not end well, or nothing is known of it: the state is asked for pending creates first. */
  readonly unsure: boolean;
  /** `encryptionsalt` of the stack's settings, where an earlier run learnt it. */
  readonly encryptionSalt?: string;
}

/** What the ledger keeps of a run that was allowed to start. */
export interface Attempt {
  readonly runId: string;
  readonly gen: number;
  readonly inputDigest: string;
  readonly commit: string;
  /** 1 for the first start, 2 after a run that was cut off. */
  readonly number: number;
  readonly process: ProcessIdentity;
  readonly startedAt: number;
  readonly timeoutMs: number;
}

/** Why there is no run now. `wait` passes by itself; `hold` needs a person; `failed` ends the attempt. */
export type NotReady =
  | {
      readonly kind: 'failed';
      readonly failure: FailureClass;
      readonly reason: Reason;
      /** Newest lines of what failed, redacted. */
      readonly tail?: readonly string[];
    }
  | { readonly kind: 'hold'; readonly reason: Reason; readonly pendingCreates?: readonly string[] }
  | { readonly kind: 'wait'; readonly reason: Reason; readonly retryMs: number; readonly lock?: LockHolder };

export interface LockHolder {
  /** `user@host (pid 4711)` */
  readonly holder: string;
  readonly since?: number;
}

/** A gate that waits for `go`. Without it, it ends when this agent ends, having run nothing. */
export interface Gate {
  readonly process: ProcessIdentity;
  go(): void;
  abandon(): Promise<void>;
}

export interface Ready {
  readonly kind: 'ready';
  /** Starts the gate of the update; nothing of Pulumi runs yet. */
  gate(): Promise<Gate>;
  readonly encryptionSalt?: string;
}

/** How a run ended. `resources` are URNs with their operation; nothing here holds a value of a resource. */
export interface RunEnd {
  readonly result: 'succeeded' | 'failed';
  readonly failure?: FailureClass;
  readonly reason: Reason;
  readonly changes: Changes;
  readonly resources: RunRecord['resources'];
  /** Redacted. */
  readonly tail: readonly string[];
  readonly lock?: LockHolder;
  /** URNs of creates whose outcome the state does not know; set by a cut-off run. */
  readonly pendingCreates?: readonly string[];
  readonly encryptionSalt?: string;
  readonly finishedAt: number;
}

/** Redacted output lines as they come, in order. */
export type OutputListener = (lines: readonly string[]) => void;

export interface Executor {
  /** Lays everything out. Safe to repeat; starts no update. */
  prepare(job: Job, signal: AbortSignal): Promise<Ready | NotReady>;
  /**
   * Follows a run that was told to go, by this agent or an earlier one, to its end: enforces the time limit, stops it
   * when `stop` is aborted, ends survivors, clears an own dead lock, reads pending creates.
   */
  finish(
    attempt: Attempt,
    order: Order,
    follow: { readonly output: OutputListener; readonly stop: AbortSignal },
  ): Promise<RunEnd>;
  /** Ends what is left of runs that the ledger does not know, and removes their folders. */
  sweep(known: ReadonlySet<string>): Promise<void>;
  /** Removes the folder of a finished run; keeps artifact and order of the last success. */
  cleanup(runId: string): Promise<void>;
  readonly toolchain: Readonly<Record<string, string>>;
}
