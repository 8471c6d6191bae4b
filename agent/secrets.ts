/** References of an order → values, from what the agent's own allow-list names. Values are never logged. */
import { isUtf8 } from 'node:buffer';
import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, normalize, sep } from 'node:path';
import type { RunInputs, ValueFrom } from '../shared/wire.ts';
import { RESERVED_ENV } from './pulumi/command.ts';

/** What may be read at all; empty by default. */
export interface ValueSources {
  /** The agent's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of it that orders may use. */
  readonly allowEnv: readonly string[];
  /** Files, or folders with all that is in them, that orders may use. */
  readonly allowFiles: readonly string[];
}

/** A file for the run alone. */
export interface RunFile {
  /** Path inside the run's folder of files. */
  readonly path: string;
  readonly content: Buffer;
  /** Variable that is set to its full path. */
  readonly env?: string;
}

/** An order's references as values. */
export interface Resolved {
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly RunFile[];
  readonly configSecrets: Readonly<Record<string, string>>;
  /** Every value that came from a reference: what must never leave. */
  readonly secrets: readonly string[];
}

export type Resolution =
  | { readonly kind: 'resolved'; readonly values: Resolved }
  | { readonly kind: 'refused'; readonly why: string };

/** A setting that cannot be resolved; its message names the setting and never a value. */
class Refusal extends Error {}

/** Resolves everything now. The first setting that may not or cannot be read ends it. */
export async function resolveValues(inputs: RunInputs, sources: ValueSources): Promise<Resolution> {
  const secrets: string[] = [];
  const read = async (from: ValueFrom, setting: string): Promise<Buffer> => {
    const bytes =
      'env' in from
        ? readVariable(from.env, setting, sources)
        : await readAllowed(from.file, setting, sources);
    secrets.push(
      bytes.toString(),
      ...(isUtf8(bytes) ? [] : [bytes.toString('base64'), bytes.toString('hex')]),
    );
    return bytes;
  };
  const text = async (from: ValueFrom, setting: string): Promise<string> =>
    (await read(from, setting)).toString().replace(/\r?\n$/, '');
  try {
    const env = await resolveEnv(inputs.env ?? [], text);
    const files = await resolveFiles(inputs.files ?? [], read);
    const configSecrets: Record<string, string> = {};
    for (const [key, from] of Object.entries(inputs.configSecrets ?? {}))
      configSecrets[key] = await text(from, `configSecrets ${key}`);
    return { kind: 'resolved', values: { env, files, configSecrets, secrets } };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', why: error.message };
    throw error;
  }
}

async function resolveEnv(
  entries: NonNullable<RunInputs['env']>,
  text: (from: ValueFrom, setting: string) => Promise<string>,
): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const entry of entries) {
    if (RESERVED_ENV.has(entry.name)) throw new Refusal(`env ${entry.name} is set by the agent itself`);
    env[entry.name] = 'value' in entry ? entry.value : await text(entry.valueFrom, `env ${entry.name}`);
  }
  return env;
}

async function resolveFiles(
  entries: NonNullable<RunInputs['files']>,
  read: (from: ValueFrom, setting: string) => Promise<Buffer>,
): Promise<RunFile[]> {
  const files: RunFile[] = [];
  for (const { path, valueFrom, env } of entries) {
    const clean = normalize(path);
    if (isAbsolute(clean) || clean === '.' || clean.split(sep).includes('..'))
      throw new Refusal(`files ${path}: the path leaves the run's folder`);
    if (env !== undefined && RESERVED_ENV.has(env))
      throw new Refusal(`files ${path}: env ${env} is set by the agent itself`);
    files.push({
      path: clean,
      content: await read(valueFrom, `files ${path}`),
      ...(env === undefined ? {} : { env }),
    });
  }
  return files;
}

function readVariable(name: string, setting: string, sources: ValueSources): Buffer {
  if (!sources.allowEnv.includes(name))
    throw new Refusal(`${setting}: the agent does not allow its variable ${name} (allow-list of the agent)`);
  const value = sources.environment[name];
  if (value === undefined) throw new Refusal(`${setting}: the agent has no variable ${name}`);
  return Buffer.from(value);
}

/** Real paths are compared, so that a link in an allowed folder opens nothing else. */
async function readAllowed(path: string, setting: string, sources: ValueSources): Promise<Buffer> {
  const refuse = (why: string): Refusal => new Refusal(`${setting}: ${why} ${path}`);
  if (!isAbsolute(path)) throw refuse('a file is named by its full path, not');
  const allowed = await Promise.all(sources.allowFiles.map((one) => realpath(one).catch(() => undefined)));
  const within = (real: string): boolean =>
    allowed.some(
      (one) => one !== undefined && (real === one || real.startsWith(one.endsWith(sep) ? one : one + sep)),
    );
  const real = await realpath(path).catch(() => undefined);
  // whether a file exists is not told of places that may not be read
  if (real === undefined || !within(real))
    throw refuse('the agent does not allow, or does not have, the file');
  return readFile(real).catch(() => {
    throw refuse('the agent cannot read the file');
  });
}
