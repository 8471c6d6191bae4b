/** A configured repository, read: where it is, what lets us in, which ref is watched. Pure. */
import { createHash } from 'node:crypto';
import { readCredentials, type Credentials } from './credentials.ts';
import { scrub } from './failure.ts';
import { isBelowUrl, normalUrl } from './gitmodules.ts';
import { hostOf, readRef, readRemote, type Remote } from './remote.ts';
import type { RefChoice, RepositorySettings } from './source.ts';

/** A repository whose URL, credentials and ref could be read. */
export interface Readable {
  readonly settings: RepositorySettings;
  readonly remote: Remote;
  readonly credentials: Credentials;
  /** What is watched: a full ref name, the id of a commit, or `semver:RANGE`. */
  readonly ref: string;
  readonly range?: string;
  /** The configured repository, where stacks ask for this ref of it. */
  readonly of?: string;
}

/** Reads URL, credentials and ref; a text says what is wrong with them. */
export function readSettings(settings: RepositorySettings): Readable | string {
  const problem = (text: string): string => `repository ${settings.name}: ${text}`;
  const remote = readRemote(settings.url);
  if (remote.kind === 'refused') return problem(remote.problem);
  const credentials = readCredentials(settings.auth, remote);
  if (credentials.kind === 'refused') return problem(credentials.problem);
  const ref = readRef(settings.ref);
  if (ref.kind === 'refused') return problem(ref.problem);
  const { name, range } = ref;
  return { settings, remote, credentials, ref: name, ...(range === undefined ? {} : { range }) };
}

/** Name of the folder of a mirror: another URL or ref is another mirror. */
export const mirrorName = ({ settings, remote, ref }: Readable): string =>
  `${settings.name.replaceAll(/[^\w.-]/g, '_')}-${createHash('sha256').update(`${remote.url}\n${ref}`).digest('hex').slice(0, 16)}`;

/** What a repository is called at a ref that is not its own: `programs@refs/tags/v1`. */
export const nameAtRef = (repository: string, ref: string): string => `${repository}@${ref}`;

/** A repository at a ref that a stack asks for. It holds programs, whatever else stands there. */
export const atRef = (settings: RepositorySettings, ref: RefChoice, name: string): RepositorySettings => ({
  ...settings,
  name,
  ref,
  trust: 'sources',
  manifests: [],
});

/**
 * Whether the content of a submodule may be fetched, and with whose credentials: those of the repository of the hub that
 * it is, or `own`, where it is allowed by name on the host of the repository that has it; elsewhere none.
 */
export function leaveFor(
  remote: Remote,
  { settings, remote: own }: Readable,
  configured: readonly Readable[],
): Credentials | 'own' | undefined {
  const same = configured.find((one) => normalUrl(one.remote) === normalUrl(remote));
  if (same !== undefined) return same.credentials;
  const allowed = settings.submodules?.allow ?? [];
  if (!allowed.some((prefix) => isBelowUrl(remote, prefix))) return undefined;
  if (hostOf(remote) === hostOf(own) && remote.kind === own.kind) return 'own';
  return remote.kind === 'http' ? { kind: 'none' } : undefined;
}

/** What a committed `lfs.url` means. `credentials`: whose are sent there. */
export type LfsLeave =
  | {
      readonly kind: 'allowed';
      readonly remote: Exclude<Remote, { kind: 'local' }>;
      readonly credentials: Credentials | 'own';
    }
  | { readonly kind: 'refused'; readonly problem: string };

/**
 * Whether Git LFS may be asked at an address that a commit names: it could be anybody's, and would see credentials. It
 * has to be on the repository's own host, or that of an allowed repository.
 */
export function lfsLeave(url: string, readable: Readable, configured: readonly Readable[]): LfsLeave {
  const remote = readRemote(url);
  const own = readable.remote;
  if (remote.kind === 'refused' || remote.kind === 'local')
    return notLeft(url, remote.kind === 'refused' ? `: ${remote.problem}` : '');
  if (hostOf(remote) === hostOf(own) && schemeOf(remote) === schemeOf(own))
    return { kind: 'allowed', remote, credentials: 'own' };
  const repository = readRemote(remote.url.replace(/\/info\/lfs$/, ''));
  const credentials = repository.kind === 'refused' ? undefined : leaveFor(repository, readable, configured);
  return credentials === undefined ? notLeft(url, '') : { kind: 'allowed', remote, credentials };
}

const schemeOf = (remote: Remote): string =>
  remote.kind === 'http' ? new URL(remote.url).protocol : remote.kind;

const notLeft = (url: string, why: string): LfsLeave => ({
  kind: 'refused',
  problem:
    `.lfsconfig sends Git LFS to ${scrub(url)}${why}, which is neither on the repository’s own host nor one of the hub’s ` +
    'repositories; take it out of .lfsconfig, add that repository to the hub, or name it in submodules.allow',
});
