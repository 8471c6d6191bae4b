/** The files of the hub's store: all of them read at start, those of some clusters written. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Low } from 'lowdb';
import { sha256 } from '../shared/canonical.ts';
import { durableFile, type DurableSchema } from '../shared/durable.ts';
import type { Log } from '../shared/log.ts';
import {
  clusterOfShard,
  fitShard,
  indexOf,
  indexSchema,
  joinShards,
  shardSchema,
  shardsOf,
  type Index,
  type Kept,
  type Shard,
} from './shards.ts';

const VERSION = 1;
/** Bytes of one file. */
const FILE_BYTES = 10 * 1024 * 1024;
const EMPTY_INDEX: Index = { commits: [] };
const EMPTY_SHARD: Shard = { decisions: {}, base: [], inputs: {} };

export interface StoreFiles {
  /** What is damaged or missing is left out, with a line in the log. */
  load(): Promise<Kept>;
  /** Writes the index and the shards of these clusters, where they changed. Rejects with the file system's error. */
  save(kept: Kept, clusters: ReadonlySet<string>): Promise<void>;
}

/** The files of a folder that this process holds. */
export function makeStoreFiles(folder: string, log: Log): StoreFiles {
  const shardFolder = join(folder, 'clusters');
  const indexFile = join(folder, 'index.json');
  const written = new Map<string, string>();

  const fileAt = <T>(path: string, data: DurableSchema<T>['data'], empty: T): Low<T> =>
    new Low(
      durableFile(path, { version: VERSION, data }, (damage) => {
        log.warn({ file: damage.file, movedTo: damage.movedTo }, `a store file is damaged: ${damage.error}`);
      }),
      empty,
    );
  const read = async <T>(file: Low<T>): Promise<T> => {
    await file.read();
    return file.data;
  };
  const write = async <T>(path: string, data: DurableSchema<T>['data'], content: T): Promise<void> => {
    const hash = sha256(JSON.stringify(content));
    if (written.get(path) === hash) return;
    const file = fileAt(path, data, content);
    await file.write();
    written.set(path, hash);
  };
  const shardFile = (name: string): string => join(shardFolder, `${name}.json`);

  const load = async (): Promise<Kept> => {
    const names = await shardNames(shardFolder);
    const index = await read(fileAt(indexFile, indexSchema, EMPTY_INDEX));
    const shards: Shard[] = [];
    for (const name of names) shards.push(await read(fileAt(shardFile(name), shardSchema, EMPTY_SHARD)));
    return joinShards(index, shards);
  };
  const save = async (kept: Kept, clusters: ReadonlySet<string>): Promise<void> => {
    const shards = shardsOf(kept, clusters);
    for (const [name, shard] of shards)
      await write(shardFile(name), shardSchema, fitShard(shard, FILE_BYTES));
    await write(indexFile, indexSchema, indexOf(kept));
    for (const name of await shardNames(shardFolder))
      if (clusters.has(clusterOfShard(name)) && !shards.has(name)) await removeShard(shardFile(name));
  };
  const removeShard = async (path: string): Promise<void> => {
    written.delete(path);
    for (const file of [path, `${path}.bak`]) await rm(file, { force: true });
  };
  return { load, save };
}

/** Also of shards of which only the generation before is left. */
async function shardNames(folder: string): Promise<ReadonlySet<string>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await readdir(folder);
  return new Set(names.flatMap((name) => /^(.+)\.json(?:\.bak)?$/.exec(name)?.[1] ?? []));
}
