/**
 * The driver for a repository on this machine: read in place, nothing copied, nothing written. What is not committed is
 * not seen. Refs are read in process.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { limits } from '../../shared/limits.ts';
import { repositoryEnvironment, runGit, type GitProgram } from './command.ts';
import { descendsHere } from './descent.ts';
import type { GitDriver, Tip } from './driver.ts';
import { failed, type Failure } from './failure.ts';
import { largeFilesIn, withLargeFiles } from './large.ts';
import { makeObjectReader, type ObjectReader } from './objects.ts';
import { makeGitRepository, type GitRepository } from './repository.ts';
import type { DriverName } from './source.ts';
import type { NamedRef } from './tags.ts';
import { makeThread } from './thread.ts';
import { threadReader } from './threadreader.ts';

export interface LocalOptions {
  readonly git: GitProgram;
  readonly name: string;
  /** A work tree, a linked work tree, or a bare repository. */
  readonly path: string;
  /** Who reads the objects. Default: the git program. */
  readonly driver?: DriverName;
}

/** Where a repository keeps its parts. */
export interface GitFolders {
  /** Holds HEAD. */
  readonly own: string;
  /** Holds refs and objects; another folder than `own` for a linked work tree. */
  readonly common: string;
}

/** A driver over a path; whether there is a repository, each call finds out anew. */
export function makeLocal({ git, name, path, driver = 'native' }: LocalOptions): GitDriver {
  const stop = new AbortController();
  const thread = makeThread();
  const objectsOf = (gitDir: string): ObjectReader =>
    driver === 'native'
      ? makeObjectReader({ git, env: repositoryEnvironment(git, gitDir) })
      : threadReader(thread, gitDir);
  let repository: { readonly gitDir: string; readonly reader: GitRepository } | undefined;
  const readerOf = async (): Promise<GitRepository> => {
    const folders = await gitFolders(path);
    if (folders === undefined) throw new Error(`${path} is not a Git repository`);
    if (repository?.gitDir !== folders.common) {
      await repository?.reader.close();
      const reader = makeGitRepository({ name, objects: objectsOf(folders.common) });
      repository = { gitDir: folders.common, reader };
    }
    return repository.reader;
  };
  const driverHere: GitDriver = {
    fetch: (ref) => localTip({ git, path, ref, signal: stop.signal }),
    open: async (id, ref) =>
      (await gitFolders(path)) === undefined ? notThere(path) : (await readerOf()).open(id, ref),
    older: async (id, ref) =>
      (await gitFolders(path)) === undefined
        ? notThere(path)
        : (await readerOf()).open(id, ref, { beside: true }),
    descends: async (from, to) => descendsHere(await readerOf(), { from, to, complete: false }),
    damaged: () => repository?.reader.damaged() ?? false,
    async close() {
      stop.abort();
      await repository?.reader.close();
      await thread.close();
    },
  };
  return withLargeFiles(driverHere, async () => {
    const folders = await gitFolders(path);
    return largeFilesIn(join(folders?.common ?? path, 'lfs', 'objects'), path);
  });
}

const notThere = (path: string): Failure => failed('Unreachable', `${path} is not a Git repository`);

/** Finds the folders as git does, but looks at this path only, never above it. */
export async function gitFolders(path: string): Promise<GitFolders | undefined> {
  const dot = join(path, '.git');
  const link = await readText(dot);
  const own =
    link === undefined
      ? (await isFolder(dot))
        ? dot
        : path
      : resolve(path, link.replace(/^gitdir:\s*/, '').trim());
  if ((await readText(join(own, 'HEAD'))) === undefined) return undefined;
  const common = await readText(join(own, 'commondir'));
  const folders = { own, common: common === undefined ? own : resolve(own, common.trim()) };
  return (await isFolder(join(folders.common, 'objects'))) ? folders : undefined;
}

export interface LocalTip {
  readonly git: GitProgram;
  readonly path: string;
  readonly ref: string;
  readonly signal: AbortSignal;
}

