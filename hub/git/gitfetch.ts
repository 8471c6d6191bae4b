/** The commands by which the git program brings commits into a mirror. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { limits } from '../../shared/limits.ts';
import type { Login } from './access.ts';
import { gitEnvironment, runGit, type GitConfig, type GitEnd, type GitProgram } from './command.ts';
import type { Tip } from './driver.ts';
import { failed, fetchFailure, type Failure } from './failure.ts';
import { overQuota, recordOf, type Quota } from './folder.ts';
import type { Remote } from './remote.ts';

/** The ref of a mirror that holds what was fetched last. Set by git only after all of it is on disk. */
export const HEAD_REF = 'refs/towline/head';
/** What was in force before: a pass may still read it. */
export const PREVIOUS_REF = 'refs/towline/previous';

/** Patience with a remote. */
export interface Patience {
  /** One fetch in all, ms. */
  readonly totalMs: number;
  /** Silence, or fewer than {@link limits.fetchSlowBytes} bytes over HTTP in so long, ms. */
  readonly stallMs: number;
}

/** As the limits say. */
export const PATIENCE: Patience = { totalMs: limits.fetchTimeoutMs, stallMs: limits.fetchStallMs };

/** Each fetch leaves one synced pack before its ref moves, so a power cut cannot leave a ref without its objects. */
const MIRROR_CONFIG: GitConfig = {
  'fetch.unpackLimit': '1',
  'core.fsync': 'pack,pack-metadata,reference',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'gc.pruneExpire': 'now',
  'gc.writeCommitGraph': 'false',
  'pack.threads': '1',
};

/** Runs git on a folder; with a login also for what reaches the remote. */
export type Command = (gitDir: string, args: readonly string[], login?: Login) => Promise<GitEnd>;

export interface CommandOptions {
  readonly git: GitProgram;
  readonly remote: Exclude<Remote, { readonly kind: 'local' }>;
  /** Of the mirror. */
  readonly folder: string;
  readonly quota: Quota;
  readonly patience: Patience;
  readonly signal: AbortSignal;
}

/** One command at a time may work in a mirror. */
export const commandOf =
  ({ git, remote, folder, quota, patience, signal }: CommandOptions): Command =>
  (gitDir, args, login) =>
    runGit(git, {
      args,
      env: {
        ...gitEnvironment(git, login === undefined ? MIRROR_CONFIG : configOf(remote, login, patience)),
        ...(login === undefined ? {} : { ...protocolsOf(remote), ...login.environment }),
        GIT_DIR: gitDir,
      },
      signal,
      maxBytes: limits.gitOutputBytes,
      record: recordOf(folder),
      ...(login === undefined
        ? { timeoutMs: limits.gitTimeoutMs }
        : {
            timeoutMs: patience.totalMs,
            silenceMs: patience.stallMs,
            watch: () => overQuota(gitDir, quota, dirname(folder)),
          }),
    });

/**
 * Credentials go by environment. Where a server redirects, git would send the header along to whatever host that is, so
 * with credentials it follows none.
 */
function configOf(remote: CommandOptions['remote'], { authorization }: Login, patience: Patience): GitConfig {
  const seconds = Math.max(1, Math.round(patience.stallMs / 1_000));
  const config = {
    ...MIRROR_CONFIG,
    'http.lowSpeedTime': String(seconds),
    'http.lowSpeedLimit': String(Math.ceil(limits.fetchSlowBytes / seconds)),
  };
  if (authorization === undefined) return config;
  return {
    ...config,
    [`http.${new URL(remote.url).origin}/.extraHeader`]: `Authorization: ${authorization}`,
    'http.followRedirects': 'false',
  };
}

/** What a redirect may lead to. */
const protocolsOf = (remote: CommandOptions['remote']): Record<string, string> => ({
  GIT_ALLOW_PROTOCOL:
    remote.kind === 'ssh' ? 'ssh' : remote.url.startsWith('https:') ? 'https' : 'http:https',
});

/** One fetch of a remote. */
export interface Fetch {
  readonly command: Command;
  readonly url: string;
  /** A ref, or the id of a commit. */
  readonly ref: string;
  readonly login: Login;
  /** The ref of the mirror that moves. */
  readonly into?: string;
  /** More flags. Default: one commit. */
  readonly flags?: readonly string[];
}

/** Progress is what tells a server that works from a silent one. */
const FETCH_FLAGS = [
  '--progress',
  '--force',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
];

/** Brings the newest commit of a ref into a folder that is a repository. */
export async function fetchInto(gitDir: string, fetch: Fetch): Promise<Tip | Failure> {
  const { command, url, ref, login, into = HEAD_REF, flags = ['--depth=1'] } = fetch;
  const args = ['fetch', ...FETCH_FLAGS, ...flags, '--', url, `+${ref}:${into}`];
  const end = await command(gitDir, args, login);
  if (end.kind === 'failed') return refusalOf(end, login);
  const read = await command(gitDir, ['rev-parse', '--verify', into]);
  return read.kind === 'done'
    ? { kind: 'tip', id: read.stdout.toString('latin1').trim() }
    : failed('Corrupt', read.stderr);
}

function refusalOf(end: GitEnd & { readonly kind: 'failed' }, { authorization }: Login): Failure {
  if (end.overLimit !== undefined) return failed('QuotaExceeded', end.overLimit);
  if (end.interrupted) return failed('Unreachable', end.stderr);
  if (authorization === undefined || !/returned error: 30\d/.test(end.stderr))
    return fetchFailure(end.stderr);
  return failed(
    'Unreachable',
    'the server redirects to another address, to which credentials do not go: correct the url',
  );
}

/** Makes a folder a repository without anything in it, and fetches into it. */
export async function cloneInto(fresh: string, fetch: Fetch): Promise<Tip | Failure> {
  await rm(fresh, { recursive: true, force: true });
  const init = await fetch.command(fresh, ['init', '--quiet', '--bare', '--template=', fresh]);
  return init.kind === 'done'
    ? fetchInto(fresh, fetch)
    : failed('Unreachable', `making a mirror: ${init.stderr}`);
}
