/** Runs git-lfs: one content at a time, by its pointer, in a repository of its own that nothing else is in. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import semver from 'semver';
import { limits } from '../../shared/limits.ts';
import { pointerText } from '../inputs/pointer.ts';
import type { Login } from './access.ts';
import { gitEnvironment, runGit, type GitConfig, type GitEnd, type GitProgram } from './command.ts';
import { diskTooFull, type Quota } from './folder.ts';
import { bytesIn } from './largestore.ts';
import type { Remote } from './remote.ts';
import type { LargeFile } from './source.ts';

/** Whether git-lfs can be used here, and if not, why. */
export type LfsUsable =
  | { readonly kind: 'usable'; readonly version: string }
  | { readonly kind: 'unusable'; readonly problem: string };

/** The oldest version whose redirects leave credentials behind and that is still mended (2021). */
export const OLDEST_LFS = '3.0.0';

/** The program by the name that git itself looks for. */
const programOf = (git: GitProgram): GitProgram => ({ ...git, program: 'git-lfs' });

/** Starts git-lfs once. */
export async function lfsUsable(git: GitProgram): Promise<LfsUsable> {
  const bounds = { timeoutMs: limits.gitProbeMs, maxBytes: 64 * 1024 };
  const end = await runGit(programOf(git), { args: ['version'], env: gitEnvironment(git), ...bounds });
  if (end.kind === 'failed') return { kind: 'unusable', problem: 'git-lfs cannot be started' };
  const version = semver.coerce(end.stdout.toString('utf8'))?.version;
  return version === undefined || semver.lt(version, OLDEST_LFS)
    ? { kind: 'unusable', problem: `git-lfs is version ${version ?? 'unknown'}, older than ${OLDEST_LFS}` }
    : { kind: 'usable', version };
}

export interface Smudge {
  readonly git: GitProgram;
  /** A bare repository, see {@link makeLfsFolder}. */
  readonly folder: string;
  readonly remote: Exclude<Remote, { readonly kind: 'local' }>;
  /** Where Git LFS is; absent: where the remote says, or beside it. */
  readonly url?: string;
  readonly quota: Quota;
  readonly signal: AbortSignal;
}

/** Where git-lfs puts what it has fetched. */
export const objectsOf = (folder: string): string => join(folder, 'lfs', 'objects');

/** Contents on their way. */
const DRAFTS = ['tmp', 'incomplete'] as const;

/** Makes the repository that git-lfs works in, and cleans what killed work left. An error in words: it cannot be made. */
export async function makeLfsFolder(git: GitProgram, folder: string): Promise<string | undefined> {
  for (const draft of DRAFTS) await rm(join(folder, 'lfs', draft), { recursive: true, force: true });
  if (existsSync(join(folder, READY))) return undefined;
  await rm(folder, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  const end = await runGit(git, {
    args: ['init', '--quiet', '--bare', '--template=', folder],
    env: gitEnvironment(git),
    timeoutMs: limits.gitTimeoutMs,
    maxBytes: limits.gitOutputBytes,
  });
  if (end.kind === 'failed') return end.stderr.trim();
  // git-lfs would write it itself, and several of it at once get in each other's way
  await appendFile(join(folder, 'config'), '[lfs]\n\trepositoryformatversion = 0\n');
  await appendFile(join(folder, READY), '');
  return undefined;
}

/** File that stands in a folder that was made to its end. */
const READY = 'towline-lfs';

/** Fetches one content into the folder and prints it. */
export const smudge = (
  { git, folder, remote, url, quota, signal }: Smudge,
  file: LargeFile,
  login: Login,
): Promise<GitEnd> =>
  runGit(programOf(git), {
    args: ['smudge'],
    input: pointerText(file),
    env: {
      ...gitEnvironment(git, configOf({ remote, url }, login)),
      ...login.environment,
      ...credentialVariables(login),
      GIT_DIR: folder,
      // ~/.netrc would be another source of credentials
      HOME: folder,
    },
    timeoutMs: limits.fetchTimeoutMs,
    // where it fails, it prints the pointer
    maxBytes: file.size + pointerText(file).length,
    signal,
    watch: async () => {
      const drafts = await Promise.all(DRAFTS.map((draft) => bytesIn(join(folder, 'lfs', draft))));
      const bytes = drafts.reduce((sum, one) => sum + one, 0);
      if (bytes > limits.lfsCacheBytes) return 'the server sends more than the pointers say';
      return diskTooFull(dirname(folder), quota);
    },
  });

/** A login as git-lfs takes it: by a helper for one origin that prints variables, which no redirect takes elsewhere. */
const HELPER =
  '!f() { test "$1" != get || printf \'username=%s\\npassword=%s\\n\' "$TOWLINE_USERNAME" "$TOWLINE_PASSWORD"; }; f';

function configOf(
  { remote, url }: Pick<Smudge, 'remote'> & { readonly url: string | undefined },
  login: Login,
): GitConfig {
  const seconds = String(Math.round(limits.fetchStallMs / 1_000));
  return {
    'remote.origin.url': remote.url,
    ...(url === undefined ? {} : { 'lfs.url': url }),
    'lfs.activitytimeout': seconds,
    'lfs.transfer.maxretries': '2',
    'lfs.locksverify': 'false',
    ...(login.authorization === undefined
      ? {}
      : { [`credential.${new URL(url ?? remote.url).origin}.helper`]: HELPER }),
  };
}

function credentialVariables({ authorization }: Login): Record<string, string> {
  if (authorization === undefined) return {};
  const pair = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('utf8');
  const cut = pair.indexOf(':');
  return { TOWLINE_USERNAME: pair.slice(0, cut), TOWLINE_PASSWORD: pair.slice(cut + 1) };
}
