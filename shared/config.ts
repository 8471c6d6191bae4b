/**
 * Settings of a process, declared once: flag, environment variable, type, unit, default and a line of help.
 * Everything that is wrong is said at once. Reads no environment itself: the two mains pass it in.
 */
import { parseArgs } from 'node:util';

export type SettingType = 'string' | 'number' | 'boolean' | 'list';

export interface Setting {
  readonly env: string;
  readonly type: SettingType;
  readonly doc: string;
  readonly unit?: string;
  /** Absent: the setting must be given. */
  readonly default?: string | number | boolean | readonly string[];
  /** May be left out without a default; its value is then the empty string. */
  readonly optional?: true;
}

export type Settings = Readonly<Record<string, Setting>>;

type ValueOf<T extends SettingType> = T extends 'number'
  ? number
  : T extends 'boolean'
    ? boolean
    : T extends 'list'
      ? readonly string[]
      : string;

export type Values<S extends Settings> = { readonly [K in keyof S]: ValueOf<S[K]['type']> };

export type Parsed<S extends Settings> =
  | { readonly kind: 'values'; readonly values: Values<S> }
  | { readonly kind: 'help' }
  | { readonly kind: 'errors'; readonly errors: readonly string[] };

/** `dataDir` is the flag `--data-dir`. */
export const flagOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Flags win over the environment, the environment over the default. */
export function parseSettings<S extends Settings>(
  settings: S,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Parsed<S> {
  const flags = readFlags(settings, argv);
  if ('errors' in flags) return { kind: 'errors', errors: flags.errors };
  if (flags.given['help'] === true) return { kind: 'help' };
  const errors: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const raw = flags.given[flagOf(name)] ?? environment[setting.env];
    const read = readValue(setting, raw);
    if ('error' in read) errors.push(`--${flagOf(name)} (${setting.env}): ${read.error}`);
    else values[name] = read.value;
  }
  return errors.length > 0 ? { kind: 'errors', errors } : { kind: 'values', values: values as Values<S> };
}

type Given = Readonly<Record<string, string | boolean | string[] | undefined>>;

function readFlags(settings: Settings, argv: readonly string[]): { given: Given } | { errors: string[] } {
  const options = Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [
      flagOf(name),
      {
        type: setting.type === 'boolean' ? ('boolean' as const) : ('string' as const),
        multiple: setting.type === 'list',
      },
    ]),
  );
  try {
    const parsed = parseArgs({
      args: [...argv],
      options: { ...options, help: { type: 'boolean' } },
      allowNegative: true,
      strict: true,
    });
    return { given: parsed.values as Given };
  } catch (error) {
    return { errors: [`${(error as Error).message} (see --help)`] };
  }
}

type Raw = string | boolean | string[] | undefined;

function readValue(setting: Setting, raw: Raw): { value: unknown } | { error: string } {
  if (raw === undefined) return missingValue(setting);
  switch (setting.type) {
    case 'string':
      return { value: String(raw) };
    case 'list':
      return {
        value: Array.isArray(raw)
          ? raw
          : String(raw)
              .split(',')
              .map((part) => part.trim())
              .filter(Boolean),
      };
    case 'boolean':
      return readBoolean(raw);
    case 'number': {
      const value = Number(raw);
      return Number.isFinite(value) && String(raw).trim() !== ''
        ? { value }
        : {
            error: `“${String(raw)}” is not a number${setting.unit === undefined ? '' : ` (unit: ${setting.unit})`}`,
          };
    }
  }
}

function missingValue(setting: Setting): { value: unknown } | { error: string } {
  if (setting.default !== undefined) return { value: setting.default };
  if (setting.optional === true) return { value: setting.type === 'list' ? [] : '' };
  return { error: 'must be given' };
}

function readBoolean(raw: Raw): { value: boolean } | { error: string } {
  if (raw === true || raw === 'true' || raw === '1') return { value: true };
  if (raw === false || raw === 'false' || raw === '0') return { value: false };
  return { error: `“${String(raw)}” is not true or false` };
}

/** The text of `--help`. */
export function helpOf(usage: string, settings: Settings): string {
  const rows = Object.entries(settings).map(([name, setting]) => ({
    left: `  --${flagOf(name)}${setting.type === 'boolean' ? '' : ` <${setting.unit ?? setting.type}>`}`,
    right: `${setting.doc} [${setting.env}${defaultOf(setting)}]`,
  }));
  const width = Math.max(...rows.map((row) => row.left.length)) + 2;
  return [`Usage: ${usage}`, '', ...rows.map((row) => row.left.padEnd(width) + row.right), ''].join('\n');
}

function defaultOf(setting: Setting): string {
  if (setting.default === undefined) return setting.optional === true ? '' : ', required';
  return `, default ${Array.isArray(setting.default) ? (setting.default as string[]).join(',') || 'none' : String(setting.default)}`;
}
