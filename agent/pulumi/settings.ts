/**
 * The stack's settings file, `Pulumi.<stack>.yaml`, as one run needs it: the repository's own, then the order's config,
 * then its secrets (already encrypted for this stack), later ones winning.
 */
import { parse, stringify } from 'yaml';
import type { Json, RunInputs } from '../../shared/wire.ts';

export interface StackSettings {
  readonly secretsprovider?: string;
  readonly encryptionsalt?: string;
  readonly encryptedkey?: string;
  readonly config?: Readonly<Record<string, Json>>;
  readonly [other: string]: unknown;
}

export interface Project {
  readonly name: string;
  readonly runtime: string;
  /** Name of the project file, such as `Pulumi.yaml`. */
  readonly file: string;
  /** Folder of settings files, from the project folder. */
  readonly settingsDir: string;
  readonly backendUrl?: string;
  /** Folder of a Python program's virtual environment, from the project folder. */
  readonly virtualenv?: string;
}

export type Read<T> =
  { readonly kind: 'read'; readonly value: T } | { readonly kind: 'bad'; readonly why: string };

/** The names that Pulumi looks for, in its order. */
export const PROJECT_FILES = ['Pulumi.yaml', 'Pulumi.yml', 'Pulumi.json'] as const;

/** What a run needs of Pulumi.yaml. */
export function readProject(text: string, file: string): Read<Project> {
  const read = readMap(text, file);
  if (read.kind === 'bad') return read;
  const { name, runtime, stackConfigDir, config, backend } = read.value;
  if (typeof name !== 'string' || name === '') return { kind: 'bad', why: `${file} has no name` };
  const runtimeName = typeof runtime === 'string' ? runtime : textIn(runtime, 'name');
  if (runtimeName === undefined) return { kind: 'bad', why: `${file} names no runtime` };
  const dir = typeof stackConfigDir === 'string' ? stackConfigDir : typeof config === 'string' ? config : '.';
  const backendUrl = textIn(backend, 'url');
  const virtualenv = textIn((runtime as { options?: unknown } | null)?.options, 'virtualenv');
  return {
    kind: 'read',
    value: {
      name,
      runtime: runtimeName,
      file,
      settingsDir: dir,
      ...(backendUrl === undefined ? {} : { backendUrl }),
      ...(virtualenv === undefined ? {} : { virtualenv }),
    },
  };
}

function textIn(value: unknown, field: string): string | undefined {
  const found = (value as Record<string, unknown> | null | undefined)?.[field];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function readMap(text: string, file: string): Read<Record<string, unknown>> {
  try {
    const value: unknown = parse(text) ?? {};
    return typeof value === 'object' && !Array.isArray(value)
      ? { kind: 'read', value: value as Record<string, unknown> }
      : { kind: 'bad', why: `${file} is not a map` };
  } catch (error) {
    return { kind: 'bad', why: `${file}: ${(error as Error).message.split('\n')[0]}` };
  }
}

/** `Pulumi.<last part of the stack's name>.<extension of the project file>`. */
export const settingsFile = (project: Project, pulumiStack: string): string =>
  `Pulumi.${pulumiStack.split('/').at(-1) ?? pulumiStack}.${project.file.split('.').at(-1) ?? 'yaml'}`;

export type SettingsInputs = Pick<RunInputs, 'stackConfig' | 'secretsProvider' | 'config'>;

/** The repository's file with the order's plain settings in it. `text` is undefined when there is no such file. */
export function mergeSettings(
  text: string | undefined,
  file: string,
  order: { readonly inputs: SettingsInputs; readonly project: string; readonly encryption?: string },
): Read<StackSettings> {
  const { inputs, project, encryption } = order;
  if (text === undefined && inputs.stackConfig === 'require')
    return { kind: 'bad', why: `${file} is required and missing` };
  const read = readMap(inputs.stackConfig === 'ignore' ? '' : (text ?? ''), file);
  if (read.kind === 'bad') return read;
  const own = read.value as StackSettings;
  const clash = providerClash(own, inputs.secretsProvider);
  if (clash !== undefined) return { kind: 'bad', why: `${file}: ${clash}` };
  return {
    kind: 'read',
    value: {
      ...own,
      ...(isCloud(inputs.secretsProvider) ? { secretsprovider: inputs.secretsProvider } : {}),
      ...encryptionFields(own, encryption),
      config: { ...qualified(own.config ?? {}, project), ...qualified(inputs.config ?? {}, project) },
    },
  };
}

/** `passphrase` and `default` are what Pulumi does without a provider. */
export const isCloud = (provider: string | undefined): provider is string =>
  provider !== undefined && provider !== 'passphrase' && provider !== 'default';

function providerClash(own: StackSettings, wanted: string | undefined): string | undefined {
  if (wanted === undefined) return undefined;
  const has = own.secretsprovider ?? (own.encryptionsalt === undefined ? undefined : 'passphrase');
  return has === undefined || has === wanted
    ? undefined
    : `its secrets provider is ${has}, the stack says ${wanted}`;
}

/**
 * The file's own state wins: values in it that are encrypted need it. A salt is `v1:…:v1:…:…`; a key is base64 and has no
 * colon.
 */
function encryptionFields(own: StackSettings, known: string | undefined): StackSettings {
  if (known === undefined || encryptionOf(own) !== undefined) return {};
  return known.includes(':') ? { encryptionsalt: known } : { encryptedkey: known };
}

/** A key without a namespace belongs to the project. */
export const qualifiedKey = (key: string, project: string): string =>
  key.includes(':') ? key : `${project}:${key}`;

const qualified = (config: Readonly<Record<string, Json>>, project: string): Record<string, Json> =>
  Object.fromEntries(Object.entries(config).map(([key, value]) => [qualifiedKey(key, project), value]));

/** What a settings file says of the stack's encryption: its salt or its key, as one opaque text for the ledger. */
export const encryptionOf = ({ encryptionsalt, encryptedkey }: StackSettings): string | undefined =>
  encryptionsalt ?? encryptedkey;

/** Adds values that are encrypted for this stack. */
export const withSecrets = (
  settings: StackSettings,
  secure: Readonly<Record<string, string>>,
): StackSettings => ({
  ...settings,
  config: {
    ...settings.config,
    ...Object.fromEntries(Object.entries(secure).map(([key, value]) => [key, { secure: value }])),
  },
});

/** The file's text: JSON where the project file is JSON. */
export const renderSettings = (settings: StackSettings, file: string): string =>
  file.endsWith('.json') ? `${JSON.stringify(settings, null, 2)}\n` : stringify(settings);

/** The same for reading back what Pulumi made of it. */
export const parseSettings = (text: string, file: string): Read<StackSettings> => readMap(text, file);
