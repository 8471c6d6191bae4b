/** What package managers go by, and what is learnt from it. Types only. */
import type { ManifestFile } from './manifests.ts';

/** What a manager has to go by. Paths are from the lockfile's folder. */
export interface Sources {
  /** Text of the lockfile. */
  readonly lock: string;
  /** Folder of the project's package.json. */
  readonly project: string;
  readonly manifests: readonly ManifestFile[];
}

/** What a lockfile and its manifests install from the artifact itself. Paths are from the lockfile's folder. */
export interface LockReading {
  /** Folders and archives of the artifact that something which is installed is a link to, or a copy of. */
  readonly places: readonly string[];
  /** Those of them that are copied: their content decides what is installed. */
  readonly contents: readonly string[];
  readonly workspaces: readonly string[];
}
