/** Reads the manifests and project files of every tree. A file that did not change keeps its object, and so its parse. */
import pLimit from 'p-limit';
import type { CatalogFile } from './catalog.ts';
import { catalogPaths } from './paths.ts';
import type { SourceView, Tree, TreeEntry } from '../git/source.ts';

/** Blobs in flight at once; one process per repository serves them. */
const READS = 32;

/** Keeps the files of the newest trees between passes. */
export function makeGather(): (views: readonly SourceView[]) => Promise<readonly CatalogFile[]> {
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
    const content = await limit(() => tree.blob(entry.id));
    return [key, { repository: view.name, trust: view.trust, path: entry.path, content }];
  };

  return async (views) => {
    const files = new Map<string, CatalogFile>();
    for (const view of views) {
      if (view.tree === undefined) continue;
      const tree = view.tree;
      const entries = catalogPaths(await tree.entries(), view);
      for (const [key, file] of await Promise.all(entries.map((entry) => read(view, tree, entry))))
        files.set(key, file);
    }
    known = files;
    return [...files.values()];
  };
}
