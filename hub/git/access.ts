/**
 * Credentials of a repository, as git and the polls take them. Secrets are read when they are used, so that a new value
 * needs no restart; they reach git by its environment and by private files, never by an argument.
 */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretSource } from './auth.ts';
import { TOKEN_USER, type Credentials } from './credentials.ts';
import { failed, type Failure } from './failure.ts';
import { makeAppTokens, type AppTokens } from './githubapp.ts';

/** What lets one request in. */
export interface Login {
  readonly kind: 'login';
  /** Value of an Authorization header, for the host of the repository and no other. */
  readonly authorization?: string;
  /** More variables for git. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Access {
  /** Reads the secrets as they are now. */
  login(): Promise<Login | Failure>;
  /** The remote did not let the last login in: what was fetched for it is fetched anew. */
  refused(): void;
  /** Takes secrets that were used out of a text. */
  redact(text: string): string;
  /** Removes what it wrote. */
  close(): Promise<void>;
}

export interface AccessOptions {
  readonly credentials: Credentials;
  /** Where secrets named by `env` are. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of this repository alone; made when something has to be written. */
  readonly folder: string;
}

/** Nothing is read before the first login. */
export function makeAccess({ credentials, environment, folder }: AccessOptions): Access {
  const used = makeMask();
  const read = async (field: string, source: SecretSource): Promise<string> => {
    const value = await readSecret(field, source, environment);
    used.add(value);
    return value;
  };
  const basic = (username: string, password: string): Login => {
    const encoded = Buffer.from(`${username}:${password}`).toString('base64');
    used.add(password);
    used.add(encoded);
    return { kind: 'login', authorization: `Basic ${encoded}`, environment: {} };
  };
  const app = credentials.kind === 'githubApp' ? makeAppTokens(credentials) : undefined;
  const files = makeFiles(folder);
  return {
    login: () =>
      loginOf(credentials, { read, basic, app, files }).catch((error: unknown) =>
        error instanceof Refused ? error.failure : failed('AuthFailed', used.mask(String(error))),
      ),
    refused: () => app?.forget(),
    redact: (text) => used.mask(text),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A login that cannot be made, as a failure of the source. */
class Refused extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

interface Means {
  read(field: string, source: SecretSource): Promise<string>;
  basic(username: string, password: string): Login;
  readonly app: AppTokens | undefined;
  readonly files: Files;
}

async function loginOf(credentials: Credentials, means: Means): Promise<Login | Failure> {
  const { read, basic, app, files } = means;
  switch (credentials.kind) {
    case 'none':
      return { kind: 'login', environment: {} };
    case 'basic':
      return basic(credentials.username, await read('token or auth.password', credentials.password));
    case 'githubApp': {
      const key = await read('githubApp.privateKey', credentials.privateKey);
      const token = await app?.token(key);
      if (token === undefined || token.kind === 'failed')
        return token ?? failed('AuthFailed', 'no GitHub App');
      return basic(TOKEN_USER, token.token);
    }
    case 'ssh':
      return sshLogin(credentials, read, files);
  }
}

/** Nothing of the machine's or the person's settings of ssh counts, and no host is trusted that is not named. */
const SSH_OPTIONS = [
  '-F/dev/null',
  '-oConnectTimeout=15',
  '-oStrictHostKeyChecking=yes',
  '-oGlobalKnownHostsFile=/dev/null',
  '-oUpdateHostKeys=no',
  '-oPasswordAuthentication=no',
  '-oKbdInteractiveAuthentication=no',
  '-oForwardAgent=no',
];

async function sshLogin(
  { knownHosts, privateKey, passphrase }: Credentials & { readonly kind: 'ssh' },
  read: Means['read'],
  files: Files,
): Promise<Login> {
  const hosts = typeof knownHosts === 'string' ? knownHosts : await read('knownHosts', knownHosts);
  if (!/^\s*[^#\s]\S*\s+\S+\s+\S/m.test(hosts))
    throw new Refused(failed('AuthFailed', 'auth.knownHosts holds no key of a host'));
  const options = [...SSH_OPTIONS, `-oUserKnownHostsFile=${await files.write('known_hosts', `${hosts}\n`)}`];
  if (privateKey !== undefined) {
    const key = await read('privateKey', privateKey);
    options.push('-oIdentityAgent=none', '-oIdentitiesOnly=yes', `-i${await files.write('key', `${key}\n`)}`);
  }
  const unlock =
    passphrase === undefined
      ? { SSH_ASKPASS_REQUIRE: 'never' }
      : {
          SSH_ASKPASS: await files.write('askpass', ASKPASS, 0o700),
          SSH_ASKPASS_REQUIRE: 'force',
          TOWLINE_PASSPHRASE: await read('passphrase', passphrase),
        };
  if (passphrase === undefined) options.push('-oBatchMode=yes');
  return {
    kind: 'login',
    environment: { GIT_SSH_COMMAND: `ssh ${options.map(quoted).join(' ')}`, ...unlock },
  };
}

/** The passphrase reaches it by a variable, so it stands in no file. */
const ASKPASS = '#!/bin/sh\nprintf "%s\\n" "$TOWLINE_PASSPHRASE"\n';

/** For the shell by which git starts ssh. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

async function readSecret(
  field: string,
  source: SecretSource,
  environment: AccessOptions['environment'],
): Promise<string> {
  if ('env' in source) {
    const value = environment[source.env]?.trim() ?? '';
    if (value !== '') return value;
    throw new Refused(failed('AuthFailed', `auth.${field}: the variable ${source.env} is not set`));
  }
  const text = await readFile(source.file, 'utf8').catch((error: unknown) => {
    throw new Refused(failed('AuthFailed', `auth.${field}: ${(error as Error).message}`));
  });
  if (text.trim() !== '') return text.trim();
  throw new Refused(failed('AuthFailed', `auth.${field}: the file ${source.file} is empty`));
}

interface Files {
  /** Writes a file that only this user may read, unless it has this content; answers with its path. */
  write(name: string, content: string, mode?: number): Promise<string>;
}

function makeFiles(folder: string): Files {
  const written = new Map<string, string>();
  return {
    async write(name, content, mode = 0o600) {
      const path = join(folder, name);
      if (written.get(name) === content) return path;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await rm(path, { force: true });
      await writeFile(path, content, { mode, flag: 'wx' });
      await chmod(path, mode);
      written.set(name, content);
      return path;
    },
  };
}

interface Mask {
  add(value: string): void;
  mask(text: string): string;
}

/** Shorter texts would take words out of every message, and are no secrets. */
const SECRET_CHARACTERS = 6;
/** The values of before may still stand in an answer that is under way. */
const KEPT_SECRETS = 20;

function makeMask(): Mask {
  let known: readonly string[] = [];
  return {
    add: (value) => {
      if (value.length >= SECRET_CHARACTERS && !known.includes(value))
        known = [value, ...known].slice(0, KEPT_SECRETS);
    },
    mask: (text) => known.reduce((masked, value) => masked.replaceAll(value, '[redacted]'), text),
  };
}
