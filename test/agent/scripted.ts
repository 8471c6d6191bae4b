/** An executor without Pulumi: a world in memory in which a run is whatever the test makes of it. */
import type { Executor, Job, NotReady, RunEnd } from '../../agent/executor.ts';
import type { ProcessIdentity } from '../../shared/process.ts';
import { endOf } from './samples.ts';

export interface Started {
  readonly runId: string;
  readonly key: string;
  readonly gen: number;
  readonly inputDigest: string;
  readonly refresh: boolean;
  readonly first: boolean;
}

/** Outlives agents, as processes and disks do. */
export interface World {
  /** Every run that was told to go, in order. */
  readonly starts: Started[];
  /** Most runs that went on at once. */
  mostAtOnce: number;
  /** What was swept away and cleaned up. */
  readonly swept: string[];
  readonly cleaned: string[];
  /** Ends of runs that go on, by run id. */
  readonly going: Map<string, (end: RunEnd) => void>;
  readonly ends: Map<string, Promise<RunEnd>>;
}

export interface Script {
  /** Before a run may start; default: nothing is in the way. */
  readonly prepare?: (job: Job, signal: AbortSignal) => Promise<NotReady | undefined>;
  /** The end of a run that was told to go; default: a success at once. `undefined`: the test ends it itself. */
  readonly run?: (started: Started) => RunEnd | undefined;
  readonly finish?: () => Promise<void>;
}

export const makeWorld = (): World => ({
  starts: [],
  mostAtOnce: 0,
  swept: [],
  cleaned: [],
  going: new Map(),
  ends: new Map(),
});

const process: ProcessIdentity = { pid: 4711, startTime: '1', bootId: 'boot' };

export const lostEnd = (): RunEnd =>
  endOf({ result: 'failed', failure: 'Lost', reason: { code: 'RunFailed', text: 'the process is gone' } });

export const cancelledEnd = (): RunEnd =>
  endOf({ result: 'failed', failure: 'Cancelled', reason: { code: 'RunFailed', text: 'stopped' } });

export function makeScripted(world: World, script: Script = {}): Executor {
  const go = (job: Job): void => {
    const { order, runId, first } = job;
    const key = `${order.stack.namespace}/${order.stack.name}`;
    const { gen, inputDigest, inputs } = order;
    const started = { runId, key, gen, inputDigest, refresh: inputs.refresh === true, first };
    world.starts.push(started);
    const { promise, resolve } = Promise.withResolvers<RunEnd>();
    world.ends.set(runId, promise);
    world.going.set(runId, (end) => {
      world.going.delete(runId);
      resolve(end);
    });
    world.mostAtOnce = Math.max(world.mostAtOnce, world.going.size);
    const end = script.run === undefined ? endOf() : script.run(started);
    if (end !== undefined) setImmediate(() => world.going.get(runId)?.(end));
  };
  return {
    toolchain: { pulumi: '3.0.0' },
    prepare: async (job, signal) => {
      const notReady = await script.prepare?.(job, signal);
      return (
        notReady ?? {
          kind: 'ready',
          encryptionSalt: 'v1:salt',
          gate: async () => ({ process, go: () => go(job), abandon: async () => undefined }),
        }
      );
    },
    finish: async (attempt, _order, { output, stop }) => {
      await script.finish?.();
      output([`run ${attempt.runId}`]);
      stop.addEventListener('abort', () => world.going.get(attempt.runId)?.(cancelledEnd()));
      return (await world.ends.get(attempt.runId)) ?? lostEnd();
    },
    sweep: async (known) => {
      for (const runId of world.going.keys()) if (!known.has(runId)) world.swept.push(runId);
    },
    cleanup: async (runId) => void world.cleaned.push(runId),
  };
}