/** The id behind a ref: from its file, else from packed-refs; where refs are stored otherwise, git is asked. */
export async function localTip({ git, path, ref, signal }: LocalTip): Promise<Tip | Failure> {
  const folders = await gitFolders(path);
  if (folders === undefined) return notThere(path);
  if (OBJECT_ID.test(ref)) return { kind: 'tip', id: ref };
  const id = await resolveRef(folders, ref);
  if (id !== undefined) return { kind: 'tip', id };
  if (!(await isFolder(join(folders.common, 'reftable')))) return missing(ref, path);
  const env = repositoryEnvironment(git, folders.own);
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', ref];
  const end = await runGit(git, { args, env, signal, timeoutMs: limits.gitTimeoutMs, maxBytes: 1024 });
  return end.kind === 'done' ? { kind: 'tip', id: end.stdout.toString('latin1').trim() } : missing(ref, path);
}

const missing = (ref: string, path: string): Failure => failed('RefMissing', `${ref} is not in ${path}`);

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Symbolic refs that lead to symbolic refs; git follows as many. */
const SYMBOLIC_HOPS = 5;

async function resolveRef(folders: GitFolders, ref: string): Promise<string | undefined> {
  let name = ref;
  for (let hop = 0; hop <= SYMBOLIC_HOPS; hop++) {
    const text = (await readText(join(name === 'HEAD' ? folders.own : folders.common, name)))?.trim();
    if (text === undefined) return packedRef(folders.common, name);
    if (OBJECT_ID.test(text)) return text;
    const target = /^ref:\s*(refs\/\S+)$/.exec(text)?.[1];
    if (target === undefined || target.includes('..')) return undefined;
    name = target;
  }
  return undefined;
}

/** Read after the ref's own file: git writes the packed one before it removes the other. */
async function packedRef(common: string, name: string): Promise<string | undefined> {
  const packed = await readText(join(common, 'packed-refs'));
  const end = packed?.indexOf(` ${name}\n`) ?? -1;
  if (packed === undefined || end < 0) return undefined;
  const id = packed.slice(packed.lastIndexOf('\n', end) + 1, end);
  return OBJECT_ID.test(id) ? id : undefined;
}

/** Every tag with the id behind it. */
export async function localTags({ git, path, signal }: Omit<LocalTip, 'ref'>): Promise<NamedRef[] | Failure> {
  const folders = await gitFolders(path);
  if (folders === undefined) return notThere(path);
  if (await isFolder(join(folders.common, 'reftable'))) {
    const env = repositoryEnvironment(git, folders.own);
    const args = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/tags/'];
    const end = await runGit(git, {
      args,
      env,
      signal,
      timeoutMs: limits.gitTimeoutMs,
      maxBytes: limits.refsBytes,
    });
    return end.kind === 'done'
      ? namedRefs(end.stdout.toString('utf8'))
      : failed('Unreachable', `listing the tags of ${path}: ${end.stderr}`);
  }
  const loose = await looseTags(folders.common);
  const names = new Set(loose.map(({ ref }) => ref));
  const packed = namedRefs((await readText(join(folders.common, 'packed-refs'))) ?? '');
  return [...loose, ...packed.filter(({ ref }) => !names.has(ref))];
}

/** Lines of an id and a name; other lines are none. */
const namedRefs = (text: string): NamedRef[] =>
  text.split('\n').flatMap((line) => {
    const [id = '', ref = ''] = line.split(' ');
    return OBJECT_ID.test(id) && ref.startsWith('refs/tags/') ? [{ ref, id }] : [];
  });

async function looseTags(common: string): Promise<NamedRef[]> {
  const folder = join(common, 'refs', 'tags');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const read = await Promise.all(
    files.map(async (file) => ({ ref: relative(common, file), id: ((await readText(file)) ?? '').trim() })),
  );
  return read.filter(({ id }) => OBJECT_ID.test(id));
}

/** A file that changes when a ref moves. */
export interface RefFile {
  readonly folder: string;
  readonly file: string;
}

/** Where a ref may be written, for whoever wants a hint of it. */
export async function refFiles(path: string, ref: string): Promise<readonly RefFile[]> {
  const folders = await gitFolders(path);
  if (folders === undefined) return [];
  const head = (await readText(join(folders.own, 'HEAD')))?.trim().replace(/^ref:\s*/, '');
  const name = ref === 'HEAD' ? head : ref;
  const own = name?.startsWith('refs/') === true && !name.includes('..') ? [join(folders.common, name)] : [];
  const files = [...own, join(folders.common, 'packed-refs'), join(folders.own, 'HEAD')];
  return files.map((file) => ({ folder: dirname(file), file: basename(file) }));
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
