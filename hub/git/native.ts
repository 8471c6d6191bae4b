/**
 * The driver for remotes: native git, and a bare mirror of depth 1 in the hub's data folder. The mirror is a cache: it is
 * thrown away and made again as soon as anything about it is in doubt.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { limits } from '../../shared/limits.ts';
import type { Access, Login } from './access.ts';
import {
  gitEnvironment,
  repositoryEnvironment,
  runGit,
  type GitConfig,
  type GitEnd,
  type GitProgram,
} from './command.ts';
import type { FetchOptions, GitDriver, Tip } from './driver.ts';
import { failed, fetchFailure, type Failure } from './failure.ts';
import { freshOf, packsOf, replaceFolder, tidyFolder } from './folder.ts';
import { makeObjectReader } from './objects.ts';
import type { Remote } from './remote.ts';
import { makeGitRepository, type GitRepository } from './repository.ts';

export interface MirrorOptions {
  readonly git: GitProgram;
  readonly name: string;
  readonly remote: Exclude<Remote, { readonly kind: 'local' }>;
  readonly access: Access;
  /** Folder of the mirror; its neighbours `*.new` and `*.old` are used as well. */
  readonly folder: string;
  /** Packs, one a fetch, before they are made one. */
  readonly packs?: number;
}

/** The ref of a mirror that holds what was fetched last. Set by git only after all of it is on disk. */
const HEAD_REF = 'refs/towline/head';
/** What was fetched before: a pass may still read it. */
const PREVIOUS_REF = 'refs/towline/previous';

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
type Command = (gitDir: string, args: readonly string[], login?: Login) => Promise<GitEnd>;

/** Cleans what a killed process left, then answers with the driver. */
export async function makeMirror(options: MirrorOptions): Promise<GitDriver> {
  const { git, name, remote, access, folder, packs = limits.mirrorPacks } = options;
  const stop = new AbortController();
  const command = commandOf(options, stop.signal);
  const openFolder = (): GitRepository =>
    makeGitRepository({
      name,
      objects: makeObjectReader({ git, env: repositoryEnvironment(git, folder) }),
    });
  await mkdir(dirname(folder), { recursive: true });
  await tidyFolder(folder);
  let repository = openFolder();
  let upkeep: Promise<void> = Promise.resolve();
  let head: string | undefined;

  const clone = async (fetch: Fetch): Promise<Tip | Failure> => {
    const fresh = freshOf(folder);
    const tip = await cloneInto(fresh, fetch);
    if (tip.kind === 'failed') return tip;
    await repository.close();
    await replaceFolder(folder);
    repository = openFolder();
    return tip;
  };
  return {
    async fetch(ref, { anew, url = remote.url }: FetchOptions) {
      await upkeep;
      const login = await access.login();
      if (login.kind === 'failed') return login;
      const previous = head;
      const fetch = { command, url, ref, login };
      const whole = anew || !existsSync(folder);
      const tip = whole ? await clone(fetch) : await fetchInto(folder, fetch);
      if (tip.kind === 'failed') return tip;
      head = tip.id;
      upkeep = keepSmall({ folder, previous, command, packs });
      return tip;
    },
    async open(id, ref) {
      const opened = await repository.open(id, ref);
      if (opened.kind === 'failed') return opened;
      // Whoever keeps the tree reads on after the mirror was made anew.
      const commit = opened.tree.commit.id;
      return { ...opened, tree: { ...opened.tree, blob: (blobId) => repository.blob(commit, blobId) } };
    },
    damaged: () => repository.damaged(),
    async close() {
      stop.abort();
      await upkeep;
      await repository.close();
    },
  };
}

const commandOf =
  ({ git, remote }: MirrorOptions, signal: AbortSignal): Command =>
  (gitDir, args, login) =>
    runGit(git, {
      args,
      env: {
        ...gitEnvironment(git, login === undefined ? MIRROR_CONFIG : configOf(remote, login)),
        ...(login === undefined ? {} : { ...protocolsOf(remote), ...login.environment }),
        GIT_DIR: gitDir,
      },
      signal,
      timeoutMs: limits.gitTimeoutMs,
      maxBytes: limits.gitOutputBytes,
    });

/**
 * Credentials go by environment. Where a server redirects, git would send the header along to whatever host that is, so
 * with credentials it follows none.
 */
const configOf = (remote: MirrorOptions['remote'], { authorization }: Login): GitConfig =>
  authorization === undefined
    ? MIRROR_CONFIG
    : {
        ...MIRROR_CONFIG,
        [`http.${new URL(remote.url).origin}/.extraHeader`]: `Authorization: ${authorization}`,
        'http.followRedirects': 'false',
      };

/** What a redirect may lead to. */
const protocolsOf = (remote: MirrorOptions['remote']): Record<string, string> => ({
  GIT_ALLOW_PROTOCOL:
    remote.kind === 'ssh' ? 'ssh' : remote.url.startsWith('https:') ? 'https' : 'http:https',
});

interface Fetch {
  readonly command: Command;
  readonly url: string;
  readonly ref: string;
  readonly login: Login;
}

const FETCH_FLAGS = [
  '--quiet',
  '--force',
  '--depth=1',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
];

async function fetchInto(gitDir: string, { command, url, ref, login }: Fetch): Promise<Tip | Failure> {
  const args = ['fetch', ...FETCH_FLAGS, '--', url, `+${ref}:${HEAD_REF}`];
  const end = await command(gitDir, args, login);
  if (end.kind === 'failed')
    return end.interrupted ? failed('Unreachable', end.stderr) : fetchRefusal(end.stderr, login);
  const read = await command(gitDir, ['rev-parse', '--verify', HEAD_REF]);
  return read.kind === 'done'
    ? { kind: 'tip', id: read.stdout.toString('latin1').trim() }
    : failed('Corrupt', read.stderr);
}

const fetchRefusal = (stderr: string, { authorization }: Login): Failure =>
  authorization !== undefined && /returned error: 30\d/.test(stderr)
    ? failed(
        'Unreachable',
        'the server redirects to another address, to which credentials do not go: correct the url',
      )
    : fetchFailure(stderr);

async function cloneInto(fresh: string, options: Fetch): Promise<Tip | Failure> {
  await rm(fresh, { recursive: true, force: true });
  const init = await options.command(fresh, ['init', '--quiet', '--bare', '--template=', fresh]);
  return init.kind === 'done'
    ? fetchInto(fresh, options)
    : failed('Unreachable', `making a mirror: ${init.stderr}`);
}

interface Upkeep {
  readonly folder: string;
  readonly previous: string | undefined;
  readonly command: Command;
  readonly packs: number;
}

/** Makes one pack of many, keeping what the last two fetches brought. A failure of it harms nothing. */
async function keepSmall({ folder, previous, command, packs }: Upkeep): Promise<void> {
  if ((await packsOf(folder)).count < packs) return;
  if (previous !== undefined) await command(folder, ['update-ref', PREVIOUS_REF, previous]);
  await command(folder, ['gc', '--quiet', '--prune=now']);
}
