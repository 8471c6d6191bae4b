/** Runs git with an environment in which no setting of the machine, the person or a remote decides anything. */
import { execFile } from 'node:child_process';

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
  /** Bytes of output; more is a failure, never a shorter output. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export type GitEnd =
  | { readonly kind: 'done'; readonly stdout: Buffer }
  | { readonly kind: 'failed'; readonly stderr: string; readonly interrupted: boolean };

/** Runs one command to its end. `interrupted`: by the time limit, the signal, or because git could not be started. */
export function runGit(git: GitProgram, command: GitCommand): Promise<GitEnd> {
  const { args, env, timeoutMs, maxBytes, signal } = command;
  const options = {
    env: { ...env },
    encoding: 'buffer' as const,
    maxBuffer: maxBytes,
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  };
  return new Promise((resolve) => {
    execFile(git.program, [...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve({ kind: 'done', stdout });
      const text = stderr.toString('utf8');
      const exited = typeof error.code === 'number';
      const why =
        error.killed === true ? `git ${args[0] ?? ''} was stopped after ${timeoutMs} ms` : error.message;
      resolve({ kind: 'failed', stderr: exited ? text : `fatal: ${why}\n${text}`, interrupted: !exited });
    });
  });
}
