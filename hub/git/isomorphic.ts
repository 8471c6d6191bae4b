/**
 * The driver for HTTP remotes where there is no git program: a mirror of packs in the hub's data folder, written and read
 * in a thread with the help of isomorphic-git. It begins with one commit; later fetches bring all commits since. Packs
 * cannot be made one here: after many of them, and after history was rewritten, the mirror is made anew.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { limits } from '../../shared/limits.ts';
import type { Access, Login } from './access.ts';
import type { Obtain, Obtained } from './calls.ts';
import type { GitProgram } from './command.ts';
import { descendsHere } from './descent.ts';
import type { FetchOptions, GitDriver, Opened, Tip } from './driver.ts';
import { failed, refused, type Failure } from './failure.ts';
import { diskTooFull, freshOf, packsOf, QUOTA, replaceFolder, tidyFolder, type Quota } from './folder.ts';
import { PATIENCE, type Patience } from './gitfetch.ts';
import type { Remote } from './remote.ts';
import { makeGitRepository, readsOn, type GitRepository } from './repository.ts';
import { makeThread, type Ended, type GitThread, type ThreadOptions } from './thread.ts';
import { threadReader } from './threadreader.ts';
import { makeTipReader } from './tips.ts';

export interface IsomorphicOptions {
  readonly git: GitProgram;
  readonly name: string;
  readonly remote: Extract<Remote, { readonly kind: 'http' }>;
  readonly access: Access;
  /** Folder of the mirror; its neighbours `*.new` and `*.old` are used as well. */
  readonly folder: string;
  /** Packs, one a fetch, before the mirror is made anew. */
  readonly packs?: number;
  /** Bytes of a pack that begins a mirror. */
  readonly maxBytes?: number;
  readonly quota?: Quota;
  readonly patience?: Patience;
  readonly thread?: ThreadOptions;
}

/** What a mirror knows of itself: the commit that it holds as a whole, and where history is cut off. */
interface Standing {
  readonly head: string;
  readonly shallow: readonly string[];
}

/** A mirror with what it knows of itself. */
interface Mirror extends IsomorphicOptions {
  readonly threads: GitThread;
  readonly openFolder: () => GitRepository;
  repository: GitRepository;
  /** From the first commit to the second one, everything between them was brought. */
  brought: { readonly from: string; readonly to: string } | undefined;
  /** History was rewritten: what is here is of no use for the next fetch. */
  rewritten: boolean;
}

/** Cleans what a killed process left, then answers with the driver. */
export async function makeIsomorphic(options: IsomorphicOptions): Promise<GitDriver> {
  const { name, folder } = options;
  const threads = makeThread(options.thread);
  const openFolder = (): GitRepository => makeGitRepository({ name, objects: threadReader(threads, folder) });
  await mkdir(dirname(folder), { recursive: true });
  await tidyFolder(folder);
  const mirror: Mirror = {
    ...{ ...options, threads, openFolder, repository: openFolder(), brought: undefined, rewritten: false },
  };
  const current = (): GitRepository => mirror.repository;
  return {
    fetch: (ref, wish) => fetchTip(mirror, ref, wish),
    open: async (id, ref) => readsOn(await mirror.repository.open(id, ref), current),
    older: async (id, ref) => readsOn(await openOlder(mirror, id, ref), current),
    async descends(from, to) {
      const complete = mirror.brought?.from === from && mirror.brought.to === to;
      const descent = await descendsHere(mirror.repository, { from, to, complete });
      mirror.rewritten ||= descent === 'no';
      return descent;
    },
    damaged: () => mirror.repository.damaged(),
    async close() {
      await mirror.repository.close();
      await threads.close();
    },
  };
}

async function fetchTip(mirror: Mirror, ref: string, wish: FetchOptions): Promise<Tip | Failure> {
  const { access, folder, remote, quota = QUOTA } = mirror;
  const { anew, url = remote.url } = wish;
  const full = await diskTooFull(dirname(folder), quota);
  if (full !== undefined) return failed('QuotaExceeded', full);
  const login = await access.login();
  if (login.kind === 'failed') return login;
  const found = await tipOf(mirror, ref);
  if (found.kind === 'failed') return found;
  const tip = { url, ...found };
  const known = anew ? undefined : await standing(mirror);
  return known === undefined ? clone(mirror, tip, login) : update(mirror, known, { tip, login });
}

/** Only what is asked for is trusted: the record of what is here may be older than the disk. */
async function standing(mirror: Mirror): Promise<Standing | undefined> {
  const { folder, packs = limits.mirrorPacks, quota = QUOTA } = mirror;
  const known = await readStanding(folder);
  const { count, bytes } = await packsOf(folder);
  if (known === undefined || mirror.rewritten || count >= packs || bytes > quota.mirrorBytes)
    return undefined;
  const found = await mirror.repository.commit(known.head);
  return found.kind === 'commit' ? known : undefined;
}

