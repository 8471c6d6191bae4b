/** One agent process that carries out a run and dies at a step: `node crash-child.ts SCRIPT.json`. */
import { readFile, writeFile } from 'node:fs/promises';
import { makeExecutor, type ExecutorOptions } from '../../agent/execute.ts';
import type { Attempt, Job } from '../../agent/executor.ts';
import { makeLog } from '../../shared/log.ts';

export interface CrashScript {
  readonly options: Pick<
    ExecutorOptions,
    'dataDir' | 'pulumi' | 'path' | 'environment' | 'allowEnv' | 'allowFiles'
  >;
  readonly job: Job;
  /** Name of the step; those of the caller are `gated`, `recorded`, `gone`. */
  readonly dieAt: string;
  /** Where the attempt is written down, as a ledger would. */
  readonly record: string;
  /** File with the stored bytes of the artifact. */
  readonly artifact: string;
}

async function main(script: CrashScript): Promise<void> {
  const at = (step: string): void => {
    if (step === script.dieAt) process.kill(process.pid, 'SIGKILL');
  };
  const executor = makeExecutor({
    ...script.options,
    fetchArtifact: () => readFile(script.artifact),
    log: makeLog({ name: 'crash', level: 'silent' }),
    at,
  });
  const { job } = script;
  const ready = await executor.prepare(job, new AbortController().signal);
  if (ready.kind !== 'ready') throw new Error(JSON.stringify(ready));
  const gate = await ready.gate();
  at('gated');
  const attempt: Attempt = {
    runId: job.runId,
    gen: job.order.gen,
    inputDigest: job.order.inputDigest,
    commit: job.order.source.commit,
    number: 1,
    process: gate.process,
    startedAt: Date.now(),
    timeoutMs: job.order.policy.timeoutMs,
  };
  await writeFile(script.record, JSON.stringify(attempt));
  at('recorded');
  gate.go();
  // what was written to the gate is in the kernel when this line is reached by a later turn
  await new Promise((resolve) => setImmediate(resolve));
  at('gone');
  await executor.finish(attempt, job.order, { output: () => undefined, stop: new AbortController().signal });
  await executor.cleanup(job.runId);
}

const [path = ''] = process.argv.slice(2);
await main(JSON.parse(await readFile(path, 'utf8')) as CrashScript);
