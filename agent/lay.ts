/** Files and values of a run, in a folder of its own. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import { guardEnvironment } from '../shared/guard.ts';
import { limits } from '../shared/limits.ts';
import { checkBackend } from './backend.ts';
import type { Context } from './context.ts';
import type { Job, NotReady } from './executor.ts';
import { handOver, makeRunFolders, pulumiHomeOf, readArtifactFile, type RunFolders } from './folders.ts';
import { environmentOf } from './pulumi/command.ts';
import { PROJECT_FILES, readProject, settingsFile, type Project } from './pulumi/settings.ts';
import { refused } from './ready.ts';
import { keepRun, marksOfRun, type Run } from './run.ts';
import { resolveValues, type Resolved } from './secrets.ts';
import { layOut } from './workspace.ts';

/** What was laid out, or why not. */
export type Files =
  | { readonly kind: 'laid'; readonly run: Run; readonly project: Project; readonly values: Resolved }
  | NotReady;

/** An artifact and an order's values in a run's own folder. */
export async function layFiles(context: Context, job: Job): Promise<Files> {
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
  const usesVenv = project.runtime === 'python' && order.inputs.install !== 'none';
  return keepRun(
    { runId, folders, order },
    {
      project: order.inputs.project,
      settings: join(project.settingsDir, settingsFile(project, order.inputs.pulumiStack)),
      backendUrl: order.inputs.backend?.url ?? project.backendUrl ?? '',
      secrets: values.secrets,
      env: {
        ...environmentOf({
          order,
          places: { home: folders.home, temp: folders.temp, pulumiHome: pulumiHomeOf(folders) },
          path: [...(usesVenv ? [join(folders.venv, 'bin')] : []), ...context.path],
          resolved: usesVenv ? { VIRTUAL_ENV: folders.venv, ...resolved } : resolved,
          marks: marksOfRun(context.dataDir, runId),
        }),
        ...(order.surroundings && guardEnvironment(context.folders.guard, folders.guard, resolved)),
      },
    },
  );
}

/** As Pulumi reads it: the variable, or the file that a variable names, without white space around it. */
export function passphraseOf(values: Resolved): string | undefined {
  const file = values.files.find(({ env }) => env === 'PULUMI_CONFIG_PASSPHRASE_FILE');
  return values.env['PULUMI_CONFIG_PASSPHRASE'] ?? file?.content.toString().trim();
}
