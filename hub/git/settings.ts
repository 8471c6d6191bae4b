/** A configured repository, read: where it is, what lets us in, which ref is watched. Pure. */
import { createHash } from 'node:crypto';
import { readCredentials, type Credentials } from './credentials.ts';
import { readRef, readRemote, type Remote } from './remote.ts';
import type { RepositorySettings } from './source.ts';

/** A repository whose URL, credentials and ref could be read. */
export interface Readable {
  readonly settings: RepositorySettings;
  readonly remote: Remote;
  readonly credentials: Credentials;
  readonly ref: string;
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
  return { settings, remote, credentials, ref: ref.name };
}

/** Name of the folder of a mirror: another URL or ref is another mirror. */
export const mirrorName = ({ settings, remote, ref }: Readable): string =>
  `${settings.name.replaceAll(/[^\w.-]/g, '_')}-${createHash('sha256').update(`${remote.url}\n${ref}`).digest('hex').slice(0, 16)}`;
