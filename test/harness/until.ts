/** Waiting for a condition instead of for a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface Waiting<T> {
  /** Is this value what is waited for? By default any value but undefined, null and false. */
  readonly accept?: (value: T) => boolean;
  /** How long to wait at most. The default is generous, since test machines are slow and shared. */
  readonly deadlineMs?: number;
  /** Pause between two looks. */
  readonly everyMs?: number;
}

/** Thrown by a read: what is waited for cannot come any more, so the wait ends at once with this error. */
export class GiveUp extends Error {}

const DEADLINE_MS = 30_000;
const EVERY_MS = 20;

type Present<T> = Exclude<T, undefined | null | false>;
type Look<T> = { readonly value: T } | { readonly error: unknown };

/**
 * Reads until the value is accepted and returns it. A read that throws counts as "not yet", so an assertion may stand
 * in it; GiveUp ends the wait. Rejects at the deadline with what was waited for and what was seen last.
 */
export function until<T>(
  what: string,
  read: () => T | Promise<T>,
  waiting: Waiting<T> & { accept: (value: T) => boolean },
): Promise<T>;
export function until<T>(what: string, read: () => T | Promise<T>, waiting?: Waiting<T>): Promise<Present<T>>;
export async function until<T>(
  what: string,
  read: () => T | Promise<T>,
  waiting: Waiting<T> = {},
): Promise<T> {
  const { accept = isPresent, deadlineMs = DEADLINE_MS, everyMs = EVERY_MS } = waiting;
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look(read);
    if ('value' in seen && accept(seen.value)) return seen.value;
    if (performance.now() >= deadline) throw tooLate(what, deadlineMs, seen);
    await delay(everyMs);
  }
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

async function look<T>(read: () => T | Promise<T>): Promise<Look<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (error instanceof GiveUp) throw error;
    return { error };
  }
}

function tooLate(what: string, deadlineMs: number, seen: Look<unknown>): Error {
  const prefix = `waited ${deadlineMs} ms for ${what};`;
  if ('value' in seen) return new Error(`${prefix} last seen: ${inspect(seen.value, { depth: 4 })}`);
  const text = seen.error instanceof Error ? seen.error.message : inspect(seen.error);
  return new Error(`${prefix} the last look failed: ${text}`, { cause: seen.error });
}
