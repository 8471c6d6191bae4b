/**
 * The driver for HTTP remotes where there is no git program: a mirror of packs in the hub's data folder, written and read
 * in a thread with the help of isomorphic-git. It begins with one commit; later fetches bring all commits since. Packs
 * cannot be made one here: after many of them, and after history was rewritten, the mirror is made anew.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { limits } from '../../shared/limits.ts';
import type { Access, Login } from './access.ts';
import type { Obtain } from './calls.ts';
import type { GitProgram } from './command.ts';
import type { FetchOptions, GitDriver, Tip } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import { freshOf, packsOf, replaceFolder, tidyFolder } from './folder.ts';
import type { Remote } from './remote.ts';
import { makeGitRepository, type GitRepository } from './repository.ts';
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
  readonly thread?: ThreadOptions;
}

/** What a mirror knows of itself: the commit that it holds as a whole, and where history is cut off. */
interface Standing {
  readonly head: string;
  readonly shallow: readonly string[];
}

/** Cleans what a killed process left, then answers with the driver. */
export async function makeIsomorphic(options: IsomorphicOptions): Promise<GitDriver> {
  const { name, folder, packs = limits.mirrorPacks } = options;
  const thread = makeThread(options.thread);
  const openFolder = (): GitRepository => makeGitRepository({ name, objects: threadReader(thread, folder) });
  await mkdir(dirname(folder), { recursive: true });
  await tidyFolder(folder);
  let repository = openFolder();

  /** Only what is asked for is trusted: the record of what is here may be older than the disk. */
  const standing = async (): Promise<Standing | undefined> => {
    const known = await readStanding(folder);
    if (known === undefined || (await packsOf(folder)).count >= packs) return undefined;
    const found = await repository.commit(known.head);
    return found.kind === 'commit' ? known : undefined;
  };
  const clone = async (tip: Tip, login: Login): Promise<Tip | Failure> => {
    const fresh = freshOf(folder);
    await tidyFolder(folder);
    const failure = await bring(fresh, { options, thread, login, tip, known: undefined });
    if (failure !== undefined) return failure;
    await repository.close();
    await thread.restart();
    await replaceFolder(folder);
    repository = openFolder();
    return tip;
  };
  return {
    async fetch(ref, { anew, url = options.remote.url }: FetchOptions) {
      const login = await options.access.login();
      if (login.kind === 'failed') return login;
      const found = await tipOf(options, ref);
      if (found.kind === 'failed') return found;
      const tip = { url, ...found };
      const known = anew ? undefined : await standing();
      if (known === undefined) return clone(tip, login);
      if (known.head === tip.id) return tip;
      const failure = await bring(folder, { options, thread, login, tip, known });
      if (failure === undefined) return tip;
      return failure.state === 'QuotaExceeded' ? clone(tip, login) : failure;
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
      await repository.close();
      await thread.close();
    },
  };
}

async function tipOf({ git, remote, access }: IsomorphicOptions, ref: string): Promise<Tip | Failure> {
  const reader = makeTipReader({ git, remote, access, ref });
  const tip = await reader.tip().finally(() => reader.close());
  if (tip.kind === 'failed' || tip.id.length === 40) return tip;
  return failed(
    'Refused',
    'its ids are SHA-256, which only the git program reads; make git available to the hub',
  );
}

interface Bringing {
  readonly options: IsomorphicOptions;
  readonly thread: GitThread;
  readonly login: Login;
  readonly tip: Tip;
  /** Undefined: nothing is there yet, and one commit is enough. */
  readonly known: Standing | undefined;
}

/** Brings a commit into a folder; the record of it moves last. */
async function bring(gitDir: string, bringing: Bringing): Promise<Failure | undefined> {
  const { options, thread, login, tip, known } = bringing;
  const { remote, maxBytes = limits.gitPackBytes } = options;
  const { authorization } = login;
  await mkdir(gitDir, { recursive: true });
  const call: Obtain = {
    ...{ op: 'obtain', gitDir, url: tip.url ?? remote.url, want: tip.id },
    ...(authorization === undefined ? {} : { authorization }),
    ...(known === undefined
      ? { have: [], shallow: [], depth: 1, maxBytes }
      : {
          have: [known.head],
          shallow: known.shallow,
          maxBytes: Math.min(maxBytes, limits.gitIncrementBytes),
        }),
    ...{ stallMs: limits.fetchStallMs, slowBytes: limits.fetchSlowBytes },
  };
  const obtained = await thread.ask(call, limits.fetchTimeoutMs);
  if (obtained.kind === 'ended') return stopped(obtained);
  if (obtained.kind === 'failed') return obtained;
  // A ref may lead to a tag, whose commit is what the cut is about.
  const shallow = known === undefined ? obtained.shallow : known.shallow;
  await writeStanding(gitDir, { head: tip.id, shallow });
  return undefined;
}

const stopped = ({ cause, message }: Ended): Failure =>
  failed(
    cause === 'memory' ? 'QuotaExceeded' : 'Unreachable',
    `reading the repository was stopped: ${message}`,
  );

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
