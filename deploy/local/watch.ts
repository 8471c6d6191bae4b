/** Follows somebody's repository: until everything is at rest, or until Ctrl-C; and sums up what was seen. */
import type { SourceRow } from './answers.ts';
import type { Api } from './api.ts';
import type { Follower } from './follow.ts';
import { BadInput } from './input.ts';
import { atRest, figuresOf, lost, repeated, type CommitFigures } from './standing.ts';

/** A repository that cannot be read for so long is not going to be: a remote that hiccups is there again before. */
const SOURCE_LIMIT_MS = 20_000;
/** States of a source that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set(['Hydrating', 'Ready']);

export interface Watched {
  readonly api: Api;
  readonly follower: Follower;
}

/**
 * Resolves when the newest commit was planned and every placement is at rest. Rejects with BadInput when the repository
 * cannot be read.
 */
export async function untilAtRest({ api, follower }: Watched, signal: AbortSignal): Promise<void> {
  const startedAt = Date.now();
  await follower.until(async (rows) => {
    const [newest] = await api.commits();
    if (newest !== undefined) return rows.every(atRest) || undefined;
    const unread = (await api.sources()).find(({ state }) => !PASSING.has(state));
    if (unread !== undefined && Date.now() - startedAt > SOURCE_LIMIT_MS)
      throw new BadInput(unreadText(unread));
    return undefined;
  }, signal);
}

const unreadText = ({ name, state, message }: SourceRow): string =>
  `the repository (${name}) cannot be read: ${state}${message === '' ? '' : `, ${message}`}`;

/** Somebody asked to stop. */
export class Interrupted extends Error {}

/** Follows until somebody asks to stop. Rejects when something else ends it. */
export async function untilStopped({ follower }: Watched, signal: AbortSignal): Promise<void> {
  try {
    await follower.until(() => Promise.resolve(undefined), signal);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
}

export interface Sum {
  /** Oldest first. */
  readonly commits: readonly CommitFigures[];
  readonly clusters: number;
  readonly lost: number;
  readonly repeated: number;
}

/** The newest commit and those planned since `since` (ms), with what came of them. */
export async function sumUp({ api, follower }: Watched, since: number): Promise<Sum> {
  const listed = (await api.commits()).filter(({ plannedAt }, n) => n === 0 || plannedAt >= since);
  const commits = await Promise.all(listed.toReversed().map(({ sha }) => api.commit(sha)));
  const [rows, runs] = [follower.rows(), await api.runs()];
  return {
    commits: commits
      .filter((commit) => commit !== undefined)
      .map((commit) => figuresOf(commit, rows, { runs, since: commit.plannedAt })),
    clusters: (await api.clusters()).length,
    lost: lost(rows).length,
    repeated: repeated(runs).length,
  };
}