async function clone(mirror: Mirror, tip: Tip, login: Login): Promise<Tip | Failure> {
  const { folder, threads } = mirror;
  await tidyFolder(folder);
  const failure = await bring(freshOf(folder), mirror, { login, tip, known: undefined });
  if (failure !== undefined) {
    await tidyFolder(folder);
    return failure;
  }
  await mirror.repository.close();
  await threads.restart();
  await replaceFolder(folder);
  mirror.repository = mirror.openFolder();
  mirror.rewritten = false;
  return tip;
}

async function update(
  mirror: Mirror,
  known: Standing,
  { tip, login }: { readonly tip: Tip; readonly login: Login },
): Promise<Tip | Failure> {
  if (known.head === tip.id) return tip;
  const failure = await bring(mirror.folder, mirror, { login, tip, known });
  if (failure?.state === 'QuotaExceeded') return clone(mirror, tip, login);
  if (failure !== undefined) {
    await tidyFolder(mirror.folder);
    return failure;
  }
  mirror.brought = { from: known.head, to: tip.id };
  return tip;
}

async function openOlder(mirror: Mirror, id: string, ref: string): Promise<Opened | Failure> {
  const { access, folder, threads, patience = PATIENCE } = mirror;
  const here = await mirror.repository.open(id, ref, { beside: true });
  if (here.kind === 'opened' || here.state === 'Refused') return here;
  const login = await access.login();
  if (login.kind === 'failed') return login;
  const call = obtainOf(folder, mirror, { login, tip: { kind: 'tip', id }, known: undefined });
  const failure = failureIn(await threads.ask(call, patience.totalMs));
  return failure ?? mirror.repository.open(id, ref, { beside: true });
}

async function tipOf({ git, remote, access }: IsomorphicOptions, ref: string): Promise<Tip | Failure> {
  const reader = makeTipReader({ git, remote, access, ref });
  const tip = await reader.tip().finally(() => reader.close());
  if (tip.kind === 'failed' || tip.id.length === 40) return tip;
  return refused('its ids are SHA-256, which only the git program reads; make git available to the hub');
}

interface Bringing {
  readonly login: Login;
  readonly tip: Tip;
  /** Undefined: nothing is there yet, and one commit is enough. */
  readonly known: Standing | undefined;
}

/** Brings a commit into a folder; the record of it moves last. */
async function bring(gitDir: string, mirror: Mirror, bringing: Bringing): Promise<Failure | undefined> {
  const { threads, patience = PATIENCE } = mirror;
  const { tip, known } = bringing;
  await mkdir(gitDir, { recursive: true });
  const obtained = await threads.ask(obtainOf(gitDir, mirror, bringing), patience.totalMs);
  const failure = failureIn(obtained);
  if (failure !== undefined || obtained.kind !== 'obtained') return failure;
  await writeStanding(gitDir, { head: tip.id, shallow: known?.shallow ?? obtained.shallow });
  return undefined;
}

function obtainOf(gitDir: string, mirror: Mirror, { login, tip, known }: Bringing): Obtain {
  const { remote, patience = PATIENCE, quota = QUOTA } = mirror;
  const maxBytes = Math.min(mirror.maxBytes ?? limits.gitPackBytes, quota.mirrorBytes);
  const { authorization } = login;
  return {
    ...{ op: 'obtain', gitDir, url: tip.url ?? remote.url, want: tip.id },
    ...(authorization === undefined ? {} : { authorization }),
    ...(known === undefined
      ? { have: [], shallow: [], depth: 1, maxBytes }
      : {
          have: [known.head],
          shallow: known.shallow,
          maxBytes: Math.min(maxBytes, limits.gitIncrementBytes),
        }),
    ...{ stallMs: patience.stallMs, slowBytes: limits.fetchSlowBytes },
  };
}

const failureIn = (obtained: Obtained | Ended): Failure | undefined =>
  obtained.kind === 'ended' ? stopped(obtained) : obtained.kind === 'failed' ? obtained : undefined;

/** A repository that takes too much memory takes it every time. */
const stopped = ({ cause, message }: Ended): Failure => {
  const text = `reading the repository was stopped: ${message}`;
  return cause === 'memory' ? { ...failed('QuotaExceeded', text), final: true } : failed('Unreachable', text);
};

const standingFile = (gitDir: string): string => join(gitDir, 'towline.json');

async function readStanding(gitDir: string): Promise<Standing | undefined> {
  try {
    const { head, shallow } = JSON.parse(await readFile(standingFile(gitDir), 'utf8')) as Partial<Standing>;
    const ids = [head, ...(shallow ?? [])];
    const whole = ids.every((id) => typeof id === 'string' && /^[0-9a-f]{40}$/.test(id));
    return whole && head !== undefined && shallow !== undefined ? { head, shallow } : undefined;
  } catch {
    return undefined;
  }
}

async function writeStanding(gitDir: string, standing: Standing): Promise<void> {
  const file = standingFile(gitDir);
  await writeFile(`${file}.lock`, JSON.stringify(standing), { flush: true });
  await rename(`${file}.lock`, file);
}
