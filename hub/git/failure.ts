/** What went wrong with a repository, as a state and in words without credentials. Pure. */
import type { SourceState } from './source.ts';

export interface Failure {
  readonly kind: 'failed';
  readonly state: Exclude<SourceState, 'Hydrating' | 'Ready'>;
  readonly message: string;
  /** The remote asked to be left alone for so long. */
  readonly retryAfterMs?: number;
  /** The same commit would end the same way once more: it is not asked for again for a while. */
  readonly final?: boolean;
}

/** Messages stay readable in a table; the rest of what a program wrote is of no use to anybody. */
const MESSAGE_CHARACTERS = 400;

/** A failure in words that are safe to show. */
export const failed = (state: Failure['state'], message: string): Failure => ({
  kind: 'failed',
  state,
  message: scrub(message),
});

/** A failure that the commit itself brings about. */
export const refused = (message: string): Failure => ({ ...failed('Refused', message), final: true });

/** Takes user info out of URLs, control characters out of everything, and cuts. */
export const scrub = (text: string): string =>
  text
    .replaceAll(/\/\/[^\s/@]+@/g, '//')
    .replaceAll(/(authorization:?\s*)\S.*/gi, '$1[redacted]')
    .replaceAll(/[\0-\x1f\x7f]+/g, ' ')
    .trim()
    .slice(0, MESSAGE_CHARACTERS);

/** What git writes while all is well. */
const PROGRESS =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Unpacking|Checking|Total)\b.*(?:%|objects|done|\d)/;

const AUTH =
  /authentication failed|could not read (?:username|password)|permission denied|publickey|terminal prompts disabled|http basic: access denied|host key verification failed|returned error: 40[13]/i;
const MISSING = /couldn't find remote ref|not our ref|unadvertised object|no such remote ref/i;
const NETWORK =
  /could not resolve|couldn't connect|failed to connect|connection (?:refused|reset|timed out|closed)|timed out|unable to access|rpc failed|early eof|unexpected disconnect|hung up|could not read from remote|returned error|does not appear to be a git repository|repository .* not found|mismatched algorithms|protocol error|bad line length|expected ['‘]|gnutls|ssl|curl/i;

/**
 * Reads what git wrote when a fetch failed. Whatever is neither the network's, the login's nor the ref's fault is taken
 * for a damaged mirror: that is answered by cloning anew, which is right in doubt.
 */
export function fetchFailure(stderr: string): Failure {
  const lines = stderr.split(/[\n\r]/).filter((line) => line.trim() !== '' && !PROGRESS.test(line));
  const telling = lines.filter((line) => /^(?:fatal|error|remote):|host key|\(publickey/i.test(line));
  const message = (telling.length > 0 ? telling : lines).join(' ') || 'git fetch failed without a word';
  if (AUTH.test(stderr)) return failed('AuthFailed', message);
  if (MISSING.test(stderr)) return failed('RefMissing', message);
  if (NETWORK.test(stderr)) return failed('Unreachable', message);
  return failed('Corrupt', message);
}

/** How a refused HTTP request counts. */
export function httpFailure(status: number, retryAfterMs: number | undefined): Failure {
  const patience = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 401 || status === 403)
    return { ...failed('AuthFailed', `the server refuses access (HTTP ${status})`), ...patience };
  if (status === 404)
    return failed(
      'Unreachable',
      'the server knows no such repository, or not for these credentials (HTTP 404)',
    );
  return { ...failed('Unreachable', `the server answered HTTP ${status}`), ...patience };
}

/** Reads a Retry-After header, in seconds or as a date; undefined when there is none. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
