/** Everything before the update: a folder with files, values, settings, dependencies; a stack; a first look at it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import { limits } from '../shared/limits.ts';
import { MAX_REASON_INPUTS, type FailureClass, type Reason } from '../shared/outcome.ts';
import { checkBackend } from './backend.ts';
import { provideDependencies } from './dependencies/install.ts';
import type { Context } from './execute.ts';
import type { Gate, Job, NotReady, Ready } from './executor.ts';
import { classifyText, judgeRun } from './failures.ts';
import { handOver, makeRunFolders, pulumiHomeOf, readArtifactFile, type RunFolders } from './folders.ts';
import { isPending, settleFileLocks, unmarkPending } from './holders.ts';
import { launchOf, makeCli, type Cli } from './pulumi/cli.ts';
import { environmentOf, upArguments } from './pulumi/command.ts';
import { deletionsOf } from './pulumi/events.ts';
import { PROJECT_FILES, readProject, settingsFile, type Project } from './pulumi/settings.ts';
import { settle } from './pulumi/settle.ts';
import { clearPending, preview } from './pulumi/stack.ts';
import { isAtLeast, OLDEST_PULUMI } from './pulumi/version.ts';
import { redactText } from './redact.ts';
import { keepRun, marksOfRun, type Run } from './run.ts';
import { marksOf, startGate } from './runner/gate.ts';
import type { Watched } from './runner/watch.ts';
import { resolveValues, type Resolved } from './secrets.ts';
import { discard } from './sweep.ts';
import { layOut } from './workspace.ts';

/** Lays everything out. What is not ready leaves nothing behind. */
export async function prepare(context: Context, job: Job, signal: AbortSignal): Promise<Ready | NotReady> {
  let ready: Ready | NotReady | undefined;
  try {
    ready = await layRun(context, job, signal);
    return ready;
  } catch (error) {
    if (!signal.aborted) throw error;
    return failed('Cancelled', { code: 'RunFailed', text: 'stopped on request before Pulumi began' });
  } finally {
    if (ready?.kind !== 'ready') await discard(context, job.runId);
  }
}

async function layRun(context: Context, job: Job, signal: AbortSignal): Promise<Ready | NotReady> {
  if (!isAtLeast(context.toolchain['pulumi'] ?? '', OLDEST_PULUMI)) return cliTooOld(context);
  const laid = await layFiles(context, job);
  if (laid.kind !== 'laid') return laid;
  const { run, project, values } = laid;
  const locked = await settleFileLocks(context.folders.holders, run);
  if (locked?.kind === 'held') return waitForLock(locked.by);
  await context.at('locks');

  const cli = makeCli(run, { pulumi: context.pulumi, user: context.user, graces: context.graces, signal });
  const passphrase = passphraseOf(values);
  const settled = await settle({
    run,
    cli,
    user: context.user,
    project: project.name,
    secrets: values.configSecrets,
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(job.encryptionSalt === undefined ? {} : { encryption: job.encryptionSalt }),
    first: job.first,
    step: context.at,
  });
  if (settled.kind === 'refused') return refused(settled.why);
  if (settled.kind === 'failed') return callFailed(settled.call, job);

  const unclear = await clearMarked(context, cli, run);
  if (unclear !== undefined) return callFailed(unclear, job);

  const missing = await layDependencies(context, job, { run, runtime: project.runtime, signal });
  if (missing !== undefined) return missing;
  // a stack that was made just now is empty, so its first update can delete nothing
  const held = job.first && !settled.created ? await firstLook(cli, run, job) : undefined;
  if (held !== undefined) return held;
  await context.at('prepared');
  return {
    kind: 'ready',
    gate: () => openGate(context, run),
    ...(settled.encryption === undefined ? {} : { encryptionSalt: settled.encryption }),
  };
}

