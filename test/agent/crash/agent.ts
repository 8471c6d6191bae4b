/**
 * An agent as a process of its own that kills itself at a step. Its executor keeps its world on disk: a run is a line in
 * `starts` and an end in a file, both there at once when it is told to go, as if Pulumi had finished by itself.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentConfig } from '../../../agent/config.ts';
import type { Executor, RunEnd } from '../../../agent/executor.ts';
import { startAgent } from '../../../agent/start.ts';
import { makeLog } from '../../../shared/log.ts';
import { endOf } from '../samples.ts';
import { lostEnd } from '../scripted.ts';

/** To be started with a configuration as JSON and the step at which it dies. */
export const script = import.meta.filename;

function executorIn(world: string): Executor {
  mkdirSync(join(world, 'ends'), { recursive: true });
  const endFile = (runId: string): string => join(world, 'ends', runId);
  return {
    toolchain: {},
    prepare: async ({ order, runId }) => ({
      kind: 'ready',
      gate: async () => ({
        process: { pid: process.pid, startTime: '1', bootId: 'boot' },
        go: () => {
          appendFileSync(join(world, 'starts'), `${order.gen}\n`);
          writeFileSync(endFile(runId), JSON.stringify(endOf()));
        },
        abandon: async () => undefined,
      }),
    }),
    finish: async ({ runId }) =>
      existsSync(endFile(runId)) ? (JSON.parse(readFileSync(endFile(runId), 'utf8')) as RunEnd) : lostEnd(),
    sweep: async () => undefined,
    cleanup: async (runId) => rmSync(endFile(runId), { force: true }),
  };
}

async function main(configText: string, step: string): Promise<void> {
  const config = JSON.parse(configText) as AgentConfig;
  const executor = executorIn(join(config.dataDir, 'world'));
  await startAgent(
    { ...config, maxRuns: Infinity, runUser: undefined, httpPort: undefined },
    {
      log: makeLog({ name: 'agent', level: config.logLevel }),
      executor: () => executor,
      at: (name) => {
        if (name === step) process.kill(process.pid, 'SIGKILL');
      },
    },
  );
}

if (import.meta.main) await main(process.argv[2] ?? '', process.argv[3] ?? '');
