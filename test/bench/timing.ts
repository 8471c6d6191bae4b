/** Runs of Towline and bare ones in turn, each bringing in a new version of the same project. */
import type { RunAnswer } from '../../hub/api/schemas.ts';
import { GiveUp, until } from '../harness/until.ts';
import { makeBare } from './bare.ts';
import type { CliStart } from './counter.ts';
import type { Estate } from './estate.ts';
import { inFolder, type Timed } from './landscape.ts';

/** One pair of runs, all in ms. */
export interface Timing {
  /** From the start of the pass that planned the commit to that of the CLI. */
  readonly seenToStart: number;
  /** The same, to the time that the run's record gives for its start. */
  readonly seenToRecord: number;
  /** From the start of the pass to the event that says that the board has the report of success. */
  readonly whole: number;
  /** From start to end in the run's record. */
  readonly run: number;
  /** From the end in the run's record to that event. */
  readonly endToBoard: number;
  /** Processes of the CLI. */
  readonly clis: number;
  readonly bare: number;
}

export interface Timer {
  /** As many pairs as asked for, or as there is time for: at least one. */
  pairs(count: number, isLate: () => boolean): Promise<readonly Timing[]>;
}

/** The first runs read programs from a cold disk. */
const WARM_UP = 2;

/** Makes the bare project and warms both up. `place`: the file that the project of Towline writes. */
export async function makeTimer(estate: Estate, timed: Timed, place: string): Promise<Timer> {
  const bare = await makeBare(estate, timed);
  let version = 0;
  const pair = async (): Promise<Timing> => {
    version += 1;
    const commit = {
      subject: `${timed.name} ${version}`,
      changes: inFolder(timed.folder, timed.files(place, version)),
    };
    // in turn, so that neither always comes after the other
    if (version % 2 === 0) return { bare: await bare.up(version), ...(await runOnce(estate, timed, commit)) };
    return { ...(await runOnce(estate, timed, commit)), bare: await bare.up(version) };
  };
  for (let n = 0; n < WARM_UP; n += 1) await pair();
  return {
    pairs: async (count, isLate) => {
      const timings: Timing[] = [];
      while (timings.length === 0 || (timings.length < count && !isLate())) timings.push(await pair());
      return timings;
    },
  };
}

async function runOnce(
  estate: Estate,
  { name, cluster }: Timed,
  commit: { readonly subject: string; readonly changes: ReturnType<typeof inFolder> },
): Promise<Omit<Timing, 'bare'>> {
  const { counter, hearing, reader, repository } = estate;
  await counter.take();
  const id = await repository.commit(commit.subject, commit.changes);
  const planned = await hearing.heard(`commit ${id}`, (one) => one.kind === 'commit' && one.commit === id);
  const ended = await hearing.heard(
    `the end of ${name}`,
    (one) =>
      one.kind === 'placement' &&
      one.name === name &&
      one.commit === id &&
      (one.phase === 'Succeeded' || one.phase === 'Failed'),
  );
  const read = async (): Promise<RunAnswer | undefined> =>
    (await reader.runs({ cluster, name })).find((one) => one.commit === id);
  const run = await until(`the record of the run of ${name}`, read);
  if (run.result !== 'succeeded') throw new GiveUp(`${name} failed: ${run.message ?? 'nobody knows why'}`);
  return figuresOf({ seen: planned.event.at, board: ended.at, run, starts: await counter.take() });
}

interface Times {
  readonly seen: number;
  readonly board: number;
  readonly run: RunAnswer;
  readonly starts: readonly CliStart[];
}

function figuresOf({ seen, board, run, starts }: Times): Omit<Timing, 'bare'> {
  const up = starts.find((start) => start.arguments.startsWith('up '));
  if (up === undefined) throw new GiveUp('a run ended without a start of the CLI');
  return {
    seenToStart: up.at - seen,
    seenToRecord: run.startedAt - seen,
    whole: board - seen,
    run: run.finishedAt - run.startedAt,
    endToBoard: board - run.finishedAt,
    clis: starts.length,
  };
}
