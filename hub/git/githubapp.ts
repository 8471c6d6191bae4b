/** Tokens of an installation of a GitHub App: made with the app's key, kept until shortly before they end. */
import { createPrivateKey, sign } from 'node:crypto';
import * as z from 'zod';
import { limits } from '../../shared/limits.ts';
import { failed, httpFailure, retryAfterMs, type Failure } from './failure.ts';

export interface AppTokensOptions {
  readonly appId: string;
  readonly installationId: string;
  /** Of the API, such as `https://api.github.com`. */
  readonly apiUrl: string;
}

export interface AppTokens {
  /** A token that is valid for some minutes at least. `key`: the app's private key, as PEM. */
  token(key: string): Promise<{ readonly kind: 'token'; readonly token: string } | Failure>;
  /** The token was refused: the next one is a new one. */
  forget(): void;
}

interface Kept {
  readonly token: string;
  readonly key: string;
  /** When it ends, ms. */
  readonly endsAt: number;
}

const answerSchema = z.object({ token: z.string().min(1), expires_at: z.string() });

/** Asks nothing before the first call. Calls at the same time share one request. */
export function makeAppTokens(options: AppTokensOptions): AppTokens {
  let kept: Kept | undefined;
  let asking: Promise<Kept | Failure> | undefined;
  return {
    async token(key) {
      if (kept?.key === key && Date.now() < kept.endsAt - limits.appTokenRenewMs)
        return { kind: 'token', token: kept.token };
      asking ??= ask(options, key).finally(() => (asking = undefined));
      const answer = await asking;
      if ('kind' in answer) return answer;
      kept = answer;
      return { kind: 'token', token: kept.token };
    },
    forget: () => (kept = undefined),
  };
}

async function ask(options: AppTokensOptions, key: string): Promise<Kept | Failure> {
  const { appId, installationId, apiUrl } = options;
  let response: Response;
  let bearer: string;
  try {
    bearer = assertion(appId, key, Date.now());
  } catch {
    return failed('AuthFailed', 'auth.githubApp.privateKey is no RSA key in PEM');
  }
  try {
    response = await fetch(
      `${apiUrl.replace(/\/+$/, '')}/app/installations/${installationId}/access_tokens`,
      {
        method: 'POST',
        headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${bearer}` },
        // A redirect could lead the app's word to another host.
        redirect: 'error',
        signal: AbortSignal.timeout(limits.refsTimeoutMs),
      },
    );
    if (!response.ok) return refusal(response);
    const answer = answerSchema.parse(await response.json());
    return { token: answer.token, key, endsAt: Date.parse(answer.expires_at) };
  } catch (error) {
    return failed('Unreachable', `asking ${apiUrl} for a token: ${reasonOf(error)}`);
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof z.ZodError
    ? 'the answer is not one of GitHub’s'
    : error instanceof Error
      ? `${error.message}${error.cause instanceof Error ? ` (${error.cause.message})` : ''}`
      : String(error);

function refusal({ status, headers }: Response): Failure {
  const failure = httpFailure(status, retryAfterMs(headers.get('retry-after') ?? undefined, Date.now()));
  const why =
    status === 404
      ? 'knows no such installation of the app (HTTP 404): correct auth.githubApp.installationId'
      : `answered HTTP ${status} to the GitHub App: see auth.githubApp.appId and its privateKey`;
  return { ...failure, state: status === 404 ? 'AuthFailed' : failure.state, message: `the API ${why}` };
}

/** GitHub takes at most ten minutes, and the clocks of the two may differ. */
const ASSERTION_SECONDS = 9 * 60;
const CLOCK_SECONDS = 60;

/** A JSON Web Token by which the app says who it is. Throws when the key is none. */
export function assertion(appId: string, key: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const claims = { iat: seconds - CLOCK_SECONDS, exp: seconds + ASSERTION_SECONDS, iss: appId };
  const body = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const privateKey = createPrivateKey(key);
  if (privateKey.asymmetricKeyType !== 'rsa') throw new Error('not an RSA key');
  return `${body}.${sign('RSA-SHA256', Buffer.from(body), privateKey).toString('base64url')}`;
}
