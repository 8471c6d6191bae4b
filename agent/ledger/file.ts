/** The ledger of a plain machine: one JSON file a placement and one for the agent, each durable by itself. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../shared/canonical.ts';
import type { Damage } from '../../shared/durable.ts';
import { claimFolder } from '../../shared/pidfile.ts';
import type { StackRef } from '../../shared/subjects.ts';
import { makeCell, type Cell } from './cell.ts';
import { entrySchema, headerSchema, keyOf, type Header, type Ledger, type PlacementEntry } from './ledger.ts';

const VERSION = 1;

export interface FileLedgerOptions {
  readonly folder: string;
  readonly incarnation: string;
  /** Hears of each file that was damaged and passed over. */
  readonly onDamage: (damage: Damage) => void;
}

/** Opens or makes the ledger. Rejects when another agent has it, or when the folder cannot be read. */
export async function openFileLedger(options: FileLedgerOptions): Promise<Ledger> {
  await mkdir(join(options.folder, 'placements'), { recursive: true, mode: 0o700 });
  const claim = await claimFolder(options.folder);
  if (claim.kind === 'taken')
    throw new Error(`${options.folder} is in use by another agent (process ${claim.pid})`);
  try {
    return ledgerOf(await loadHeader(options), await loadEntries(options), () => claim.release());
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** Readable, of bounded length, and different for different placements, whatever the names hold. */
export function fileOf(stack: StackRef): string {
  const readable = `${stack.namespace}_${stack.name}`.replaceAll(/[^a-z0-9_-]/gi, '-').slice(0, 100);
  return `${readable}_${sha256(keyOf(stack)).slice(0, 16)}.json`;
}

async function loadHeader(options: FileLedgerOptions): Promise<Cell<Header>> {
  const path = join(options.folder, 'agent.json');
  const cell = makeCell<Header>(path, { version: VERSION, data: headerSchema }, options.onDamage);
  if ((await cell.load()) === undefined)
    await cell.change(() => ({ epoch: 0, incarnation: options.incarnation, reserved: 1 }));
  return cell;
}

interface Shelf {
  readonly cells: Map<string, Cell<PlacementEntry>>;
  readonly cellOf: (file: string) => Cell<PlacementEntry>;
}

async function loadEntries(options: FileLedgerOptions): Promise<Shelf> {
  const folder = join(options.folder, 'placements');
  const cellOf = (file: string): Cell<PlacementEntry> =>
    makeCell<PlacementEntry>(join(folder, file), { version: VERSION, data: entrySchema }, options.onDamage);
  const cells = new Map<string, Cell<PlacementEntry>>();
  for (const file of entryFiles(await readdir(folder))) {
    const cell = cellOf(file);
    const entry = await cell.load();
    if (entry !== undefined) cells.set(keyOf(entry.stack), cell);
  }
  return { cells, cellOf };
}

/** A crash between two renames leaves only the generation before. */
const entryFiles = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.map((name) => name.replace(/\.bak$/, '')).filter((name) => name.endsWith('.json')));

function ledgerOf(header: Cell<Header>, shelf: Shelf, unlock: () => Promise<void>): Ledger {
  const entries = new Map<string, PlacementEntry>();
  for (const [key, cell] of shelf.cells) if (cell.value !== undefined) entries.set(key, cell.value);
  const writes = new Set<Promise<unknown>>();
  let revision = 0;
  let closed = false;

  const cellOf = (stack: StackRef): Cell<PlacementEntry> => {
    const cell = shelf.cells.get(keyOf(stack)) ?? shelf.cellOf(fileOf(stack));
    shelf.cells.set(keyOf(stack), cell);
    return cell;
  };
  const update: Ledger['update'] = async (stack, change) => {
    const { value, written } = await cellOf(stack).change(change);
    if (written) revision += 1;
    if (value === undefined) entries.delete(keyOf(stack));
    else entries.set(keyOf(stack), value);
    return value;
  };
  const tracked = <T>(start: () => Promise<T>): Promise<T> => {
    if (closed) return Promise.reject(new Error('the ledger is closed'));
    const write = start();
    const settled = write.catch(() => undefined).finally(() => writes.delete(settled));
    writes.add(settled);
    return write;
  };
  return {
    get header() {
      return header.value as Header;
    },
    entries,
    get revision() {
      return revision;
    },
    update: (stack, change) => tracked(() => update(stack, change)),
    updateHeader: (change) =>
      tracked(async () => (await header.change((value) => change(value as Header))).value as Header),
    close: async () => {
      closed = true;
      while (writes.size > 0) await Promise.all(writes);
      await unlock();
    },
  };
}
