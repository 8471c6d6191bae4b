/**
 * The driver for remotes: native git, and a bare mirror of depth 1 in the hub's data folder. The mirror is a cache: it is
 * thrown away and made again as soon as anything about it is in doubt.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { limits } from '../../shared/limits.ts';
import type { Access } from './access.ts';
import { repositoryEnvironment, type GitProgram } from './command.ts';
import { descendsHere, descendsThere } from './descent.ts';
import type { Descent, FetchOptions, GitDriver, Opened, Tip } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import {
  diskTooFull,
  endLeftProcess,
  freshOf,
  overQuota,
  packsOf,
  QUOTA,
  replaceFolder,
  tidyFolder,
  type Quota,
} from './folder.ts';
import {
  cloneInto,
  commandOf,
  fetchInto,
  PATIENCE,
  PREVIOUS_REF,
  type Command,
  type Fetch,
  type Patience,
} from './gitfetch.ts';
import { makeObjectReader } from './objects.ts';
import type { Remote } from './remote.ts';
import { makeGitRepository, readsOn, type GitRepository } from './repository.ts';

export interface MirrorOptions {
  readonly git: GitProgram;
  readonly name: string;
  readonly remote: Exclude<Remote, { readonly kind: 'local' }>;
  readonly access: Access;
  /** Folder of the mirror; its neighbours `*.new`, `*.old`, `*.past` and `*.process` are used as well. */
  readonly folder: string;
  /** Packs, one a fetch, before they are made one. */
  readonly packs?: number;
  readonly quota?: Quota;
  readonly patience?: Patience;
}

/** A commit that is not the newest one is kept by this ref until the next one of its kind. */
const OLDER_REF = 'refs/towline/older';

/** Commits that are looked through for an ancestor: how many pushes are between two polls, and how many at most. */
const NEAR = [50];
const FAR = [50, 1_000];

/** A mirror with what it knows of itself. */
interface Mirror extends MirrorOptions {
  readonly quota: Quota;
  readonly command: Command;
  readonly openFolder: () => GitRepository;
  repository: GitRepository;
  upkeep: Promise<void>;
  /** What was fetched last. */
  head: string | undefined;
}

/** Ends and cleans what a killed process left, then answers with the driver. */
export async function makeMirror(options: MirrorOptions): Promise<GitDriver> {
  const { git, name, remote, folder, quota = QUOTA, patience = PATIENCE } = options;
  const stop = new AbortController();
  const command = commandOf({ git, remote, folder, quota, patience, signal: stop.signal });
  const env = repositoryEnvironment(git, folder);
  const openFolder = (): GitRepository =>
    makeGitRepository({ name, objects: makeObjectReader({ git, env }) });
  await mkdir(dirname(folder), { recursive: true });
  await endLeftProcess(folder);
  await tidyFolder(folder);
  const upkeep = Promise.resolve();
  const mirror: Mirror = {
    ...{ ...options, quota, command, openFolder, repository: openFolder(), upkeep, head: undefined },
  };
  const current = (): GitRepository => mirror.repository;
  return {
    fetch: (ref, wish) => fetchTip(mirror, ref, wish),
    open: async (id, ref) => readsOn(await mirror.repository.open(id, ref), current),
    older: async (id, ref) => readsOn(await openOlder(mirror, id, ref), current),
    descends: (from, to, { thorough }) => descent(mirror, { from, to, depths: thorough ? FAR : NEAR }),
    damaged: () => mirror.repository.damaged(),
    async close() {
      stop.abort();
      await mirror.upkeep;
      await mirror.repository.close();
    },
  };
}

async function fetchTip(mirror: Mirror, ref: string, wish: FetchOptions): Promise<Tip | Failure> {
  const { access, command, folder, quota, remote, packs = limits.mirrorPacks } = mirror;
  const { anew, url = remote.url, keep } = wish;
  await mirror.upkeep;
  const full = await diskTooFull(dirname(folder), quota);
  if (full !== undefined) return failed('QuotaExceeded', full);
  const login = await access.login();
  if (login.kind === 'failed') return login;
  const previous = keep ?? mirror.head;
  const fetch = { command, url, ref, login };
  const tip = anew || !existsSync(folder) ? await clone(mirror, fetch) : await update(mirror, fetch);
  if (tip.kind === 'failed') return tip;
  mirror.head = tip.id;
  mirror.upkeep = keepSmall({ folder, previous, command, packs });
  return tip;
}

async function clone(mirror: Mirror, fetch: Fetch): Promise<Tip | Failure> {
  const { folder } = mirror;
  const fresh = freshOf(folder);
  const tip = await withinQuota(mirror, fresh, await cloneInto(fresh, fetch));
  if (tip.kind === 'failed') {
    await tidyFolder(folder);
    return tip;
  }
  await mirror.repository.close();
  await replaceFolder(folder);
  mirror.repository = mirror.openFolder();
  return tip;
}

/** What a stopped command left is cleaned; what does not fit beside the past is brought without it. */
async function update(mirror: Mirror, fetch: Fetch): Promise<Tip | Failure> {
  const tip = await withinQuota(mirror, mirror.folder, await fetchInto(mirror.folder, fetch));
  if (tip.kind === 'tip') return tip;
  await tidyFolder(mirror.folder);
  return tip.final === true ? clone(mirror, fetch) : tip;
}

/** A small fetch is over before anybody looks. `final`: there is room on the disk, but not for this. */
async function withinQuota(mirror: Mirror, folder: string, tip: Tip | Failure): Promise<Tip | Failure> {
  const { quota } = mirror;
  if (tip.kind === 'failed' && tip.state !== 'QuotaExceeded') return tip;
  if ((await diskTooFull(dirname(folder), quota)) !== undefined) return tip;
  if (tip.kind === 'failed') return { ...tip, final: true };
  const over = await overQuota(folder, quota, dirname(folder));
  return over === undefined ? tip : { ...failed('QuotaExceeded', over), final: true };
}

async function openOlder(mirror: Mirror, id: string, ref: string): Promise<Opened | Failure> {
  const { access, command, folder, remote } = mirror;
  const here = await mirror.repository.open(id, ref, { beside: true });
  if (here.kind === 'opened' || here.state === 'Refused' || !existsSync(folder)) return here;
  await mirror.upkeep;
  const login = await access.login();
  if (login.kind === 'failed') return login;
  const tip = await fetchInto(folder, { command, url: remote.url, ref: id, login, into: OLDER_REF });
  return tip.kind === 'failed' ? tip : mirror.repository.open(id, ref, { beside: true });
}

interface Descending {
  readonly from: string;
  readonly to: string;
  readonly depths: readonly number[];
}

async function descent(mirror: Mirror, { from, to, depths }: Descending): Promise<Descent> {
  const { access, command, folder, remote } = mirror;
  const here = await descendsHere(mirror.repository, { from, to, complete: false });
  if (here !== 'unknown') return here;
  await mirror.upkeep;
  const login = await access.login();
  if (login.kind === 'failed') return 'unknown';
  return descendsThere({ from, to, folder, fetch: { command, url: remote.url, login }, depths });
}

interface Upkeep {
  readonly folder: string;
  readonly previous: string | undefined;
  readonly command: Command;
  readonly packs: number;
}

/** Makes one pack of many, keeping what is in force and what was fetched last. A failure of it harms nothing. */
async function keepSmall({ folder, previous, command, packs }: Upkeep): Promise<void> {
  if ((await packsOf(folder)).count < packs) return;
  if (previous !== undefined) await command(folder, ['update-ref', PREVIOUS_REF, previous]);
  await command(folder, ['gc', '--quiet', '--prune=now']);
}
