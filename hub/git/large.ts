/**
 * What Git LFS keeps, for the trees of a driver. Nothing is fetched before it is asked for; what was fetched is kept for
 * a while, since a file is often needed by many.
 */
import { once } from 'node:events';
import pLimit from 'p-limit';
import { limits } from '../../shared/limits.ts';
import type { Access } from './access.ts';
import type { Credentials } from './credentials.ts';
import { listConfig, settingsIn } from './configfile.ts';
import type { GitDriver, Opened } from './driver.ts';
import { scrub, type Failure } from './failure.ts';
import { diskTooFull } from './folder.ts';
import { makeLfsFolder, objectsOf, smudge, type Smudge } from './gitlfs.ts';
import { isContentOf, readLarge, removeLarge, touchLarge, trimLarge } from './largestore.ts';
import type { LfsLeave } from './settings.ts';
import type { LargeFile, LargeFiles, Tree } from './source.ts';

/** A driver whose trees give what Git LFS keeps. */
export const withLargeFiles = (
  driver: GitDriver,
  largeOf: (tree: Tree) => Promise<LargeFiles>,
  close: () => Promise<void> = () => Promise.resolve(),
): GitDriver => {
  const joined = async (opened: Opened | Failure): Promise<Opened | Failure> =>
    opened.kind === 'failed'
      ? opened
      : { ...opened, tree: { ...opened.tree, large: await largeOf(opened.tree) } };
  return {
    ...driver,
    open: async (id, ref) => joined(await driver.open(id, ref)),
    older: async (id, ref) => joined(await driver.older(id, ref)),
    async close() {
      await close();
      await driver.close();
    },
  };
};

/** Nothing of it is to be had here. */
export const refusing = (problem: string): LargeFiles => ({
  refuses: () => problem,
  begin:
    () =>
    ({ path }) =>
      Promise.reject(new Error(`${path}: ${problem}`)),
});

/** What the Git LFS of a repository on this machine has fetched; nothing is fetched for it. */
export const largeFilesIn = (objects: string, path: string): LargeFiles => ({
  refuses: () => undefined,
  begin: () => async (file) => {
    const content = await readLarge(objects, file);
    if (content !== undefined) return content;
    throw new Error(`${file.path} is not in the Git LFS of ${path}: run “git lfs fetch” there`);
  },
});

export interface LargeOptions extends Omit<Smudge, 'signal' | 'url'> {
  readonly access: Access;
  /** Where a `.lfsconfig` is put for git to read. */
  readonly file: string;
  /** Whether a committed address may be asked, and with what. */
  readonly leave: (url: string) => LfsLeave;
  /** Credentials of another repository. */
  readonly accessFor: (credentials: Credentials) => Access;
  /** Hears of each content that a server is asked for. */
  readonly onFetch: () => void;
  /** Default: {@link limits.lfsGraceMs}. */
  readonly graceMs?: number;
}

/** One repository's Git LFS. */
export interface Large {
  of(tree: Tree): Promise<LargeFiles>;
  close(): Promise<void>;
}

/** Nothing is started before something is asked for. */
export function makeLarge(options: LargeOptions): Large {
  const stop = new AbortController();
  const known = new Map<string, Promise<LargeFiles>>();
  const keeper = makeKeeper({ ...options, signal: stop.signal });

  const read = async (tree: Tree, id: string): Promise<LargeFiles> => {
    const listed = await listConfig(await tree.blob(id), options);
    if (listed === undefined) return refusing('.lfsconfig cannot be read by git: mend it, or take it out');
    const settings = settingsIn(listed);
    const url = settings.get('lfs.url') ?? settings.get('remote.origin.lfsurl');
    if (url === undefined) return keeper.at({ access: options.access });
    const leave = options.leave(url);
    if (leave.kind === 'refused') return refusing(leave.problem);
    const { credentials, remote } = leave;
    const access = credentials === 'own' ? options.access : options.accessFor(credentials);
    return keeper.at({ access, url: remote.url });
  };
  return {
    async of(tree) {
      const entries = await tree.entries();
      const config = entries.find(({ path, mode }) => path === '.lfsconfig' && mode !== '120000');
      const key = config?.id ?? '';
      const begun =
        known.get(key) ??
        (config === undefined
          ? Promise.resolve(keeper.at({ access: options.access }))
          : read(tree, config.id));
      known.set(key, begun);
      try {
        return await begun;
      } catch (error) {
        known.delete(key);
        return refusing(`.lfsconfig cannot be read: ${(error as Error).message}`);
      }
    },
    async close() {
      stop.abort();
      await keeper.settled();
    },
  };
}

