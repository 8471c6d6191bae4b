/** Notices that a ref of a local repository moved. A hint only: polling goes on, and no error of it matters. */
import { watch, type FSWatcher } from 'node:fs';
import { refFiles } from './local.ts';

export interface Watch {
  close(): void;
}

/** Calls `onHint` when a file changes that may hold the ref. */
export async function watchRef(path: string, ref: string, onHint: () => void): Promise<Watch> {
  const watchers = (await refFiles(path, ref)).flatMap(({ folder, file }): FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, changed) => {
        if (changed === null || changed === file) onHint();
      });
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  });
  return { close: () => watchers.forEach((watcher) => watcher.close()) };
}