async function openGate(context: Context, run: Run): Promise<Gate> {
  const { events } = marksOf({ marks: run.folders.marks, name: 'up' });
  const launch = launchOf(run, context, { name: 'up', arguments: upArguments(run.order, events) });
  const gate = await startGate(launch);
  context.gates.set(run.runId, gate.ended);
  void gate.ended.then(() => context.gates.delete(run.runId));
  return gate;
}

type Files =
  | { readonly kind: 'laid'; readonly run: Run; readonly project: Project; readonly values: Resolved }
  | NotReady;

async function layFiles(context: Context, job: Job): Promise<Files> {
  const { order, runId } = job;
  const opened = await context.artifacts.open(order.artifact);
  if (opened.kind === 'unavailable')
    return {
      kind: 'wait',
      reason: { code: 'ArtifactUnavailable', text: `the artifact cannot be had yet: ${opened.why}` },
      retryMs: limits.artifactRetryMs,
    };
  await context.at('artifact');
  const folders = await makeRunFolders(context.folders, runId, context.user);
  const laid = await layOut(opened.tar, folders.work);
  if (laid.kind === 'refused') return refused(`the artifact is refused: ${laid.why}`);
  await context.at('workspace');
  const project = await findProject(folders.work, order.inputs.project);
  if (typeof project === 'string') return refused(project);
  const values = await resolveValues(order.inputs, context.sources);
  if (values.kind === 'refused') return refused(values.why);
  const run = await layValues(context, job, { folders, project, values: values.values });
  const backend = checkBackend(run.backendUrl);
  if (backend.kind === 'bad') return refused(backend.why);
  await handOver(folders, context.user);
  await context.at('values');
  return { kind: 'laid', run, project, values: values.values };
}

/** An earlier run left creates whose end is unknown, and the stack says now that they may be forgotten. */
async function clearMarked(context: Context, cli: Cli, run: Run): Promise<Watched | undefined> {
  const { holders } = context.folders;
  if (!(await isPending(holders, run))) return undefined;
  if (run.order.policy.pendingCreates === 'clear') {
    const call = await clearPending(cli, run.order);
    if (call.exit !== 0) return call;
  }
  // with `hold` a person has looked: this run was asked for by an order that came after the mark
  await unmarkPending(holders, run);
  return undefined;
}

/** The project, or what is wrong with it. */
async function findProject(work: string, folder: string): Promise<Project | string> {
  if (posix.isAbsolute(folder) || folder.split('/').includes('..'))
    return `the project folder ${folder} leaves the artifact`;
  for (const file of PROJECT_FILES) {
    const text = await readArtifactFile(join(work, folder, file));
    if (text === undefined) continue;
    const read = readProject(text, file);
    if (read.kind === 'bad') return read.why;
    const settings = join('/', folder, read.value.settingsDir);
    const kept = relative(join('/', folder), settings)
      .split('/')
      .filter((part) => part === '..').length;
    const depth = posix
      .normalize(folder)
      .split('/')
      .filter((part) => part !== '.').length;
    return kept > depth ? `stackConfigDir of ${file} leaves the artifact` : read.value;
  }
  return `there is no Pulumi.yaml in ${folder}`;
}

async function layValues(
  context: Context,
  job: Job,
  laid: { readonly folders: RunFolders; readonly project: Project; readonly values: Resolved },
): Promise<Run> {
  const { folders, project, values } = laid;
  const { order, runId } = job;
  const resolved: Record<string, string> = { ...values.env };
  for (const { path, content, env } of values.files) {
    const full = join(folders.files, path);
    await mkdir(dirname(full), { recursive: true, mode: 0o700 });
    await writeFile(full, content, { mode: 0o600 });
    if (env !== undefined) resolved[env] = full;
  }
  return keepRun(runId, folders, order, {
    project: order.inputs.project,
    settings: join(project.settingsDir, settingsFile(project, order.inputs.pulumiStack)),
    backendUrl: order.inputs.backend?.url ?? project.backendUrl ?? '',
    secrets: values.secrets,
    env: environmentOf({
      order,
      places: { home: folders.home, temp: folders.temp, pulumiHome: pulumiHomeOf(folders) },
      path: context.path,
      resolved,
      marks: marksOfRun(context.dataDir, runId),
    }),
  });
}

