/** Everything before the update: a folder with files, values, settings, dependencies; a stack; a first look at it. */
import { MAX_REASON_INPUTS } from '../shared/outcome.ts';
import type { Context } from './context.ts';
import { equip } from './equip.ts';
import type { Gate, Job, NotReady, Ready } from './executor.ts';
import { judgeRun } from './failures.ts';
import { settleFileLocks } from './holders.ts';
import { layFiles, passphraseOf } from './lay.ts';
import { settlePending } from './pending.ts';
import { launchOf, makeCli, type Cli } from './pulumi/cli.ts';
import { upArguments } from './pulumi/command.ts';
import { deletionsOf } from './pulumi/events.ts';
import { settle } from './pulumi/settle.ts';
import { preview } from './pulumi/stack.ts';
import { isAtLeast, OLDEST_PULUMI } from './pulumi/version.ts';
import { callFailed, cliTooOld, failed, refused, waitForLock } from './ready.ts';
import { sceneOf, type Run } from './run.ts';
import { marksOf, startGate } from './runner/gate.ts';
import { abandon } from './sweep.ts';

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
    if (ready?.kind !== 'ready') await abandon(context, job.runId);
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

  const cliOf = (of: Run): Cli =>
    makeCli(of, { pulumi: context.pulumi, user: context.user, graces: context.graces, signal });
  const cli = cliOf(run);
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

  // a stack that was made just now is empty
  const unclear =
    job.unsure && !settled.created
      ? await settlePending(context.folders.holders, job, { run, cli })
      : undefined;
  if (unclear !== undefined) return unclear;

  const equipped = await equip(context, job, { run, project, signal });
  if (equipped.kind !== 'equipped') return equipped;
  // nor can its first update delete anything
  const held =
    job.first && !settled.created ? await firstLook(cliOf(equipped.run), equipped.run, job) : undefined;
  if (held !== undefined) return held;
  await context.at('prepared');
  return {
    kind: 'ready',
    gate: () => openGate(context, equipped.run),
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

/** The first update of an existing stack by this placement: whatever it would delete is for a person to decide. */
async function firstLook(cli: Cli, run: Run, job: Job): Promise<NotReady | undefined> {
  const looked = await preview(cli, run.order, run.folders.marks);
  const verdict = judgeRun({
    ...looked,
    timeoutMs: job.order.policy.timeoutMs,
    scene: sceneOf(run),
  });
  if (verdict.result === 'failed') return failed(verdict.failure, verdict.reason);
  const deletions = deletionsOf(looked.outcome);
  if (deletions.length === 0) return undefined;
  const text = `the stack has resources already, and the first run here would delete or replace ${deletions.length} of them`;
  const inputs = deletions.slice(0, MAX_REASON_INPUTS).map(({ urn, op }) => ({ path: urn, to: op }));
  return { kind: 'hold', reason: { code: 'WouldDelete', text, inputs, inputCount: deletions.length } };
}
