/** The agent's entry point: reads environment and command line, runs until it is told to stop. */
import './lean.ts';
import { helpOf, parseSettings } from '../shared/config.ts';
import { makeLog, type Log } from '../shared/log.ts';
import { agentSettings, configOf, type AgentConfig } from './config.ts';
import { makeExecutor } from './execute.ts';
import { ensureKey } from './key.ts';
import { findProgram, foldersOfPath, inspectMachine } from './machine.ts';
import { startAgent, type Agent } from './start.ts';

/** Exit code for settings that make no sense. */
const BAD_USAGE = 2;

/** Resolves to the exit code. */
export async function main(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const parsed = parseSettings(agentSettings, argv, environment);
  if (parsed.kind === 'help') {
    process.stdout.write(helpOf('towline agent [flags]', agentSettings));
    return 0;
  }
  if (parsed.kind === 'errors') return complain(parsed.errors);
  const configured = configOf(parsed.values, await inspectMachine());
  if (configured.kind === 'errors') return complain(configured.errors);
  if (!parsed.values.printPublicKey) return run(configured.config, environment);
  process.stdout.write(`${await ensureKey(configured.config.keyFile)}\n`);
  return 0;
}

function complain(errors: readonly string[]): number {
  process.stderr.write(`${errors.join('\n')}\n`);
  return BAD_USAGE;
}

async function run(
  config: AgentConfig,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const log = makeLog({ name: 'agent', level: config.logLevel });
  const pulumi = await findProgram(config.pulumi, foldersOfPath(environment.PATH));
  if (pulumi === undefined) return complain([`--pulumi: there is no program “${config.pulumi}”`]);
  const stopped = signalled();
  const agent = await startWithPulumi({ ...config, pulumi }, { environment, log });
  const cause = await Promise.race([stopped, agent.lost.then(() => 'lost' as const)]);
  if (cause === 'lost') log.fatal('the connection to the broker was closed for good; this process ends');
  else log.info({ signal: cause }, 'stopping');
  const exitCode = cause === 'lost' ? 1 : 0;
  const impatient = signalled().then(() => ({ left: true }));
  const { left } = await Promise.race([agent.stop(), impatient]);
  // What still follows a run would keep this process: it is the next agent's now.
  if (left) process.exit(exitCode);
  return exitCode;
}

export interface Means {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Called at every step of conductor and executor; a test lets the agent die there. */
  readonly at?: (step: string) => void | Promise<void>;
}

/** The agent as it is in production; `config.pulumi` is a full path. */
export const startWithPulumi = (config: AgentConfig, { environment, log, at }: Means): Promise<Agent> =>
  startAgent(config, {
    log,
    ...(at === undefined ? {} : { at }),
    executor: (fetchArtifact) =>
      makeExecutor({
        dataDir: config.dataDir,
        pulumi: config.pulumi,
        path: foldersOfPath(environment.PATH),
        environment,
        allowEnv: config.allowEnv,
        allowFiles: config.allowFiles,
        ...(config.runUser === undefined ? {} : { runUser: config.runUser }),
        fetchArtifact,
        log,
        ...(at === undefined ? {} : { at }),
      }),
  });

const signalled = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
