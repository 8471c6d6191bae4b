/** What `auth` of a repository means for its URL. Pure. */
import type { Auth, SecretSource } from './auth.ts';
import type { Remote } from './remote.ts';

/** Credentials of one remote. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: SecretSource }
  | ({ readonly kind: 'githubApp' } & NonNullable<Auth['githubApp']>)
  | {
      readonly kind: 'ssh';
      readonly knownHosts: NonNullable<Auth['knownHosts']>;
      /** Without one: the keys that an ssh agent holds. */
      readonly privateKey?: { readonly file: string };
      readonly passphrase?: SecretSource;
    };

export type ReadCredentials = Credentials | { readonly kind: 'refused'; readonly problem: string };

const HTTP_FIELDS = ['token', 'username', 'password', 'githubApp', 'plainHttp'] as const;
const SSH_FIELDS = ['privateKey', 'passphrase', 'knownHosts'] as const;

/** What `auth` says for a remote, or what is wrong with it and the remedy. */
export function readCredentials(auth: Auth | undefined, remote: Remote): ReadCredentials {
  const given = Object.entries(auth ?? {}).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  switch (remote.kind) {
    case 'local':
      return given.length === 0
        ? NONE
        : refused('auth has no meaning for a path on this machine: leave it out');
    case 'ssh':
      return foreign(given, HTTP_FIELDS, 'https') ?? sshCredentials(auth ?? {});
    case 'http':
      return foreign(given, SSH_FIELDS, 'ssh') ?? httpCredentials(auth ?? {}, remote.url);
  }
}

const NONE = { kind: 'none' } as const;

const refused = (problem: string): ReadCredentials => ({ kind: 'refused', problem });

function foreign(
  given: readonly string[],
  fields: readonly string[],
  scheme: string,
): ReadCredentials | undefined {
  const wrong = given.filter((field) => fields.includes(field));
  return wrong.length === 0
    ? undefined
    : refused(`auth.${wrong.join(', auth.')} is for ${scheme} urls: leave it out, or change the url`);
}

function sshCredentials({ knownHosts, privateKey, passphrase }: Auth): ReadCredentials {
  if (knownHosts === undefined)
    return refused(
      'an ssh repository needs auth.knownHosts, the host keys that it may have: lines as in ~/.ssh/known_hosts, ' +
        'or {file: PATH}. Take them from the provider’s documentation; nothing is trusted at first sight',
    );
  if (passphrase !== undefined && privateKey === undefined)
    return refused('auth.passphrase needs auth.privateKey');
  return {
    kind: 'ssh',
    knownHosts,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

function httpCredentials(auth: Auth, url: string): ReadCredentials {
  const { token, username, password, githubApp, plainHttp } = auth;
  const ways = [token, password, githubApp].filter((way) => way !== undefined);
  if (ways.length > 1)
    return refused('auth says more than one of token, password and githubApp: keep one of them');
  const problem =
    (ways.length > 0 ? unsafe(url, plainHttp) : undefined) ??
    (githubApp === undefined ? undefined : unsafe(githubApp.apiUrl, plainHttp));
  if (problem !== undefined) return refused(problem);
  if (githubApp !== undefined)
    return username === undefined
      ? { kind: 'githubApp', ...githubApp }
      : refused('auth.githubApp knows its username: leave out auth.username');
  if (token !== undefined) return { kind: 'basic', username: username ?? TOKEN_USER, password: token };
  if (password !== undefined)
    return username === undefined
      ? refused('auth.password needs auth.username')
      : { kind: 'basic', username, password };
  return username === undefined ? NONE : refused('auth.username needs auth.password or auth.token');
}

/** GitHub asks for this name; the other servers that know tokens take any. */
export const TOKEN_USER = 'x-access-token';

const unsafe = (url: string, plainHttp: boolean | undefined): string | undefined =>
  new URL(url).protocol === 'https:' || plainHttp === true || isLoopback(new URL(url).hostname)
    ? undefined
    : `credentials would go to ${new URL(url).host} unencrypted: use https, or say auth.plainHttp: true`;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.[\d.]+$/.test(host);
