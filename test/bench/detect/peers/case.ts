import type { Edit } from '../estate.ts';

/** Two commits of the workspace, and the stacks that must run because of what differs. */
export interface Case {
  readonly name: string;
  /** What the commit that every case starts from has besides the workspace. */
  readonly before?: readonly Edit[];
  /** One commit after the other; the last one is asked about. */
  readonly commits: readonly (readonly Edit[])[];
  /** What ran last is not where the commits start, but a commit beside them that is gone since. */
  readonly rewritten?: readonly Edit[];
  /** The commit that is asked about has no history in common with what ran last. */
  readonly unrelated?: true;
  /** Settings of Git that the repository has while it is asked. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Stacks that must run, or go. */
  readonly affects: readonly string[];
}
