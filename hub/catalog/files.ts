/** Reads the manifests and project files of every tree. A file that did not change keeps its object, and so its parse. */
import pLimit from 'p-limit';
import type { CatalogFile } from './catalog.ts';
import { catalogPaths } from './paths.ts';
import { OversizedBlobError, type SourceView, type Tree, type TreeEntry } from '../git/source.ts';
import type { Gathered } from '../poll.ts';

/** Blobs in flight at once; one process per repository serves them. */
const READS = 32;

/** Keeps the files of the newest trees between passes. */
export function makeGather(): (views: readonly SourceView[]) => Promise<Gathered> {
  let known = new Map<string, CatalogFile>();
  const limit = pLimit({ concurrency: READS, rejectOnClear: true });

  const read = async (
    view: SourceView,
    tree: Tree,
    entry: TreeEntry,
  ): Promise<readonly [string, CatalogFile]> => {
    const key = `${view.name}:${view.trust}:${entry.path}:${entry.id}`;
    const before = known.get(key);
    if (before !== undefined) return [key, before];
    const content = await limit(() => tree.blob(entry.id)).catch(sizeOf);
    const file = { repository: view.name, trust: view.trust, path: entry.path };
    if (typeof content === 'number') return [key, { ...file, content: NOTHING, oversized: content }];
    return [key, { ...file, content }];
  };

  const readAll = async (view: SourceView, tree: Tree): Promise<(readonly [string, CatalogFile])[]> => {
    const entries = catalogPaths(await tree.entries(), view);
    return Promise.all(entries.map((entry) => read(view, tree, entry)));
  };

  return async (views) => {
    const files = new Map<string, CatalogFile>();
    const broken = new Map<string, string>();
    for (const view of views) {
      if (view.tree === undefined) continue;
      try {
        for (const [key, file] of await readAll(view, view.tree)) files.set(key, file);
      } catch (error) {
        broken.set(view.name, (error as Error).message);
      }
    }
    known = files;
    return { files: [...files.values()], broken };
  };
}

const NOTHING = Buffer.alloc(0);

/** The size of a file that is too large to be held; any other error is thrown on. */
function sizeOf(error: unknown): number {
  if (error instanceof OversizedBlobError) return error.size;
  throw error;
}
