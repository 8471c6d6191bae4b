/** How the commits of one repository are read. Every driver passes the same contract test. Types only. */
import type { Failure } from './failure.ts';
import type { Tree } from './source.ts';

/** The id behind a ref: of a commit, or of an annotated tag that leads to one. */
export interface Tip {
  readonly kind: 'tip';
  readonly id: string;
  /** The full name of the ref, where another one was asked for: the tag that a range of versions means. */
  readonly ref?: string;
  /** Where on its host the server says that the repository is by now. */
  readonly url?: string;
}

/** A commit whose listing was read to its end. */
export interface Opened {
  readonly kind: 'opened';
  readonly tree: Tree;
}

export interface FetchOptions {
  /** What is here is damaged and not to be built upon. */
  readonly anew: boolean;
  /** Where to fetch from, when the server has said that it is not the configured URL; on the same host. */
  readonly url?: string;
  /** The commit in force: it stays readable, whatever is brought. */
  readonly keep?: string;
}

/** Whether a commit has another one among its ancestors. `unknown`: too little of history is at hand. */
export type Descent = 'yes' | 'no' | 'unknown';

export interface GitDriver {
  /** Brings the newest commit of one ref here, nothing else. Afterwards it is on disk as a whole. */
  fetch(ref: string, options: FetchOptions): Promise<Tip | Failure>;
  /** Opens a commit that is here. A listing that cannot be read whole is a failure, never a shorter listing. */
  open(id: string, ref: string): Promise<Opened | Failure>;
  /**
   * Opens a commit that is not the newest one, by its id; brings it here if the server gives it out. What `open` answered
   * with and what it has met stays as it is.
   */
  older(id: string, ref: string): Promise<Opened | Failure>;
  /** Whether `to`, which is here, descends from `from`. `thorough`: it is worth a long look. */
  descends(from: string, to: string, options: { readonly thorough: boolean }): Promise<Descent>;
  /** Something of the newest tree was not to be had, and is worth another try. */
  unfinished?(): boolean;
  /** Whether a read met damage since the last fetch. */
  damaged(): boolean;
  /** Ends what is under way. */
  close(): Promise<void>;
}
