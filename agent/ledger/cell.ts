/** One durable value in a file, changed by one writer at a time. */
import { rm } from 'node:fs/promises';
import { Low } from 'lowdb';
import { canonical } from '../../shared/canonical.ts';
import { durableFile, type Damage, type DurableSchema } from '../../shared/durable.ts';

export interface Cell<T> {
  /** What is durable. */
  readonly value: T | undefined;
  load(): Promise<T | undefined>;
  /**
   * Resolves with the durable value after `change` had its turn; `written` tells whether it made a difference. Equal
   * values are not written; undefined removes the file. A failed write leaves the value as it was and rejects.
   */
  change(
    change: (value: T | undefined) => T | undefined,
  ): Promise<{ value: T | undefined; written: boolean }>;
}

/** A cell over a file that may not be there yet; `load` it first. */
export function makeCell<T>(
  path: string,
  schema: DurableSchema<T>,
  onDamage: (damage: Damage) => void,
): Cell<T> {
  const file = durableFile(path, schema, onDamage);
  const low = new Low<T | null>(
    { read: file.read, write: (data) => (data === null ? Promise.resolve() : file.write(data)) },
    null,
  );
  let value: T | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const turn = async (change: (value: T | undefined) => T | undefined): Promise<boolean> => {
    const next = change(value);
    if (next === value || canonical(next ?? null) === canonical(value ?? null)) return false;
    low.data = next ?? null;
    await (low.data === null ? removeFile(path) : low.write());
    value = next;
    return true;
  };
  return {
    get value() {
      return value;
    },
    load: async () => {
      await low.read();
      value = low.data ?? undefined;
      return value;
    },
    change: (change) => {
      const mine = queue.then(() => turn(change));
      queue = mine.catch(() => undefined);
      return mine.then((written) => ({ value, written }));
    },
  };
}

/** The older generation goes first: a crash in between must not bring it back. */
async function removeFile(path: string): Promise<void> {
  await rm(`${path}.bak`, { force: true });
  await rm(path, { force: true });
}
