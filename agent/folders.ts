/**
 * The agent's folder for runs. With a run user, only what runs need is within that user's reach:
 *
 *     artifacts/ successes/ holders/    the agent's alone
 *     dependencies/ guard/              readable by runs, owned by the agent
 *     plugins/ npm/ pnpm/ yarn/ pip/    caches of the tools that runs and installs start, owned by the run user
 *     runs/<runId>/private.json         the agent's alone
 *     runs/<runId>/guard.json           readable by the run, owned by the agent
 *     runs/<runId>/{marks,work,home,temp,files}   the run user's
 */
import { constants } from 'node:fs';
import {
  access,
  chmod,
  chown,
  lchown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeFolder } from './reclaim.ts';

export interface RunUser {
  readonly uid: number;
  readonly gid: number;
}

export interface Folders {
  readonly artifacts: string;
  readonly successes: string;
  readonly holders: string;
  readonly dependencies: string;
  readonly guard: string;
  readonly plugins: string;
  /** Of each package manager: what it fetched. */
  readonly npm: string;
  readonly pnpm: string;
  readonly yarn: string;
  readonly pip: string;
  readonly runs: string;
}

export interface RunFolders {
  readonly root: string;
  readonly marks: string;
  readonly work: string;
  readonly home: string;
  readonly temp: string;
  readonly files: string;
  readonly privates: string;
  readonly guard: string;
  /** A Python program's virtual environment, or a link to it. */
  readonly venv: string;
}

const PRIVATE = 0o700;
/** May be passed through, not listed. */
const PASSAGE = 0o711;
const READABLE = 0o755;

/** Where everything is under the data folder. */
export const foldersOf = (dataDir: string): Folders => ({
  artifacts: join(dataDir, 'artifacts'),
  successes: join(dataDir, 'successes'),
  holders: join(dataDir, 'holders'),
  dependencies: join(dataDir, 'dependencies'),
  guard: join(dataDir, 'guard'),
  plugins: join(dataDir, 'plugins'),
  npm: join(dataDir, 'npm'),
  pnpm: join(dataDir, 'pnpm'),
  yarn: join(dataDir, 'yarn'),
  pip: join(dataDir, 'pip'),
  runs: join(dataDir, 'runs'),
});

/** Whether a name may be one of a run: it becomes a folder. */
export const isRunId = (name: string): boolean => /^[A-Za-z0-9_-]+$/.test(name);

/** Where everything of one run is. */
export function runFoldersOf(folders: Folders, runId: string): RunFolders {
  if (!isRunId(runId)) throw new Error(`not a run id: ${JSON.stringify(runId)}`);
  const root = join(folders.runs, runId);
  const at = (name: string): string => join(root, name);
  return {
    root,
    marks: at('marks'),
    work: at('work'),
    home: at('home'),
    temp: at('temp'),
    files: at('files'),
    privates: at('private.json'),
    guard: at('guard.json'),
    venv: at('home/venv'),
  };
}

/** Makes the folders with their modes; safe to repeat. */
export async function makeFolders(dataDir: string, user: RunUser | undefined): Promise<Folders> {
  const folders = foldersOf(dataDir);
  const { artifacts, successes, holders, dependencies, guard, plugins, npm, pnpm, yarn, pip, runs } = folders;
  const outer = user === undefined ? PRIVATE : PASSAGE;
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, outer);
  for (const path of [artifacts, successes, holders]) await make(path, PRIVATE);
  await make(runs, outer);
  for (const path of [dependencies, guard]) await make(path, user === undefined ? PRIVATE : READABLE);
  for (const path of [plugins, npm, pnpm, yarn, pip]) await make(path, PRIVATE, user);
  return folders;
}

/** A run's empty folders, the agent's own until {@link handOver}; what an earlier try left is removed. */
export async function makeRunFolders(
  folders: Folders,
  runId: string,
  user: RunUser | undefined,
): Promise<RunFolders> {
  const run = runFoldersOf(folders, runId);
  await removeFolder(run.root);
  await make(run.root, user === undefined ? PRIVATE : PASSAGE);
  for (const path of [run.marks, run.work, run.home, run.temp, run.files]) await make(path, PRIVATE);
  const pulumiHome = pulumiHomeOf(run);
  await make(pulumiHome, PRIVATE);
  await symlink(folders.plugins, join(pulumiHome, 'plugins'));
  return run;
}

/** Gives a run's folders to the run user. */
export async function handOver(run: RunFolders, user: RunUser | undefined): Promise<void> {
  if (user === undefined) return;
  for (const path of [run.marks, run.work, run.home, run.temp, run.files]) await own(path, user);
}

/** Gives a folder away, itself last: until then nobody can get in and swap something under the hands of the agent. */
export async function own(folder: string, user: RunUser): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await own(path, user);
    else await lchown(path, user.uid, user.gid);
  }
  await lchown(folder, user.uid, user.gid);
}

/** Credentials, selected stack and logs of a run are its own; plugins are shared. */
export const pulumiHomeOf = (run: RunFolders): string => join(run.home, '.pulumi');

async function make(path: string, mode: number, user?: RunUser): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

/** Whether there is anything at a path that leads somewhere. */
export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Writes a file that is there as a whole or not at all, readable by the agent alone. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** Puts a file of the run user's in place of what is there; a link is replaced, not followed. */
export async function replaceFile(path: string, content: string, user: RunUser | undefined): Promise<void> {
  const temporary = `${path}.new`;
  await mkdir(dirname(path), { recursive: true });
  await rm(temporary, { force: true });
  await writeFile(temporary, content, { flag: 'wx', mode: 0o600 });
  if (user !== undefined) await lchown(temporary, user.uid, user.gid);
  await rename(temporary, path);
}

/** Whole files that are read are small ones; a program may have put anything in the place of one. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** Neither follows a link nor waits for the other end of a pipe. */
const PLAIN_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The text of a file, or undefined when there is none, or something else in its place. */
export async function readIfThere(path: string): Promise<string | undefined> {
  const file = await openIfThere(path);
  if (file === undefined) return undefined;
  try {
    return (await file.stat()).size > MAX_TEXT_BYTES ? undefined : await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Opens a file for reading; undefined when there is none, or something else in its place. */
export async function openIfThere(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, PLAIN_READ).catch(absent('ENOENT', 'ELOOP', 'ENXIO'));
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

/** The text of a file of an artifact, before any program could change it: its links are checked, and followed. */
export const readArtifactFile = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(absent('ENOENT', 'EISDIR', 'ENOTDIR'));

const absent =
  (...codes: readonly string[]) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
