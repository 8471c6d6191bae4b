/** What the hub sees of Git: complete trees of commits, and the state of each source. */
import type { Auth } from './auth.ts';

/** `100644` file, `100755` executable, `120000` symlink, `160000` submodule. */
export type FileMode = '100644' | '100755' | '120000' | '160000';

export interface TreeEntry {
  /** Path from the repository's root, `/` between parts. */
  readonly path: string;
  readonly mode: FileMode;
  /** Git object id, hex. */
  readonly id: string;
  /** Of a submodule whose content is wanted and not to be had: why. */
  readonly lacks?: string;
}

/** Mode and object id as one value, so that a change of mode alone is a change. */
export const fileValue = ({ mode, id }: Pick<TreeEntry, 'mode' | 'id'>): string => `${mode} ${id}`;

export interface Commit {
  readonly id: string;
  readonly subject: string;
  readonly author: string;
  /** Committer time, ms. */
  readonly time: number;
}

/** A file whose content Git LFS keeps outside of Git, as the pointer that is committed in its place says. */
export interface LargeFile {
  readonly path: string;
  /** sha256 of the content, hex. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
}

/** What Git LFS keeps for the files of a commit. */
export interface LargeFiles {
  /** Why the content of a file cannot be had here whatever a server says, with the remedy; undefined: it can be asked for. */
  refuses(path: string): string | undefined;
  /**
   * Begins to fetch the contents of files that are needed together. What it answers with gives each of them, proven to be
   * what the pointer says; it rejects for one that is not to be had, or not for a while: what is under way goes on, and a
   * later call finds it.
   */
  begin(files: readonly LargeFile[]): (file: LargeFile) => Promise<Buffer>;
}

/** One commit, readable as a whole. Its content never changes. */
export interface Tree {
  readonly repository: string;
  /** The watched ref, as in `refs/heads/main`. */
  readonly ref: string;
  readonly commit: Commit;
  /** Submodules whose content is wanted and not to be had by now; absent: none. */
  readonly lacking?: string;
  /** Every file, sorted by path in byte order; read once, then kept. */
  entries(): Promise<readonly TreeEntry[]>;
  /**
   * Content of a blob, by object id. Rejects when the object cannot be read, never an empty answer instead; with
   * {@link OversizedBlobError} when it is larger than an artifact may be.
   */
  blob(id: string): Promise<Buffer>;
  /** Absent: nobody here asks Git LFS for anything. */
  readonly large?: LargeFiles;
}

/** A blob too large to be held in memory. */
export class OversizedBlobError extends Error {
  /** Bytes. */
  readonly size: number;
  constructor(id: string, size: number) {
    super(`object ${id} has ${size} bytes`);
    this.size = size;
  }
}

/**
 * `Hydrating`: not read yet since start. `Ready`: the last check worked. Any other state says what the last check met;
 * the tree of the last complete read stays in force, and none of these is ever an empty tree.
 * `QuotaExceeded`: it takes more disk or memory than it may. `Refused`: what the ref leads to is not taken.
 */
export const SOURCE_STATES = [
  'Hydrating',
  'Ready',
  'Unreachable',
  'AuthFailed',
  'RefMissing',
  'Corrupt',
  'QuotaExceeded',
  'Refused',
] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

/** `native`: the git program. `isomorphic`: isomorphic-git in a thread of the hub, where there is no such program. */
export const DRIVER_NAMES = ['native', 'isomorphic'] as const;
export type DriverName = (typeof DRIVER_NAMES)[number];

/** Who should read a repository; `auto`: the git program where there is one that can be used. */
export const DRIVER_CHOICES = ['auto', ...DRIVER_NAMES] as const;
export type DriverChoice = (typeof DRIVER_CHOICES)[number];

/** `fleet` repositories gate all planning and may hold every kind; `stacks` gate their own; `sources` hold programs. */
export type Trust = 'fleet' | 'stacks' | 'sources';

/** A ref that moved from one commit to another. */
export interface Moved {
  readonly from: string;
  readonly to: string;
  /** `unknown`: too little of history is at hand to tell. */
  readonly descends: 'yes' | 'no' | 'unknown';
  readonly at: number;
}

export interface SourceView {
  readonly name: string;
  /** Without user info. */
  readonly url: string;
  readonly ref: string;
  /** The configured repository, where this is one at a ref that stacks ask for. */
  readonly of?: string;
  readonly trust: Trust;
  readonly manifests: readonly string[];
  readonly state: SourceState;
  /** Who reads it; absent: nobody can, and the message says why. */
  readonly driver?: DriverName;
  /** Since when it is in this state, ms. */
  readonly since: number;
  readonly checkedAt: number;
  /** What went wrong, for people; without credentials. */
  readonly message?: string;
  /** The newest move of the ref since start. Only where `descends` is `yes` was nothing rewritten. */
  readonly moved?: Moved;
  /** The newest damage since start that was found and healed. */
  readonly mended?: { readonly at: number; readonly damage: string };
  /** Worth knowing, though nothing is wrong: a poll waits for its turn. */
  readonly note?: string;
  /** The newest complete read since start. */
  readonly tree?: Tree;
}

/** Which commit of a repository is watched. The branch `HEAD` is the one that the repository has checked out. */
export type RefChoice =
  | { readonly branch: string }
  | { readonly tag: string }
  | { readonly commit: string }
  | { readonly semver: string };

/** A repository as configured. */
export interface RepositorySettings {
  readonly name: string;
  /** `https://…`, `ssh://…`, `user@host:path`, `file://…` or a path on this machine, which is read in place. */
  readonly url: string;
  readonly ref: RefChoice;
  readonly trust: Trust;
  readonly manifests: readonly string[];
  readonly intervalMs: number;
  readonly auth?: Auth | undefined;
  /** Default: `auto`. */
  readonly driver?: DriverChoice;
  /** `refuse`: a commit that does not descend from the one in force is not taken. Default: `allow`. */
  readonly nonFastForward?: 'allow' | 'refuse' | undefined;
  /** Addresses at and below which content of submodules may be fetched, besides those of the hub's repositories. */
  readonly submodules?: { readonly allow: readonly string[] } | undefined;
}

/** Why something could not be read, for people. */
export interface SourceFailure {
  readonly kind: 'failed';
  readonly state: Exclude<SourceState, 'Hydrating' | 'Ready'>;
  readonly message: string;
}

/** A repository at a ref of its own, as stacks ask for it. */
export interface AskedSource {
  /** Of the source: see `nameAtRef`. */
  readonly name: string;
  /** A configured one. */
  readonly repository: string;
  readonly ref: RefChoice;
}

/** The watched repositories. */
export interface Sources {
  /**
   * What stacks ask for besides the repositories' own refs, all of it: what was asked for before and is not any more is
   * let go of. The next `refresh` reads what is new.
   */
  want(asked: readonly AskedSource[]): void;
  /**
   * Polls what is due and answers with all of them, in the order of the settings, then of `want`. Waits for slow remotes for a short
   * time only: what they bring later, the next call shows.
   */
  refresh(now: number): Promise<readonly SourceView[]>;
  /**
   * Another commit of a watched repository, by its id; it is fetched if it is not here and the server gives it out. A
   * failure says why there is none: `RefMissing` where the server does not have it, or does not give it out.
   */
  older(name: string, commit: string): Promise<Tree | SourceFailure>;
  /** When the next poll is due, ms; Infinity while every one of them is under way. */
  nextDue(): number;
  /** Ends what is under way. */
  close(): Promise<void>;
}
