/** From `go` to the end: follows, stops, clears up, finds out what is known of the state. */
import { join } from 'node:path';
import type { Order } from '../shared/wire.ts';
import { sayBuild } from './build.ts';
import type { Context } from './context.ts';
import type { Attempt, OutputListener, RunEnd } from './executor.ts';
import { judgeRun } from './failures.ts';
import { writeWhole } from './folders.ts';
import { makeCli } from './pulumi/cli.ts';
import { learnEncryption } from './pulumi/settle.ts';
import { afterwards } from './recover.ts';
import { loadRun, marksOfRun, sceneOf, type Run } from './run.ts';
import { endMarked } from './runner/processes.ts';
import { watch, type Watched } from './runner/watch.ts';

/** A run to follow. */
export interface Finishing {
  readonly attempt: Attempt;
  readonly order: Order;
  readonly output: OutputListener;
  readonly stop: AbortSignal;
}

/** Follows a run to its end, whoever started it, and leaves neither processes nor a lock of its own. */
export async function finish(context: Context, finishing: Finishing): Promise<RunEnd> {
  const { attempt, order } = finishing;
  const marks = { environment: marksOfRun(context.dataDir, attempt.runId), gate: attempt.process };
  const run = await loadRun(context.folders, attempt.runId, order);
  if (run === undefined) {
    await endMarked(marks);
    return withoutFolder();
  }
  await sayBuild(run, finishing.output);
  const ended = context.gates.get(attempt.runId);
  const watched = await watch({
    launch: { marks: run.folders.marks, name: 'up' },
    gate: attempt.process,
    ...(ended === undefined ? {} : { ended }),
    leftMs: Math.min(attempt.timeoutMs, attempt.startedAt + attempt.timeoutMs - Date.now()),
    stop: finishing.stop,
    patterns: run.patterns,
    output: finishing.output,
    graces: context.graces,
  });
  await context.at('exit');
  const survivors = await endMarked(marks);
  if (survivors > 0) context.log.warn({ run: attempt.runId, survivors }, 'processes outlived their run');
  await context.at('survivors');
  const end = await settleEnd(context, { run, watched, finishing });
  await context.at('ended');
  return end;
}

interface Watching {
  readonly run: Run;
  readonly watched: Watched;
  readonly finishing: Finishing;
}

async function settleEnd(context: Context, { run, watched, finishing }: Watching): Promise<RunEnd> {
  const { outcome, tail } = watched;
  const judged = judgeRun({ ...watched, timeoutMs: finishing.attempt.timeoutMs, scene: sceneOf(run) });
  // what looks for locks and pending creates must not be stopped by what stopped the run
  const { signal } = new AbortController();
  const cli = makeCli(run, { pulumi: context.pulumi, user: context.user, graces: context.graces, signal });
  const { stop } = finishing;
  const verdict = await afterwards(context, { run, watched, cli, stop, judged });
  const encryption = await learnEncryption(run);
  if (verdict.result === 'succeeded') await keepSuccess(context, finishing.order);
  return {
    ...verdict,
    changes: outcome.changes,
    resources: outcome.resources,
    tail,
    ...(encryption === undefined ? {} : { encryptionSalt: encryption }),
    finishedAt: Date.now(),
  };
}

const withoutFolder = (): RunEnd => ({
  result: 'failed',
  failure: 'Lost',
  reason: { code: 'RunFailed', text: 'the folder of the run is gone: how it ended is unknown' },
  changes: { create: 0, update: 0, delete: 0, replace: 0, same: 0 },
  resources: [],
  tail: [],
  finishedAt: Date.now(),
});

/** The order of the last success stays on disk, and with it its artifact. */
async function keepSuccess(context: Context, order: Order): Promise<void> {
  const { cluster, stack } = order;
  const name = `${cluster}_${stack.namespace}_${stack.name}.json`;
  await writeWhole(join(context.folders.successes, name), JSON.stringify(order));
}
