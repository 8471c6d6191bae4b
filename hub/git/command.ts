/** Runs git with an environment in which no setting of the machine, the person or a remote decides anything. */
import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { identityOf } from '../../shared/process.ts';

export interface GitProgram {
  /** Path or name of the program. */
  readonly program: string;
  /** Environment of the process that hosts this; only what {@link PASSED_ON} names reaches git. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Where programs are, how the network is reached, and the ssh agent. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
];

/** Settings for git itself, by environment: nothing of them shows in a list of processes. */
export type GitConfig = Readonly<Record<string, string>>;

/** HOME stays for programs that git starts; git reads nothing of it. */
export function gitEnvironment(git: GitProgram, config: GitConfig = {}): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = git.environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const settings = Object.entries({ 'core.hooksPath': '/dev/null', 'core.quotePath': 'false', ...config });
  return {
    ...Object.fromEntries(passed),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    // Whoever may use ssh says so with a command that names the keys of hosts.
    GIT_SSH_COMMAND: 'false',
    // Replacement objects and lazy fetches would give a commit another content than its id says.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], n) => [
        [`GIT_CONFIG_KEY_${n}`, key],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ),
  };
}

/** Naming the folder outright keeps git from looking for one, and so from judging who owns it. */
export const repositoryEnvironment = (git: GitProgram, gitDir: string): Record<string, string> => ({
  ...gitEnvironment(git, { 'safe.directory': gitDir }),
  GIT_DIR: gitDir,
});

export interface GitCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** It is stopped when it said nothing for so long. Default: never. */
  readonly silenceMs?: number;
  /** Bytes of output; more is a failure, never a shorter output. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** What it reads; absent: nothing. */
  readonly input?: string;
  /** Looked at while it works; a text is why it has to stop. */
  readonly watch?: () => Promise<string | undefined>;
  /** File that names the process while it works, so that whoever comes after a crash can end it. */
  readonly record?: string;
}

/** `interrupted`: stopped by a limit or the signal, or never started. `overLimit`: stopped by what watches it. */
export type GitEnd =
  | { readonly kind: 'done'; readonly stdout: Buffer }
  | {
      readonly kind: 'failed';
      readonly stderr: string;
      readonly interrupted: boolean;
      readonly overLimit?: string;
    };

/** Bytes of what git writes to standard error that are kept, the newest. */
const STDERR_BYTES = 64 * 1024;
/** How often a command that works is looked at. */
const WATCH_MS = 500;

/** Runs one command to its end, with all the processes that it starts. */
export function runGit(git: GitProgram, command: GitCommand): Promise<GitEnd> {
  const { args, env, maxBytes, record, input = '' } = command;
  const child = spawn(git.program, [...args], { env: { ...env }, detached: true, stdio: 'pipe' });
  // whoever ends without reading it has said why
  child.stdin.on('error', () => undefined).end(input);
  if (record !== undefined && child.pid !== undefined)
    writeFileSync(record, JSON.stringify(identityOf(child.pid) ?? {}));
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = '';
  const keeper = keepInLimits(child, command);
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) keeper.stop(`it answered with more than ${maxBytes} bytes`);
    else chunks.push(chunk);
    keeper.saw();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-STDERR_BYTES);
    keeper.saw();
  });
  return new Promise((resolve) => {
    let broken: string | undefined;
    child.once('error', (error) => (broken = error.message));
    child.once('close', (code) => {
      const { stopped, overLimit } = keeper.end();
      if (record !== undefined) rmSync(record, { force: true });
      if (code === 0 && stopped === undefined)
        return resolve({ kind: 'done', stdout: Buffer.concat(chunks) });
      const why = stopped ?? broken ?? (code === null ? 'it was killed' : undefined);
      const text = why === undefined ? stderr : `fatal: git ${args[0] ?? ''}: ${why}\n${stderr}`;
      const over = overLimit && stopped !== undefined ? { overLimit: stopped } : {};
      resolve({ kind: 'failed', stderr: text, interrupted: why !== undefined, ...over });
    });
  });
}

interface Keeper {
  /** It said something. */
  saw(): void;
  stop(why: string): void;
  end(): { readonly stopped: string | undefined; readonly overLimit: boolean };
}

/** How long processes have to clean up behind themselves before they are killed. */
const CLEANUP_MS = 2_000;

function keepInLimits(child: ChildProcess, command: GitCommand): Keeper {
  const { timeoutMs, silenceMs, signal, watch } = command;
  let stopped: string | undefined;
  let overLimit = false;
  let kill: NodeJS.Timeout | undefined;
  const stop = (why: string): void => {
    stopped ??= why;
    endGroup(child, 'SIGTERM');
    kill ??= setTimeout(() => endGroup(child, 'SIGKILL'), CLEANUP_MS);
  };
  const onAbort = (): void => stop('the hub stops');
  const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
  const late = setTimeout(() => stop(`it was stopped after ${seconds(timeoutMs)}`), timeoutMs);
  const silence =
    silenceMs === undefined
      ? undefined
      : setTimeout(() => stop(`it was stopped after ${seconds(silenceMs)} of silence`), silenceMs);
  const look = async (): Promise<void> => {
    const why = await watch?.();
    if (why === undefined || stopped !== undefined) return;
    overLimit = true;
    stop(why);
  };
  const watching = watch === undefined ? undefined : setInterval(() => void look(), WATCH_MS);
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted === true) onAbort();
  return {
    saw: () => void silence?.refresh(),
    stop,
    end() {
      for (const timer of [late, silence, watching, kill]) clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      return { stopped, overLimit };
    },
  };
}

/** The program has processes of its own, which would hold its output open. */
function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}
