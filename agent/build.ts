/** `run.build`: commands that make what the program imports, such as a library in TypeScript, before Pulumi starts. */
import { appendFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { delimiter, join, relative } from 'node:path';
import type { Context } from './context.ts';
import { installSecrets } from './dependencies/environment.ts';
import type { Job, NotReady, OutputListener } from './executor.ts';
import { BY_SIGNAL } from './failures.ts';
import { failed } from './ready.ts';
import { patternsOf } from './redact.ts';
import { marksOfRun, sceneOf, type Run } from './run.ts';
import { startGate, type Launch } from './runner/gate.ts';
import { endMarked } from './runner/processes.ts';
import { watch, type Watched } from './runner/watch.ts';
import { undeclaredIn, type Scene } from './undeclared.ts';

/** A run whose dependencies are there. */
interface Build {
  readonly run: Run;
  readonly signal: AbortSignal;
}

/** Runs each command after the other in the project folder; undefined when all went well, or there are none. */
export async function build(
  context: Context,
  job: Job,
  { run, signal }: Build,
): Promise<NotReady | undefined> {
  const deadline = performance.now() + job.order.policy.timeoutMs;
  for (const [index, [program = '', ...flags]] of (job.order.inputs.build ?? []).entries()) {
    const launch: Launch = {
      marks: run.folders.marks,
      name: `build-${index}`,
      command: [program, ...flags],
      env: environmentOf(context, job, run),
      cwd: run.cwd,
      user: context.user,
    };
    const words = [program, ...flags].join(' ');
    keep(run, [`[towline] build: ${words}`]);
    const watched = await follow(context, { launch, run, signal, leftMs: deadline - performance.now() });
    // what it left behind has no business beside Pulumi
    await endMarked({ environment: marksOfBuild(context, job) });
    signal.throwIfAborted();
    if (watched.exit !== 0) return broken(words, watched, sceneOf(run));
  }
  return undefined;
}

interface Step {
  readonly launch: Launch;
  readonly run: Run;
  readonly signal: AbortSignal;
  readonly leftMs: number;
}

async function follow(context: Context, { launch, run, signal, leftMs }: Step): Promise<Watched> {
  const gate = await startGate(launch);
  gate.go();
  return watch({
    launch,
    gate: gate.process,
    ended: gate.ended,
    leftMs,
    stop: signal,
    patterns: [...run.patterns, ...patternsOf(installSecrets(context.install.environment))],
    output: (lines) => keep(run, lines),
    graces: context.graces,
  });
}

/** Of the command and its last lines, in a reason. */
const REASON_CHARACTERS = 500;

function broken(words: string, { exit, stopped, tail }: Watched, scene: Scene | undefined): NotReady {
  if (stopped?.cause === 'timeout')
    return failed('Timeout', { code: 'RunFailed', text: `the build took too long: ${words}` }, tail);
  const undeclared = undeclaredIn(tail, scene);
  if (undeclared !== undefined)
    return failed('Config', { code: 'UndeclaredInput', text: `the build: ${undeclared}` }, tail);
  const how = exit === undefined || exit >= BY_SIGNAL ? 'was cut off' : `ended with code ${exit}`;
  const last = tail.filter((line) => line.trim() !== '').slice(-3);
  const text = `the build ${how}: ${[words, ...last].join(' ')}`.slice(0, REASON_CHARACTERS);
  return failed('Program', { code: 'RunFailed', text }, tail);
}

/** That of an install, and the run's own settings: what enters as a secret is for Pulumi alone. */
function environmentOf(context: Context, job: Job, run: Run): Record<string, string> {
  const plain = (job.order.inputs.env ?? []).flatMap((entry) =>
    'value' in entry ? [[entry.name, entry.value] as const] : [],
  );
  const { NODE_OPTIONS, PYTHONPATH, TOWLINE_GUARD } = run.env;
  return {
    LANG: 'C.UTF-8',
    CI: 'true',
    ...context.install.environment,
    // what is installed was installed by the agent
    pnpm_config_verify_deps_before_run: 'false',
    ...Object.fromEntries(plain),
    ...(NODE_OPTIONS === undefined ? {} : { NODE_OPTIONS }),
    ...(PYTHONPATH === undefined || TOWLINE_GUARD === undefined ? {} : { PYTHONPATH, TOWLINE_GUARD }),
    PATH: [...programFolders(run), ...context.path].join(delimiter),
    HOME: run.folders.temp,
    TMPDIR: run.folders.temp,
    ...marksOfBuild(context, job),
  };
}

/** Tell the processes of a build from all others of its run. */
const marksOfBuild = (context: Context, { runId }: Job): Record<string, string> => ({
  ...marksOfRun(context.dataDir, runId),
  TOWLINE_STEP: 'build',
});

/** Where packages' own programs are, from the project folder upwards, as the managers' `run` has it. */
function programFolders({ cwd, folders }: Run): string[] {
  const parts = relative(folders.work, cwd).split('/');
  return parts
    .map((_part, index) => join(folders.work, ...parts.slice(0, parts.length - index)))
    .concat(folders.work)
    .map((folder) => join(folder, 'node_modules/.bin'));
}

/** The agent's alone, and redacted: the transcript begins with it. */
const outputOf = (run: Pick<Run, 'folders'>): string => join(run.folders.root, 'build.output');

const keep = (run: Run, lines: readonly string[]): void =>
  appendFileSync(outputOf(run), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });

const LINES_AT_ONCE = 1_000;

/** What the commands printed, for whoever follows the run, also after a restart. */
export async function sayBuild(run: Run, output: OutputListener): Promise<void> {
  if ((run.order.inputs.build ?? []).length === 0) return;
  const file = await open(outputOf(run));
  let lines: string[] = [];
  for await (const line of file.readLines()) {
    lines.push(line);
    if (lines.length < LINES_AT_ONCE) continue;
    output(lines);
    lines = [];
  }
  output(lines);
}
