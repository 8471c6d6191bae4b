/** A stack in its backend: made, looked at, previewed, repaired. Each function is one call of the CLI. */
import { limits } from '../../shared/limits.ts';
import { parseLockMessage, type StackLock } from '../locks.ts';
import type { RunOrder } from '../run.ts';
import { marksOf } from '../runner/gate.ts';
import type { Watched } from '../runner/watch.ts';
import type { Cli } from './cli.ts';
import {
  cancelArguments,
  clearArguments,
  exportArguments,
  initArguments,
  previewArguments,
  probeArguments,
  setSecretArguments,
} from './command.ts';

export type Made =
  { readonly kind: 'created' | 'exists' } | { readonly kind: 'failed'; readonly call: Watched };

const timeoutMs = limits.callTimeoutMs;

/** Makes the stack unless it is there. */
export async function makeStack(cli: Cli, order: RunOrder): Promise<Made> {
  const call = await cli.call({ name: 'init', arguments: initArguments(order), timeoutMs });
  if (call.exit === 0) return { kind: 'created' };
  return call.tail.some((line) => /stack '.*' already exists/.test(line))
    ? { kind: 'exists' }
    : { kind: 'failed', call };
}

/** What is read of a state. */
export interface StackState {
  /** For the settings file; undefined for a state that was never encrypted. */
  readonly encryption?: string;
  /** URNs of creates that were begun and whose end nobody wrote down. */
  readonly pendingCreates: readonly string[];
}

export type Looked =
  | { readonly kind: 'state'; readonly state: StackState }
  | { readonly kind: 'failed'; readonly call: Watched };

/** Reads the state; takes no lock. `failed` with exit code 0: the answer cannot be read. */
export async function readState(cli: Cli, order: RunOrder): Promise<Looked> {
  const call = await cli.call({ name: 'export', arguments: exportArguments(order), timeoutMs });
  if (call.exit !== 0) return { kind: 'failed', call };
  try {
    return { kind: 'state', state: parseState(await cli.printed('export')) };
  } catch {
    // the error would quote the state
    return { kind: 'failed', call };
  }
}

interface ExportedState {
  readonly deployment?: {
    readonly secrets_providers?: {
      readonly state?: { readonly salt?: string; readonly encryptedkey?: string };
    };
    readonly pending_operations?: readonly {
      readonly type: string;
      readonly resource?: { readonly urn: string };
    }[];
  } | null;
}

/** The parts of an exported state that matter here. Text before the first brace is a warning of the CLI. */
export function parseState(text: string): StackState {
  const { deployment } = JSON.parse(text.slice(text.indexOf('{'))) as ExportedState;
  const { salt, encryptedkey } = deployment?.secrets_providers?.state ?? {};
  const encryption = salt ?? encryptedkey;
  return {
    ...(encryption === undefined ? {} : { encryption }),
    pendingCreates: (deployment?.pending_operations ?? [])
      .filter(({ type }) => type === 'creating')
      .map(({ resource }) => resource?.urn ?? '?'),
  };
}

/** What the update would do. Runs the program; takes no lock. */
export const preview = (cli: Cli, order: RunOrder, marks: string): Promise<Watched> =>
  cli.call({
    name: 'preview',
    arguments: previewArguments(order, marksOf({ marks, name: 'preview' }).events),
    timeoutMs: order.policy.timeoutMs,
  });

/** Forgets pending creates. */
export const clearPending = (cli: Cli, order: RunOrder): Promise<Watched> =>
  cli.call({ name: 'clear', arguments: clearArguments(order), timeoutMs: order.policy.timeoutMs });

/** Deletes all locks of the stack: only when each of them is known to be of a dead run. */
export const cancelLocks = (cli: Cli, order: RunOrder): Promise<Watched> =>
  cli.call({ name: 'cancel', arguments: cancelArguments(order), timeoutMs });

/** What the CLI says once it has the lock: there is no such resource. */
const HAD_THE_LOCK = /no resource named '.*' found/;

/** The locks of a stack, by asking for one; undefined when the answer says nothing about locks. */
export async function probeLocks(cli: Cli, order: RunOrder): Promise<readonly StackLock[] | undefined> {
  const call = await cli.call({ name: 'probe', arguments: probeArguments(order), timeoutMs });
  const text = call.tail.join('\n');
  const locks = parseLockMessage(text);
  return locks.length > 0 || call.exit === 0 || HAD_THE_LOCK.test(text) ? locks : undefined;
}

/** Lets Pulumi encrypt a value into the settings file. */
export const setSecret = (cli: Cli, order: RunOrder, entry: readonly [string, string]): Promise<Watched> =>
  cli.call({ name: 'secret', arguments: setSecretArguments(order, entry[0]), timeoutMs, input: entry[1] });
