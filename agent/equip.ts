/** What a program needs beside its files: dependencies, and what its build makes. */
import { build } from './build.ts';
import type { Context } from './context.ts';
import { installSecrets } from './dependencies/environment.ts';
import { provideDependencies, type Provided } from './dependencies/install.ts';
import { linkNamed, providePython } from './dependencies/python.ts';
import type { Job, NotReady } from './executor.ts';
import { classifyText } from './failures.ts';
import { poison } from './poison.ts';
import { failed } from './ready.ts';
import type { Project } from './pulumi/settings.ts';
import { patternsOf, redactText } from './redact.ts';
import { marksOfRun, type Run } from './run.ts';

/** A run that was laid out. */
export interface Bare {
  readonly run: Run;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** The run with all that it needs; its environment may have become another one. */
export type Equipped = { readonly kind: 'equipped'; readonly run: Run } | NotReady;

/** Installs, makes unreadable what is not declared, then builds. */
export async function equip(context: Context, job: Job, bare: Bare): Promise<Equipped> {
  const provided = await provide(context, job, bare);
  await context.at('dependencies');
  if (provided.kind !== 'provided') return notProvided(context, bare.run, provided);
  const run = provided.loader === undefined ? bare.run : withLoader(bare.run, provided.loader);
  await poisonRun(context, bare);
  const broken = await build(context, job, { run, signal: bare.signal });
  await context.at('built');
  return broken ?? { kind: 'equipped', run };
}

/** After the install, which reads what it likes, and before anything of the program runs. */
async function poisonRun(context: Context, { run, project: { runtime } }: Bare): Promise<void> {
  const { folders, order } = run;
  if (order.surroundings === undefined) return;
  await poison({ folders, project: order.inputs.project, runtime, surroundings: order.surroundings });
  await context.at('poisoned');
}

async function provide(context: Context, job: Job, { run, project, signal }: Bare): Promise<Provided> {
  const { folders, cwd } = run;
  const { inputs } = job.order;
  const { runtime, virtualenv } = project;
  if (inputs.install === 'none') return { kind: 'provided', installs: 0 };
  const marks = marksOfRun(context.dataDir, job.runId);
  const need = { work: folders.work, project: inputs.project, marks, signal };
  if (runtime === 'nodejs') return provideDependencies(need, context.folders.dependencies, context.install);
  if (runtime !== 'python') return { kind: 'provided', installs: 0 };
  const python = { ...need, environment: folders.venv };
  const provided = await providePython(python, context.folders.dependencies, context.install);
  if (virtualenv !== undefined && provided.kind === 'provided')
    await linkNamed(cwd, virtualenv, folders.venv);
  return provided;
}

/** Lines in which the managers say what went wrong. */
const ERROR_LINE =
  /npm error|ERR_PNPM|^\[ERROR\]|^error |^ERROR: |YN\d{4}: .*(Error|can't|doesn't|failed|would have been modified)/;

function notProvided(
  context: Context,
  run: Run,
  provided: Exclude<Provided, { kind: 'provided' }>,
): NotReady {
  if (provided.kind === 'unusable') return failed('Config', { code: provided.code, text: provided.why });
  const known = [...run.patterns, ...patternsOf(installSecrets(context.install.environment))];
  const output = redactText(provided.output, known);
  const lines = output.split('\n').filter((line) => ERROR_LINE.test(line));
  const text = `dependencies could not be installed: ${lines.slice(0, 3).join(' ') || output.trim().split('\n').at(-1)}`;
  return failed(classifyText(output) ?? 'Program', { code: 'RunFailed', text });
}

/** Every Node.js process of the run loads a file before all else. */
const withLoader = (run: Run, loader: string): Run => ({
  ...run,
  env: {
    ...run.env,
    NODE_OPTIONS: [`--require=${JSON.stringify(loader)}`, run.env['NODE_OPTIONS'] ?? ''].join(' ').trim(),
  },
});
