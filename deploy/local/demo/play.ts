/** Plays the demo: makes each commit, waits until it is done, and tells what it started and why. */
import type { Api } from '../api.ts';
import type { Follower } from '../follow.ts';
import type { Screen } from '../screen.ts';
import {
  figuresOf,
  isDone,
  isRecorded,
  lost,
  repeated,
  type CommitFigures,
  type CommitRow,
  type PlacementRow,
  type RunRow,
} from '../standing.ts';
import type { SampleRepository } from './repository.ts';
import { STEPS, type Step } from './script.ts';
import { closingLine, commitLines, titleLine, type Result } from './story.ts';

/** The first commit installs packages from a registry, which takes as long as the network does. */
const COMMIT_LIMIT_MS = 10 * 60_000;
/** The record of a run comes a moment after the report of its end; one that was cut off may have none. */
const RECORD_LIMIT_MS = 5_000;

export interface Stage {
  readonly sample: SampleRepository;
  /** The first commit was made before the fleet started; it counts from the fleet's start. */
  readonly first: { readonly sha: string; readonly since: number };
  readonly api: Api;
  readonly follower: Follower;
  readonly screen: Screen;
}

/** Rejects when a commit is not done in time. */
export async function play(stage: Stage, signal: AbortSignal): Promise<Result> {
  const commits: CommitFigures[] = [];
  for (const [n, step] of STEPS.entries()) {
    const since = n === 0 ? stage.first.since : Date.now();
    const sha = n === 0 ? stage.first.sha : await stage.sample.commit(step);
    commits.push(await followCommit(stage, { step, sha, since }, signal));
  }
  const runs = await stage.api.runs();
  const result = {
    commits,
    clusters: (await stage.api.clusters()).length,
    lost: lost(await stage.api.placements()).length,
    repeated: repeated(runs).length,
  };
  stage.screen.say(closingLine(STEPS, result));
  return result;
}

interface Made {
  readonly step: Step;
  readonly sha: string;
  readonly since: number;
}

async function followCommit(
  stage: Stage,
  { step, sha, since }: Made,
  signal: AbortSignal,
): Promise<CommitFigures> {
  const { api, follower, screen } = stage;
  screen.say(titleLine(sha, step, STEPS));
  const limit = AbortSignal.timeout(COMMIT_LIMIT_MS);
  const done = await follower.until(doneAt(api, sha), AbortSignal.any([signal, limit]));
  const figures = figuresOf(done.commit, follower.rows(), { runs: done.runs, since });
  screen.say(...commitLines({ step, commit: done.commit, figures }));
  return figures;
}

interface Done {
  readonly commit: CommitRow;
  readonly runs: readonly RunRow[];
}

function doneAt(api: Api, sha: string): (rows: readonly PlacementRow[]) => Promise<Done | undefined> {
  let since: number | undefined;
  return async (rows) => {
    const commit = await api.commit(sha);
    if (commit === undefined || !isDone(commit, rows)) return undefined;
    since ??= Date.now();
    const runs = await api.runs();
    return isRecorded(rows, runs) || Date.now() - since > RECORD_LIMIT_MS ? { commit, runs } : undefined;
  };
}
