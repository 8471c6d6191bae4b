/**
 * A Python program's dependencies, in a virtual environment. One that holds packages of an index only is made once for
 * each set and linked into runs; one with folders of the repository in it belongs to its run.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { sha256 } from '../../shared/canonical.ts';
import { readArtifactFile } from '../folders.ts';
import { fillOnce } from './cache.ts';
import type { Installer, InstallMeans } from './choose.ts';
import { decisiveSettings } from './environment.ts';
import type { Need, Provided } from './install.ts';
import { projectDependencies, readRequirements } from './requirements.ts';
import { runInstaller } from './start.ts';

/** A run that needs an environment. */
export interface PythonNeed extends Need {
  /** Where the run expects it. */
  readonly environment: string;
}

/** Lays the environment where the run expects it; one that was made before costs no install. */
export async function providePython(need: PythonNeed, cache: string, means: InstallMeans): Promise<Provided> {
  const plan = await planPython(need);
  if (plan.kind === 'none') return { kind: 'provided', installs: 0 };
  if (plan.kind === 'unusable') return plan;
  if (plan.kind === 'locked') return installLocked(need, cache, means);
  const version = await pythonVersion(means);
  if (version === undefined)
    return { kind: 'unusable', code: 'RunFailed', why: 'there is no python3 on the PATH of this machine' };
  const task: Task = { need, cache, means, plan, version };
  return plan.local ? installOwn(task) : installShared(task);
}

interface Wish {
  readonly kind: 'wish';
  /** Folder of the deciding file, from the artifact's root. */
  readonly folder: string;
  /** Arguments of `pip install`. */
  readonly arguments: readonly string[];
  /** Every file that decides what is installed: path to text. */
  readonly files: Readonly<Record<string, string>>;
  readonly local: boolean;
}

type Plan =
  Wish | { readonly kind: 'none' } | { readonly kind: 'locked' } | Extract<Provided, { kind: 'unusable' }>;

interface Task {
  readonly need: PythonNeed;
  readonly cache: string;
  readonly means: InstallMeans;
  readonly plan: Wish;
  readonly version: string;
}

const LOCKFILES = ['poetry.lock', 'pdm.lock', 'Pipfile.lock'];

/** The nearest requirements.txt, else uv's lockfile, else the nearest pyproject.toml, upwards to the artifact's root. */
async function planPython({ work, project }: Need): Promise<Plan> {
  const read = (path: string): Promise<string | undefined> => readArtifactFile(join(work, path));
  for (let folder = posix.normalize(project); ; folder = posix.dirname(folder)) {
    const requirements = posix.join(folder, 'requirements.txt');
    const text = await read(requirements);
    if (text !== undefined) return planRequirements(requirements, text, read);
    if ((await read(posix.join(folder, 'uv.lock'))) !== undefined) return { kind: 'locked' };
    for (const name of LOCKFILES)
      if ((await read(posix.join(folder, name))) !== undefined) return onlyLocked(posix.join(folder, name));
    const manifest = posix.join(folder, 'pyproject.toml');
    const declared = await read(manifest);
    if (declared !== undefined) return planManifest(manifest, declared);
    if (folder === '.' || folder === '/') return { kind: 'none' };
  }
}

const onlyLocked = (path: string): Plan => ({
  kind: 'unusable',
  code: 'NotYetSupported',
  why: `${path}: Python dependencies are installed from requirements.txt; commit one (“poetry export” writes it), or set run.install: none`,
});

async function planRequirements(
  path: string,
  text: string,
  read: (path: string) => Promise<string | undefined>,
): Promise<Plan> {
  const files: Record<string, string> = { [path]: text };
  let local = false;
  for (const open = [path]; open.length > 0;) {
    const at = open.pop() ?? '';
    const found = readRequirements(at, files[at] ?? '');
    local ||= found.local;
    for (const { path: other, line } of found.files) {
      if (other in files) continue;
      const content = await read(other);
      if (content === undefined)
        return {
          kind: 'unusable',
          code: 'Invalid',
          why: `${at}:${line} names ${other}, which is not among the inputs`,
        };
      files[other] = content;
      open.push(other);
    }
  }
  return { kind: 'wish', folder: posix.dirname(path), arguments: ['-r', posix.basename(path)], files, local };
}

