/**
 * Lockfiles cut down to what one workspace installs. Types only.
 *
 * The hub ships the cut lockfile and hashes exactly its bytes: what another workspace depends on changes nothing, and
 * what this one depends on, its place in node_modules included, changes everything.
 */

/** What of a package.json the lockfiles of its workspace are read with. */
export interface PackageManifest {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** The workspaces beside a lockfile. Folders are from the lockfile's folder; `.` is that folder. */
export interface Workspaces {
  manifest(folder: string): PackageManifest | undefined;
  /** Folder of the workspace of that name in this commit. */
  folderOf(name: string): string | undefined;
  /** Content of a settings file of the package manager, such as `.yarnrc.yml`. Undefined: none, or not known yet. */
  content?(path: string): Buffer | undefined;
}

/** What one workspace installs. All paths are from the lockfile's folder, sorted. */
export interface Slice {
  /** The cut lockfile. The same closure gives the same text, whatever else the lockfile holds. Made when asked. */
  text(): string;
  /** Equal keys of lockfiles of one kind mean equal texts, packages and catalogs. Far cheaper than the text. */
  readonly key: string;
  /** Folders of the workspaces it links to, directly or not, without the root and without itself. */
  readonly workspaces: readonly string[];
  /** Files and folders of the repository that its packages come from: `file:` folders and archives, patches. */
  readonly paths: readonly string[];
  /** Archives of its packages in the package manager's cache: taken as well where the repository has them. */
  readonly archives?: readonly string[];
  /** Names of the packages in it, and `name@version` of each: for overrides, catalogs and patches by name. */
  readonly packages: ReadonlySet<string>;
  /** Entries of catalogs that its workspaces use, as JSON of the catalog's name and the package's. */
  readonly catalogs?: ReadonlySet<string>;
  /** What must not be installed, with the remedy. */
  readonly problems: readonly string[];
}

/** A lockfile that was parsed. */
export interface Lockfile {
  /**
   * What the workspace in a folder installs, root dependencies included, over prod, dev, optional and peer edges.
   * `also`: folders of other workspaces to be installed with it, such as those below a project at the root.
   */
  slice(folder: string, workspaces: Workspaces, also?: readonly string[]): Slice;
}

/** `whole`: a version or a shape that is not known here, so that the file is taken as it is. */
export type ReadLockfile =
  | { readonly kind: 'lockfile'; readonly lockfile: Lockfile }
  | { readonly kind: 'whole'; readonly why: string };
