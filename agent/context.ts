/** What the steps of a run share. Types only. */
import type { Log } from '../shared/log.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { InstallMeans } from './dependencies/choose.ts';
import type { Folders, RunUser } from './folders.ts';
import type { Graces } from './runner/stop.ts';
import type { ValueSources } from './secrets.ts';

/** What the steps of a run have in common. */
export interface Context {
  readonly dataDir: string;
  readonly folders: Folders;
  readonly pulumi: string;
  readonly path: readonly string[];
  readonly sources: ValueSources;
  readonly user: RunUser | undefined;
  readonly artifacts: ArtifactStore;
  readonly install: InstallMeans;
  readonly toolchain: Readonly<Record<string, string>>;
  readonly graces: Graces;
  /** By run id: settles when a gate of this process ends, so that the end is seen at once. */
  readonly gates: Map<string, Promise<void>>;
  readonly log: Log;
  readonly at: (step: string) => Promise<void>;
}
