/** What a project reads besides its own folder, as one runtime finds it. Types only. */
import type { ProjectFile } from '../catalog/catalog.ts';
import type { View } from './view.ts';

/** A file of the artifact whose content is made from files of the tree; it stands in place of the file at its path. */
export interface MadeFile {
  readonly path: string;
  /** Object id that Git would give the content: equal ids, equal bytes. */
  readonly id: string;
  /** The content, made anew through a view of the same tree or of one that answers alike. */
  content(view: View): Buffer;
}

/** Paths are from the repository's root. */
export interface Inferred {
  /** Files, symlinks and submodules that are inputs. */
  readonly files: readonly string[];
  /** Folders that are inputs as a project's own folder is: without the folders of projects below. */
  readonly folders: readonly string[];
  readonly made: readonly MadeFile[];
  /** What Git has to say about the form and the origin of inputs is an input with them. */
  readonly gitFiles?: true;
  /** What keeps the placement from being planned, with the remedy. */
  readonly problems: readonly string[];
  /** What is probably not meant, with file and remedy. */
  readonly warnings: readonly string[];
}

/** One runtime's way to find inputs. */
export type Infer = (project: ProjectFile, view: View) => Inferred;

/** Nothing found. */
export const NOTHING_INFERRED: Inferred = { files: [], folders: [], made: [], problems: [], warnings: [] };
