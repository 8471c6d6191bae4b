/** A program's dependencies, laid into its work folder from a cache that each set enters once. */
import { join } from 'node:path';
import { sha256 } from '../../shared/canonical.ts';
import { isThere } from '../folders.ts';
import { fillOnce, layIn, type Filled } from './cache.ts';
import { chooseInstaller, missingText, type Installer, type InstallMeans } from './choose.ts';
import { decisiveSettings } from './environment.ts';
import { checkLinks } from './links.ts';
import { withLock } from './lock.ts';
import { planDependencies, type Install } from './plan.ts';
import {
  layStage,
  listArtifact,
  readManifests,
  stagedFiles,
  type ArtifactFile,
  type StagedFile,
} from './stage.ts';
import { runInstaller, type Installed } from './start.ts';
import { PNP_LOADER } from './yarn.ts';

/** A run that needs dependencies. */
export interface Need {
  /** The artifact's files. */
  readonly work: string;
  /** Project folder from there. */
  readonly project: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export type Provided =
  /** `installs`: how often a manager was started for it. `loader`: what every Node.js process has to load first. */
  | { readonly kind: 'provided'; readonly installs: 0 | 1; readonly loader?: string }
  /** Nothing helps but another order or another machine. */
  | {
      readonly kind: 'unusable';
      readonly code: 'Invalid' | 'NotYetSupported' | 'RunFailed';
      readonly why: string;
    }
  | { readonly kind: 'failed'; readonly output: string };

/** Lays dependencies in. A set that was installed before costs no process, or one copy where it has local links. */
export async function provideDependencies(need: Need, cache: string, means: InstallMeans): Promise<Provided> {
  const files = await listArtifact(need.work);
  const plan = planDependencies(need.project, await readManifests(need.work, files));
  if (plan.kind === 'none') return { kind: 'provided', installs: 0 };
  if (plan.kind === 'unusable') return plan;
  const folder = join(need.work, plan.folder);
  if (await isThere(join(folder, 'node_modules'))) return { kind: 'provided', installs: 0 };
  const installer = chooseInstaller(plan, means);
  if (installer === undefined) return { kind: 'unusable', code: 'RunFailed', why: missingText(plan) };
  const provided = await provide({ need, cache, means, plan, installer, folder, files });
  if (provided.kind === 'failed') return provided;
  const wrong = await checkLinks(folder, plan);
  if (wrong !== undefined) return { kind: 'unusable', code: 'RunFailed', why: wrong };
  const { installs } = provided;
  return {
    kind: 'provided',
    installs,
    ...(plan.linker === 'pnp' ? { loader: join(folder, PNP_LOADER) } : {}),
  };
}

interface Task {
  readonly need: Need;
  readonly cache: string;
  readonly means: InstallMeans;
  readonly plan: Install;
  readonly installer: Installer;
  /** Folder of the lockfile in the work folder. */
  readonly folder: string;
  readonly files: readonly ArtifactFile[];
}

async function provide(task: Task): Promise<Filled> {
  const { need, cache, means, plan, installer, folder, files } = task;
  if (plan.kind === 'inPlace') {
    const installed = await install(task, folder);
    return installed.kind === 'failed' ? installed : { kind: 'filled', installs: 1 };
  }
  const staged = await stagedFiles(need.work, files, plan);
  const entry = join(cache, keyOf(plan, { installer, means, staged }));
  const filled = await fillOnce({
    entry,
    user: means.user,
    signal: need.signal,
    lay: (staging) => layStage(staging, folder, { files: staged, install: plan }),
    install: (staging) => install(task, staging),
  });
  if (filled.kind === 'filled') await layIn(plan, { entry, folder, user: means.user });
  return filled;
}

/** Yarn 1 is not made for several installs that share one folder of what was fetched. */
function install({ need, cache, means, plan, installer }: Task, folder: string): Promise<Installed> {
  const { marks, signal } = need;
  const run = (): Promise<Installed> => runInstaller({ installer, folder, marks, signal }, means, cache);
  return plan.manager === 'yarn' ? withLock(means.caches.yarn, signal, run) : run();
}

interface Made {
  readonly installer: Installer;
  readonly means: InstallMeans;
  readonly staged: readonly StagedFile[];
}

/** All that decides what an install gives, and whether it is linked or copied. */
function keyOf({ kind, linker }: Install, { installer, means, staged }: Made): string {
  const { name, version, flags } = installer;
  return sha256(
    JSON.stringify([
      kind,
      [process.version, `${process.platform}-${process.arch}`],
      [name, version, linker, flags],
      decisiveSettings(means.environment),
      staged.map(({ path, isLink, hash }) => [path, isLink, hash]),
    ]),
  );
}
