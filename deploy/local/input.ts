/** What a fleet needs before it starts: a repository, a ref, a folder. What is wrong with them is said at once. */
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Something that was asked for cannot be done; the message is for people. */
export class BadInput extends Error {}

const run = promisify(execFile);
/** A remote that does not answer at all. */
const GIT_LIMIT_MS = 60_000;

export interface Repository {
  /** An absolute path, or a URL. */
  readonly url: string;
  readonly local: boolean;
}

/** A path that exists is a path; anything else is left to Git. */
export async function findRepository(given: string, cwd: string): Promise<Repository> {
  const path = resolve(cwd, given);
  if (await exists(path)) return { url: path, local: true };
  if (!/^[a-z+]+:\/\/|^[^/\s]+@[^/\s]+:/i.test(given))
    throw new BadInput(`--repo: there is no folder ${path}`);
  return { url: given, local: false };
}

/** The branch that the repository is at. Rejects with BadInput when it says none. */
export async function defaultBranch(
  { url }: Repository,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const args = ['ls-remote', '--symref', '--', url, 'HEAD'];
  const env = { ...environment, GIT_TERMINAL_PROMPT: '0' };
  let listed: string;
  try {
    listed = (await run('git', args, { env, timeout: GIT_LIMIT_MS })).stdout;
  } catch (error) {
    throw new BadInput(
      `--repo: ${(error as Error & { stderr?: string }).stderr?.trim() || (error as Error).message}`,
    );
  }
  const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(listed)?.[1];
  if (branch === undefined) throw new BadInput(`--repo: ${url} is at no branch; name one with --ref`);
  return branch;
}

/** A free port of this machine. */
export function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

/** The first folder from the root down to `path` that other users may not enter; undefined when they can enter all. */
export async function closedFolder(path: string): Promise<string | undefined> {
  const parent = dirname(path);
  const above = parent === path ? undefined : await closedFolder(parent);
  if (above !== undefined) return above;
  const mode = await stat(path).then(
    (found) => found.mode,
    () => undefined,
  );
  return mode !== undefined && (mode & 0o001) === 0 ? path : undefined;
}

/** Makes a folder, and those above it that are missing, so that other users may enter them whatever the umask is. */
export async function makeOpen(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let folder = path; folder.startsWith(first); folder = dirname(folder)) await chmod(folder, 0o755);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
