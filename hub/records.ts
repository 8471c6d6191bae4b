/** Finished runs and the output of a run, read from the broker when somebody asks. */
import { DeliverPolicy, type Jets } from '../shared/nats.ts';
import { hubSubjects, streams, type StackRef } from '../shared/subjects.ts';
import { limits } from '../shared/limits.ts';
import { decode, logChunkSchema, runRecordSchema, type LogChunk, type RunRecord } from '../shared/wire.ts';
import { clean, makeLineFilter } from './shapes.ts';

/** A cluster and the NATS account in which its agent lives. */
export interface ClusterAccount {
  readonly cluster: string;
  readonly account: string;
}

/** Longest reading of the runs of a placement. */
const RUNS_MS = 2 * limits.requestTimeoutMs;

/** The kept runs of a placement, newest first. Rejects when the broker does not answer. */
export async function readRuns(
  jets: Jets,
  { cluster, account }: ClusterAccount,
  stack: StackRef,
): Promise<readonly RunRecord[]> {
  const wish = { stream: streams.runs(account), filter: hubSubjects.run(account, stack) };
  const runs: RunRecord[] = [];
  for await (const data of readStream(jets, wish, { follow: false, signal: AbortSignal.timeout(RUNS_MS) })) {
    const read = decode(runRecordSchema, data);
    if (read.kind === 'message' && read.message.cluster === cluster) runs.push(clean(read.message));
  }
  const newest = new Map(runs.map((run) => [run.runId, run]));
  return [...newest.values()].sort((a, b) => b.startedAt - a.startedAt).slice(0, limits.keptRuns);
}

export interface LogWish {
  /** Go on with what is written from now on, until the last chunk. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/**
 * The kept output of a run, each chunk once, as it was written. Ends after the last chunk, at the end of what is there
 * without `follow`, or when aborted. Rejects when the broker does not answer.
 */
export async function* readLog(
  jets: Jets,
  { account }: ClusterAccount,
  { run, ...wish }: LogWish & { readonly run: string },
): AsyncGenerator<LogChunk, void, undefined> {
  const seen = new Set<number>();
  const filterLine = makeLineFilter();
  const log = { stream: streams.logs(account), filter: hubSubjects.logsOfRun(account, run) };
  for await (const data of readStream(jets, log, wish)) {
    const read = decode(logChunkSchema, data);
    if (read.kind !== 'message' || read.message.run !== run || seen.has(read.message.n)) continue;
    seen.add(read.message.n);
    yield { ...read.message, lines: read.message.lines.map(filterLine) };
    if (read.message.last) return;
  }
}

/** Messages of one pull: what a slow reader makes the hub hold. */
const BATCH = 50;

async function* readStream(
  jets: Jets,
  { stream, filter }: { readonly stream: string; readonly filter: string },
  { follow, signal }: LogWish,
): AsyncGenerator<Uint8Array, void, undefined> {
  const consumer = await jets.js.consumers.get(stream, {
    filter_subjects: [filter],
    deliver_policy: DeliverPolicy.All,
  });
  try {
    let pending = (await consumer.info(true)).num_pending;
    while (!signal.aborted && (follow || pending > 0)) {
      const max_messages = follow ? BATCH : Math.min(pending, BATCH);
      const batch = await consumer.fetch({ max_messages, expires: limits.requestTimeoutMs });
      const stop = (): void => void batch.close();
      signal.addEventListener('abort', stop, { once: true });
      for await (const message of batch) {
        pending = message.info.pending;
        yield message.data;
      }
      signal.removeEventListener('abort', stop);
    }
  } finally {
    // What cannot be deleted now, the server forgets by itself.
    await consumer.delete().catch(() => undefined);
  }
}
