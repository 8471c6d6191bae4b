/**
 * A hub or an agent as in production that kills itself at the step which a file names, or sends itself another signal
 * such as SIGSTOP: `node mortal.ts hub|agent FATE-FILE [flags]`. The file is removed before, so that it happens once.
 */
import { readFileSync, rmSync } from 'node:fs';
import { agentSettings, configOf } from '../../agent/config.ts';
import { inspectMachine } from '../../agent/machine.ts';
import { startWithPulumi } from '../../agent/main.ts';
import { hubSettings } from '../../hub/config.ts';
import { readFiles, run } from '../../hub/main.ts';
import { parseSettings } from '../../shared/config.ts';
import { makeLog } from '../../shared/log.ts';

/** What a process of this file can be. */
export type Kind = 'hub' | 'agent';

const [kind = '', fate = '', ...flags] = process.argv.slice(2);

function at(step: string): void {
  const [who, where, signal = 'SIGKILL'] = readFate().split(':');
  if (who !== kind || where !== step) return;
  rmSync(fate);
  process.kill(process.pid, signal);
}

function readFate(): string {
  try {
    return readFileSync(fate, 'utf8');
  } catch {
    return '';
  }
}

const log = makeLog({ name: kind, level: 'info' });

async function hub(): Promise<number> {
  const parsed = parseSettings(hubSettings, flags, {});
  if (parsed.kind !== 'values') throw new Error(JSON.stringify(parsed));
  const files = await readFiles(parsed.values);
  if ('errors' in files) throw new Error(files.errors.join('\n'));
  return run(parsed.values, { files, environment: process.env, log, at });
}

async function agent(): Promise<number> {
  const parsed = parseSettings(agentSettings, flags, {});
  if (parsed.kind !== 'values') throw new Error(JSON.stringify(parsed));
  const configured = configOf(parsed.values, await inspectMachine());
  if (configured.kind === 'errors') throw new Error(configured.errors.join('\n'));
  const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
  const running = await startWithPulumi(configured.config, { environment: process.env, log, at });
  await stopped;
  await running.stop();
  return 0;
}

process.exitCode = await (kind === 'hub' ? hub() : agent());