function planManifest(path: string, text: string): Plan {
  const dependencies = projectDependencies(text);
  if (dependencies === undefined)
    return { kind: 'unusable', code: 'Invalid', why: `${path}: project.dependencies cannot be read` };
  if (dependencies.length === 0) return { kind: 'none' };
  const local = dependencies.some((one) => /@\s*(file:|\.{0,2}\/)/.test(one));
  const files = { [path]: JSON.stringify(dependencies) };
  return { kind: 'wish', folder: posix.dirname(path), arguments: dependencies, files, local };
}

/** What tells one interpreter from another. */
const pythonVersion = (means: InstallMeans): Promise<string | undefined> =>
  printedBy(
    ['python3', '-c', 'import sys, sysconfig; print(sys.version, sys.base_prefix, sysconfig.get_platform())'],
    means,
  );

/** What a program prints; undefined when it is not there or fails. */
const printedBy = (
  [program, ...flags]: readonly [string, ...string[]],
  { path }: InstallMeans,
): Promise<string | undefined> =>
  promisify(execFile)(program, flags, { env: { PATH: path.join(delimiter) } }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );

/** $1: the environment; then the arguments of pip. */
const SCRIPT = `
set -e
environment=$1; shift
python3 -m venv "$environment"
exec "$environment/bin/python" -m pip install --no-input --progress-bar off "$@"
`;

const installerOf = ({ means, plan, version }: Task, environment: string): Installer => ({
  name: 'pip',
  version,
  command: ['/bin/sh', '-c', SCRIPT, 'sh', environment],
  flags: plan.arguments,
  environment: { PIP_CACHE_DIR: means.caches.pip, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
});

/** From uv's lockfile, by uv itself, which keeps what it fetched. Folders of the repository may be in it: it is the run's own. */
async function installLocked(need: PythonNeed, cache: string, means: InstallMeans): Promise<Provided> {
  const { marks, signal, work, project } = need;
  const version = await printedBy(['uv', '--version'], means);
  const why = 'uv.lock is installed by uv, which is not on the PATH of this machine';
  if (version === undefined) return { kind: 'unusable', code: 'RunFailed', why };
  const installer: Installer = {
    name: 'uv',
    version,
    command: ['uv', 'sync', '--frozen', '--no-progress'],
    flags: [],
    environment: { UV_PROJECT_ENVIRONMENT: need.environment, UV_CACHE_DIR: join(means.caches.pip, 'uv') },
  };
  const installed = await runInstaller(
    { installer, folder: join(work, project), marks, signal },
    means,
    cache,
  );
  return installed.kind === 'failed' ? installed : { kind: 'provided', installs: 1 };
}

async function installOwn(task: Task): Promise<Provided> {
  const { need, cache, means, plan } = task;
  const { marks, signal } = need;
  const installer = installerOf(task, need.environment);
  const folder = join(need.work, plan.folder);
  const installed = await runInstaller({ installer, folder, marks, signal }, means, cache);
  return installed.kind === 'failed' ? installed : { kind: 'provided', installs: 1 };
}

async function installShared(task: Task): Promise<Provided> {
  const { need, cache, means, plan, version } = task;
  const { marks, signal } = need;
  const files = Object.entries(plan.files).sort(([a], [b]) => (a < b ? -1 : 1));
  const decisive = decisiveSettings(means.environment);
  const entry = join(cache, sha256(JSON.stringify(['python', version, plan.arguments, files, decisive])));
  const filled = await fillOnce({
    entry,
    user: means.user,
    signal,
    lay: async () => undefined,
    install: async (staging) => {
      const environment = join(staging, 'venv');
      const folder = join(need.work, plan.folder);
      const installer = installerOf(task, environment);
      const installed = await runInstaller({ installer, folder, marks, signal }, means, cache);
      if (installed.kind === 'installed') await moveScripts(join(environment, 'bin'), staging, entry);
      return installed;
    },
  });
  if (filled.kind === 'failed') return filled;
  await symlink(join(entry, 'venv'), need.environment);
  return { kind: 'provided', installs: filled.installs };
}

/** Scripts name their interpreter by its full path: they get the one that it has in the cache. */
async function moveScripts(folder: string, staging: string, entry: string): Promise<void> {
  for (const found of await readdir(folder, { withFileTypes: true })) {
    if (!found.isFile()) continue;
    const path = join(folder, found.name);
    const text = await readFile(path, 'latin1');
    if (text.includes(staging)) await writeFile(path, text.replaceAll(staging, entry), 'latin1');
  }
}

/** The folder that `runtime.options.virtualenv` names leads to the environment as well. */
export async function linkNamed(folder: string, named: string, environment: string): Promise<void> {
  const path = join(folder, named);
  if (!path.startsWith(`${folder}/`)) return;
  await symlink(environment, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
  });
}
