/**
 * A file that survives a crash and a power cut, as an adapter for lowdb: the new content is written beside, synced and
 * renamed into place, the generation before stays as `.bak`. A checksum and a schema version stand in the first line;
 * whatever is not whole when loaded is set aside and the generation before is taken.
 */
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Adapter } from 'lowdb';
import * as z from 'zod';
import { sha256 } from './canonical.ts';

export interface DurableSchema<T> {
  /** A file with another version is as good as damaged. */
  readonly version: number;
  readonly data: z.ZodType<T>;
}

export interface Damage {
  readonly file: string;
  readonly error: string;
  /** Where the bad file was put; absent when it could not be read at all. */
  readonly movedTo?: string;
}

const headerSchema = z.object({ version: z.number(), sha256: z.string() });

/**
 * `read` gives the newest whole generation, or null when there is none; `onDamage` hears of each file that was passed
 * over. `write` resolves when the content is on disk, and takes the data as they are at the call; writes of one adapter
 * happen one after the other. Rejects with the file system's error.
 */
export function durableFile<T>(
  path: string,
  schema: DurableSchema<T>,
  onDamage: (damage: Damage) => void = () => undefined,
): Adapter<T> {
  let queue: Promise<void> = Promise.resolve();
  const write = (data: T): Promise<void> => {
    const bytes = serialise(schema.version, data);
    const written = queue.then(() => replaceFile(path, bytes));
    queue = written.catch(() => undefined);
    return written;
  };
  const read = async (): Promise<T | null> =>
    (await load(path, schema, onDamage)) ?? (await load(`${path}.bak`, schema, onDamage)) ?? null;
  return { read, write };
}

function serialise(version: number, data: unknown): string {
  const body = JSON.stringify(data);
  return `${JSON.stringify({ version, sha256: sha256(body) })}\n${body}\n`;
}

/** A crash between the two renames leaves the generation before as `.bak`: the write had not resolved. */
async function replaceFile(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeSynced(`${path}.tmp`, content);
  await renameIfThere(path, `${path}.bak`);
  await rename(`${path}.tmp`, path);
  await syncFolder(folder);
}

async function writeSynced(path: string, content: string): Promise<void> {
  await using file = await open(path, 'w', 0o600);
  await file.writeFile(content);
  await file.sync();
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

async function load<T>(
  file: string,
  schema: DurableSchema<T>,
  onDamage: (damage: Damage) => void,
): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (!isMissing(error)) onDamage({ file, error: (error as Error).message });
    return undefined;
  }
  const parsed = parse(text, schema);
  if ('data' in parsed) return parsed.data;
  const movedTo = `${file}.damaged`;
  await renameIfThere(file, movedTo);
  onDamage({ file, error: parsed.error, movedTo });
  return undefined;
}

function parse<T>(text: string, schema: DurableSchema<T>): { data: T } | { error: string } {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1).replace(/\n$/, '');
  try {
    const header = headerSchema.parse(JSON.parse(text.slice(0, end)));
    if (header.version !== schema.version)
      return { error: `schema version ${header.version}, not ${schema.version}` };
    if (header.sha256 !== sha256(body)) return { error: 'the checksum does not match' };
    return { data: schema.data.parse(JSON.parse(body)) };
  } catch (error) {
    return { error: `not readable: ${(error as Error).message}` };
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
