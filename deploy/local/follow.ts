/** Follows the hub's API and tells what changes, until something is reached. */
import { HubSilent, type Api } from './api.ts';
import { liveLines, newsOf, type Told } from './lines.ts';
import type { Pulse } from './pulse.ts';
import type { Screen } from './screen.ts';
import { atRest, type PlacementRow } from './standing.ts';

/** While something is at work, for its clocks; an event comes sooner. */
const BUSY_MS = { live: 250, plain: 1_000 };
/** At rest only events say something new; this finds out what an event would not. */
const IDLE_MS = 5_000;

export interface Follower {
  /** The rows of the last look. */
  rows(): readonly PlacementRow[];
  /** Problems of manifests that stand now, for people. */
  problems(): readonly string[];
  /** Resolves with the first answer of `reached` that is not undefined. Rejects when the signal is aborted. */
  until<T>(
    reached: (rows: readonly PlacementRow[]) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<T>;
}

interface Seen {
  readonly rows: readonly PlacementRow[];
  readonly problems: readonly string[];
  readonly told: Told;
}

/** A hub that does not answer is starting again: the look is left out. */
export function makeFollower({ api, pulse }: { api: Api; pulse: Pulse }, screen: Screen): Follower {
  const seen: Seen = { rows: [], problems: [], told: new Map() };
  const wait = pulse.waiter();
  const look = async (): Promise<readonly PlacementRow[]> => {
    const [rows, problems] = [await api.placements(), await api.problems()];
    const news = newsOf(seen.told, rows, screen.live);
    const newProblems = problems.filter((problem) => !seen.problems.includes(problem));
    screen.show(
      liveLines(rows, Date.now()),
      ...newProblems.map((text) => ({ text, tone: 'bad' as const })),
      ...news.lines,
    );
    Object.assign(seen, { rows, problems, told: news.told });
    return rows;
  };
  return {
    rows: () => seen.rows,
    problems: () => seen.problems,
    until: async (reached, signal) => {
      for (;;) {
        signal.throwIfAborted();
        try {
          const answer = await reached(await look());
          if (answer !== undefined) return answer;
        } catch (error) {
          if (!(error instanceof HubSilent)) throw error;
        }
        await wait(seen.rows.every(atRest) ? IDLE_MS : BUSY_MS[screen.live ? 'live' : 'plain'], signal);
      }
    },
  };
}