/** As Pulumi reads it: the variable, or the file that a variable names, without white space around it. */
function passphraseOf(values: Resolved): string | undefined {
  const file = values.files.find(({ env }) => env === 'PULUMI_CONFIG_PASSPHRASE_FILE');
  return values.env['PULUMI_CONFIG_PASSPHRASE'] ?? file?.content.toString().trim();
}

async function layDependencies(
  context: Context,
  job: Job,
  need: { readonly run: Run; readonly runtime: string; readonly signal: AbortSignal },
): Promise<NotReady | undefined> {
  const { run, runtime, signal } = need;
  if (runtime !== 'nodejs' || job.order.inputs.install === 'none') return undefined;
  const { folders, patterns } = run;
  const marks = marksOfRun(context.dataDir, job.runId);
  const provided = await provideDependencies(
    { work: folders.work, project: job.order.inputs.project, home: folders.temp, marks, signal },
    context.folders.dependencies,
    context.install,
  );
  await context.at('dependencies');
  if (provided.kind === 'provided') return undefined;
  if (provided.kind === 'unusable') return failed('Config', { code: provided.code, text: provided.why });
  const output = redactText(provided.output, patterns);
  const lines = output.split('\n').filter((line) => /npm error/.test(line));
  const text = `dependencies could not be installed: ${lines.slice(0, 3).join(' ') || output.trim().split('\n').at(-1)}`;
  return failed(classifyText(output) ?? 'Program', { code: 'RunFailed', text });
}

/** The first update of an existing stack by this placement: whatever it would delete is for a person to decide. */
async function firstLook(cli: Cli, run: Run, job: Job): Promise<NotReady | undefined> {
  const looked = await preview(cli, run.order, run.folders.marks);
  const verdict = judgeRun({ ...looked, timeoutMs: job.order.policy.timeoutMs, ...stopOf(looked) });
  if (verdict.result === 'failed') return failed(verdict.failure, verdict.reason);
  const deletions = deletionsOf(looked.outcome);
  if (deletions.length === 0) return undefined;
  const text = `the stack has resources already, and the first run here would delete or replace ${deletions.length} of them`;
  const inputs = deletions.slice(0, MAX_REASON_INPUTS).map(({ urn, op }) => ({ path: urn, to: op }));
  return { kind: 'hold', reason: { code: 'WouldDelete', text, inputs, inputCount: deletions.length } };
}

const stopOf = ({ stopped }: Watched) => (stopped === undefined ? {} : { stop: stopped.cause });

const failed = (failure: FailureClass, reason: Reason): NotReady => ({ kind: 'failed', failure, reason });

const refused = (why: string): NotReady => failed('Config', { code: 'Invalid', text: why });

const cliTooOld = ({ toolchain }: Context): NotReady =>
  failed('Config', {
    code: 'CliTooOld',
    text: `Pulumi ${toolchain['pulumi']} is older than ${OLDEST_PULUMI}, the oldest that is supported`,
  });

const waitForLock = (lock: NonNullable<Extract<NotReady, { kind: 'wait' }>['lock']>): NotReady => ({
  kind: 'wait',
  reason: { code: 'Locked', text: `the stack is locked by ${lock.holder}` },
  retryMs: limits.lockRetryMs,
  lock,
});

function callFailed(call: Watched, job: Job): NotReady {
  const verdict = judgeRun({ ...call, timeoutMs: job.order.policy.timeoutMs, ...stopOf(call) });
  // exit code 0 never comes here: a call without events succeeds by its code alone
  return verdict.result === 'failed'
    ? failed(verdict.failure, verdict.reason)
    : failed('Program', { code: 'RunFailed', text: 'a call of Pulumi failed' });
}
