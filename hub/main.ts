/** The hub's process: settings, parts, clean stop. */
import './lean.ts';
import { readFile } from 'node:fs/promises';
import { flagOf, helpOf, parseSettings, type Values } from '../shared/config.ts';
import { makeLog, type Log } from '../shared/log.ts';
import { parseListen, parseTokens, type Listen } from './api/auth.ts';
import { makeApi } from './api/api.ts';
import { hubSettings, parseDriver, parseRepositories, quotaOf } from './config.ts';
import { DRIVER_CHOICES, type RepositorySettings } from './git/source.ts';
import { makeMetrics } from './metrics.ts';
import { startHub, type Hub } from './start.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type HubValues = Values<typeof hubSettings>;

/** Least length of the secret that artifacts are sealed with: a key of that strength needs it. */
const SECRET_BYTES = 32;

/** Runs the hub until it is told to stop. Resolves to the exit code: 0 stopped, 1 failed, 2 bad settings. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  const parsed = parseSettings(hubSettings, argv, environment);
  if (parsed.kind === 'help') {
    process.stdout.write(helpOf('towline hub [flags]', hubSettings));
    return 0;
  }
  if (parsed.kind === 'errors') return refuse(parsed.errors);
  const files = await readFiles(parsed.values);
  if ('errors' in files) return refuse(files.errors);
  const log = makeLog({ name: 'hub', level: parsed.values.logLevel });
  try {
    return await run(parsed.values, { files, environment, log, at: () => undefined });
  } catch (error) {
    log.fatal({ err: error }, 'the hub cannot run');
    return 1;
  }
}

function refuse(errors: readonly string[]): number {
  process.stderr.write(errors.map((error) => `towline hub: ${error}\n`).join(''));
  return 2;
}

export interface HubFiles {
  readonly repositories: readonly RepositorySettings[];
  readonly seed: string;
  readonly secret: Buffer;
  /** Hashes of the tokens that the API accepts; none: only this machine may ask. */
  readonly tokens: readonly Buffer[];
  readonly listen: Listen & { readonly kind: 'address' };
}

/** Reads what the settings name; everything that is wrong with it is said at once. */
export async function readFiles(
  values: HubValues,
): Promise<HubFiles | { readonly errors: readonly string[] }> {
  const errors: string[] = [];
  const read = (flag: string, path: string): Promise<Buffer> =>
    readFile(path).catch((error: unknown) => {
      errors.push(`${flag}: ${(error as Error).message}`);
      return Buffer.alloc(0);
    });
  const list = await read('--repositories', values.repositories);
  const seed = await read('--nats-seed-file', values.natsSeedFile);
  const secret = await read('--secret-file', values.secretFile);
  const tokenFile =
    values.apiTokenFile === '' ? undefined : await read('--api-token-file', values.apiTokenFile);
  if (errors.length > 0) return { errors };

  const driver = parseDriver(values.gitDriver);
  if (driver === undefined)
    errors.push(`--git-driver: “${values.gitDriver}” is not one of ${DRIVER_CHOICES.join(', ')}`);
  const repositories = parseRepositories(values.repositories, String(list), driver);
  if (repositories.kind === 'errors') errors.push(...repositories.errors);
  const tokens = tokenFile === undefined ? undefined : parseTokens(String(tokenFile));
  if (tokens?.kind === 'error') errors.push(`--api-token-file: ${values.apiTokenFile}: ${tokens.error}`);
  const listen = parseListen(values.listen, tokens?.kind === 'tokens');
  if (listen.kind === 'error') errors.push(`--listen: ${listen.error}`);
  for (const name of ['hostConnections', 'hostRequests'] as const)
    if (!(values[name] >= 1)) errors.push(`--${flagOf(name)}: must be at least 1, is ${values[name]}`);
  if (secret.length < SECRET_BYTES)
    errors.push(`--secret-file: ${values.secretFile}: ${shortSecret(secret)}`);
  if (repositories.kind === 'errors' || listen.kind === 'error' || errors.length > 0) return { errors };
  return {
    repositories: repositories.repositories,
    seed: String(seed).trim(),
    secret,
    tokens: tokens?.kind === 'tokens' ? tokens.hashes : [],
    listen,
  };
}

const shortSecret = (secret: Buffer): string =>
  `it has ${secret.length} bytes, at least ${SECRET_BYTES} are needed; make one with “openssl rand -out FILE 32”`;

export interface RunContext {
  readonly files: HubFiles;
  readonly environment: Environment;
  readonly log: Log;
  /** Called between the steps of a pass. */
  readonly at: (step: string) => void;
}

/** Runs the parts until SIGINT or SIGTERM. */
export async function run(values: HubValues, { files, environment, log, at }: RunContext): Promise<number> {
  const stopped = untilTold();
  const { repositories, seed, secret, tokens, listen } = files;
  const metrics = makeMetrics();
  const hub: Hub = await startHub({
    ...{ dataDir: values.dataDir, servers: values.nats, repositories, seed, secret, quota: quotaOf(values) },
    perHost: { connections: values.hostConnections, requestsPerMinute: values.hostRequests },
    ...{ environment, log, metrics, at },
  });
  const api = await makeApi(hub.model, { tokens, log, metrics });
  const address = await api.listen({ host: listen.host, port: listen.port });
  log.info({ address }, 'the hub runs');
  const cause = await Promise.race([stopped, hub.lost.then(() => 'lost' as const)]);
  if (cause === 'lost') log.fatal('the connection to the broker was closed for good; the hub ends');
  else log.info({ signal: cause }, 'the hub stops');
  await api.close();
  await hub.close();
  return cause === 'lost' ? 1 : 0;
}

const untilTold = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), process.env);
