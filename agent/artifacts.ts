/** Artifacts on the agent's disk, encrypted as they came, so that a run needs neither hub nor broker twice. */
import { readdir, readFile, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../shared/limits.ts';
import { open } from '../shared/seal.ts';
import type { ArtifactRef } from '../shared/wire.ts';
import { writeWhole } from './folders.ts';

export type FetchArtifact = (ref: ArtifactRef) => Promise<Buffer>;

export type Opened =
  { readonly kind: 'opened'; readonly tar: Buffer } | { readonly kind: 'unavailable'; readonly why: string };

export interface ArtifactStore {
  /** The tar of an artifact, from disk or fetched. What is damaged on disk is fetched again. */
  open(ref: ArtifactRef): Promise<Opened>;
  /** Removes the longest unused ones above the budget, but none of those named. */
  trim(keep: ReadonlySet<string>): Promise<void>;
}

/** A store in a folder of its own. */
export function makeArtifactStore(
  folder: string,
  fetch: FetchArtifact,
  budgetBytes: number = limits.artifactStoreBytes,
): ArtifactStore {
  const fetched = async (ref: ArtifactRef): Promise<Opened> => {
    try {
      const stored = await fetch(ref);
      const tar = open(stored, ref);
      await writeWhole(join(folder, ref.name), stored);
      return { kind: 'opened', tar };
    } catch (error) {
      return { kind: 'unavailable', why: (error as Error).message };
    }
  };
  return {
    open: async (ref) => {
      const tar = await fromDisk(join(folder, ref.name), ref);
      return tar === undefined ? fetched(ref) : { kind: 'opened', tar };
    },
    trim: (keep) => trim(folder, keep, budgetBytes),
  };
}

async function fromDisk(path: string, ref: ArtifactRef): Promise<Buffer | undefined> {
  try {
    const tar = open(await readFile(path), ref);
    const now = new Date();
    await utimes(path, now, now);
    return tar;
  } catch {
    return undefined;
  }
}

async function trim(folder: string, keep: ReadonlySet<string>, budgetBytes: number): Promise<void> {
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => ({ name, info: await stat(join(folder, name)).catch(() => undefined) })),
  );
  const present = files.flatMap(({ name, info }) => (info === undefined ? [] : [{ name, info }]));
  let bytes = present.reduce((sum, { info }) => sum + info.size, 0);
  for (const { name, info } of present.sort((a, b) => a.info.mtimeMs - b.info.mtimeMs)) {
    if (bytes <= budgetBytes) return;
    if (keep.has(name)) continue;
    await unlink(join(folder, name)).catch(() => undefined);
    bytes -= info.size;
  }
}
