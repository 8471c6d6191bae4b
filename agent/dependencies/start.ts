/** Starts package managers. The program's own wishes hold: whether scripts of packages run is for its settings to say. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { limits } from '../../shared/limits.ts';
import { isThere, own } from '../folders.ts';
import { removeFolder } from '../reclaim.ts';
import { endMarked } from '../runner/processes.ts';
import type { Installer, InstallMeans } from './choose.ts';

export type Installed = { readonly kind: 'installed' } | { readonly kind: 'failed'; readonly output: string };

/** One call of a manager. */
export interface InstallCall {
  readonly installer: Installer;
  readonly folder: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Tells the processes of an install from all others of its run. */
const MARK = { TOWLINE_STEP: 'install' };

/**
 * Runs it in a folder, with a home of its own below `homes`. Everything it started is gone when this settles, also after
 * an abort.
 */
export async function runInstaller(
  call: InstallCall,
  means: InstallMeans,
  homes: string,
): Promise<Installed> {
  const { installer, marks } = call;
  const home = await makeHome(homes, means);
  try {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(limits.installTimeoutMs)]);
    const { code, output } = await started(call, { ...means, home, signal });
    await endMarked({ environment: { ...marks, ...MARK } });
    call.signal.throwIfAborted();
    if (code === 0) return { kind: 'installed' };
    return { kind: 'failed', output: signal.aborted ? `${installer.name} took too long\n${output}` : output };
  } finally {
    await removeFolder(home, means.user);
  }
}

interface Surroundings extends InstallMeans {
  readonly home: string;
  readonly signal: AbortSignal;
}

async function started(
  { installer, folder, marks }: InstallCall,
  { environment, path, home, signal, user }: Surroundings,
): Promise<{ readonly code: number | undefined; readonly output: string }> {
  const [command, ...more] = installer.command;
  const child = spawn(command, [...more, ...installer.flags], {
    cwd: folder,
    env: {
      CI: 'true',
      ...environment,
      PATH: path.join(delimiter),
      HOME: home,
      ...installer.environment,
      ...marks,
      ...MARK,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGTERM',
    ...user,
  });
  let output = '';
  const take = (text: string): void => void (output = lastLines(output + text));
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  return { code: await exitOf(child), output };
}

/** Where managers look for what no variable says. */
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml'];

/** An empty home, but for links to the agent's own settings: the run user reads of them what it may read. */
async function makeHome(homes: string, { home, user }: InstallMeans): Promise<string> {
  const made = await mkdtemp(join(homes, 'home.'));
  await chmod(made, 0o700);
  for (const name of home === undefined ? [] : SETTINGS) {
    const target = join(home ?? '', name);
    if (await isThere(target)) await symlink(target, join(made, name));
  }
  if (user !== undefined) await own(made, user);
  return made;
}

/** The newest whole lines: of one that was cut, a secret in it could not be told any more. */
const lastLines = (text: string): string =>
  text.length <= limits.lineBytes ? text : text.slice(-limits.lineBytes).replace(/^[^\n]*\n?/, '');

async function exitOf(child: ReturnType<typeof spawn>): Promise<number | undefined> {
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? undefined;
  } catch {
    return undefined;
  }
}