interface Endpoint {
  readonly access: Access;
  readonly url?: string;
}

interface Keeper {
  at(endpoint: Endpoint): LargeFiles;
  settled(): Promise<void>;
}

type KeeperOptions = LargeOptions & Pick<Smudge, 'signal'>;

/** Fetches each content once at a time, however many ask for it. */
function makeKeeper(options: KeeperOptions): Keeper {
  const { graceMs = limits.lfsGraceMs } = options;
  const limit = pLimit(limits.lfsAtOnce);
  const running = new Map<string, Promise<Buffer>>();
  let ready: Promise<string | undefined> | undefined;
  /** Somebody waited in vain: until then, nobody else waits at all. */
  let impatientUntil = 0;

  const bring = async (endpoint: Endpoint, file: LargeFile): Promise<Buffer> => {
    const here = await readLarge(objectsOf(options.folder), file);
    if (here !== undefined) {
      await touchLarge(objectsOf(options.folder), file, new Date());
      return here;
    }
    // git-lfs would take a damaged one for what it is called
    await removeLarge(objectsOf(options.folder), file);
    ready ??= makeLfsFolder(options.git, options.folder);
    const problem = await ready;
    if (problem === undefined) return fetchLarge(options, endpoint, file);
    ready = undefined;
    throw new Error(problem);
  };
  const begin = (endpoint: Endpoint, file: LargeFile): Promise<Buffer> => {
    const key = `${endpoint.url ?? ''} ${file.oid} ${file.size}`;
    const under = running.get(key) ?? limit(() => bring(endpoint, file)).finally(() => running.delete(key));
    running.set(key, under);
    under.catch(() => undefined);
    return under;
  };
  return {
    at: (endpoint) => ({
      refuses: () => undefined,
      begin(files) {
        const begun = new Map(files.map((file) => [file.oid, begin(endpoint, file)] as const));
        const late = AbortSignal.timeout(Date.now() < impatientUntil ? 0 : graceMs);
        return async (file) => {
          const fetched = await inTime(begun.get(file.oid) ?? begin(endpoint, file), late);
          const content = fetched ?? (await readLarge(objectsOf(options.folder), file));
          if (content !== undefined) return content;
          impatientUntil = Date.now() + graceMs;
          throw new Error(`${file.path} is on its way from Git LFS (${file.size} bytes)`);
        };
      },
    }),
    settled: async () => void (await Promise.allSettled(running.values())),
  };
}

/** Undefined: it is late. */
async function inTime<T>(work: Promise<T>, late: AbortSignal): Promise<T | undefined> {
  const done = new AbortController();
  const waited = late.aborted
    ? Promise.resolve(undefined)
    : once(late, 'abort', { signal: done.signal }).then(
        () => undefined,
        () => undefined,
      );
  try {
    return await Promise.race([work, waited]);
  } finally {
    done.abort();
  }
}

/** One content by git-lfs. What it answers with is believed only when it is what the pointer says. */
async function fetchLarge(options: KeeperOptions, endpoint: Endpoint, file: LargeFile): Promise<Buffer> {
  const { folder, quota, onFetch } = options;
  const { access, url } = endpoint;
  const full = await diskTooFull(folder, quota);
  if (full !== undefined) throw new Error(full);
  const login = await access.login();
  if (login.kind === 'failed') throw new Error(login.message);
  onFetch();
  const end = await smudge({ ...options, ...(url === undefined ? {} : { url }) }, file, login);
  if (end.kind === 'failed') {
    access.refused();
    throw new Error(`Git LFS does not give ${file.path}: ${scrub(access.redact(end.stderr))}`);
  }
  if (!isContentOf(end.stdout, file)) {
    await removeLarge(objectsOf(folder), file);
    throw new Error(`what Git LFS gives for ${file.path} is not what its pointer says: push the file anew`);
  }
  await trimLarge(objectsOf(folder));
  return end.stdout;
}
