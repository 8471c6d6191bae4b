/** Starts npm. The program's own wishes hold: scripts of packages run unless `.npmrc` says `ignore-scripts=true`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { limits } from '../../shared/limits.ts';
import type { RunUser } from '../folders.ts';
import { endMarked } from '../runner/processes.ts';

export interface Npm {
  readonly path: string;
  readonly version: string;
}

/** npm on the path; undefined when there is none. Reads its version from its files: asking it costs 0.2 s. */
export function findNpm(path: readonly string[]): Npm | undefined {
  for (const folder of path) {
    try {
      const script = realpathSync(join(folder, 'npm'));
      const manifest = join(dirname(dirname(script)), 'package.json');
      const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, string>;
      if (name === 'npm' && version !== undefined) return { path: join(folder, 'npm'), version };
    } catch {
      continue;
    }
  }
  return undefined;
}

/** What an install may use of the machine. */
export interface InstallMeans {
  readonly npm: Npm;
  readonly path: readonly string[];
  /** npm's settings, proxies and certificates from the agent's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly npmCache: string;
  readonly user: RunUser | undefined;
}

/** Variables of the agent that installs, and only they, may see. */
const MACHINE_SETTING =
  /^(npm_config_.*|https?_proxy|no_proxy|all_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;
/** Where an npm that started this agent was at home: nothing to an install elsewhere. */
const PLACE_SETTING = /^npm_config_((local_|global_)?prefix|cache|node_gyp|user_agent|npm_version|noproxy)$/i;

/** The part of the agent's environment that an install needs. */
export function installEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const given = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && MACHINE_SETTING.test(name) && !PLACE_SETTING.test(name)
      ? [[name, value] as const]
      : [],
  );
  const { HOME } = environment;
  return {
    ...(HOME === undefined ? {} : { npm_config_userconfig: join(HOME, '.npmrc') }),
    ...Object.fromEntries(given),
  };
}

/** What in that part must not leave the agent: tokens, and the passwords of proxies and registries. */
export function installSecrets(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => [
    ...(/(_auth|token|password|key)$/i.test(name) ? [value] : []),
    ...(/:\/\/[^/@\s]*:([^/@\s]+)@/.exec(value)?.slice(1, 2) ?? []),
  ]);
}

export type Installed = { readonly kind: 'installed' } | { readonly kind: 'failed'; readonly output: string };

/** `npm ci` in a folder. Everything it started is gone when this settles, also after an abort. */
export async function installIn(
  folder: string,
  means: InstallMeans,
  call: {
    readonly home: string;
    readonly marks: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  },
): Promise<Installed> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(limits.installTimeoutMs)]);
  const child = spawn(means.npm.path, ['ci', '--no-audit', '--no-fund', '--no-update-notifier'], {
    cwd: folder,
    env: {
      ...means.environment,
      PATH: means.path.join(delimiter),
      HOME: call.home,
      npm_config_cache: means.npmCache,
      ...call.marks,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGTERM',
    ...means.user,
  });
  let output = '';
  const take = (text: string): void => void (output = lastLines(output + text));
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const code = await exitOf(child);
  await endMarked({ environment: { ...call.marks, npm_command: 'ci' } });
  call.signal.throwIfAborted();
  if (code === 0) return { kind: 'installed' };
  return { kind: 'failed', output: signal.aborted ? `npm ci took too long\n${output}` : output };
}

/** The newest whole lines: of one that was cut, a secret in it could not be told any more. */
const lastLines = (text: string): string =>
  text.length <= limits.lineBytes ? text : text.slice(-limits.lineBytes).replace(/^[^\n]*\n?/, '');

async function exitOf(child: ReturnType<typeof spawn>): Promise<number | undefined> {
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? undefined;
  } catch {
    return undefined;
  }
}
