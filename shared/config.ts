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

/**
 * Flags win over the environment, the environment over the default. An empty variable counts as not set. A list is
 * split at commas, and its flag may be repeated; of any other flag the last one counts.
 */
export function parseSettings<S extends Settings>(
  settings: S,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Parsed<S> {
  const flags = readFlags(settings, argv);
  if (flags.help) return { kind: 'help' };
  const errors = [...flags.errors];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const variable = environment[setting.env];
    const raw =
      flags.given.get(flagOf(name)) ?? (variable === undefined || variable === '' ? [] : [variable]);
    const read = readValue(setting, raw);
    if ('error' in read) errors.push(`--${flagOf(name)} (${setting.env}): ${read.error}`);
    else values[name] = read.value;
  }
  return errors.length > 0 ? { kind: 'errors', errors } : { kind: 'values', values: values as Values<S> };
}

/** All that was said for one setting; `true` and `false`: a flag without a value. */
type Raw = readonly (string | boolean)[];

interface Flags {
  readonly given: Map<string, Raw>;
  readonly errors: string[];
  help: boolean;
}

/** Not in strict mode, which stops at the first mistake. */
function readFlags(settings: Settings, argv: readonly string[]): Flags {
  const types = new Map(Object.entries(settings).map(([name, setting]) => [flagOf(name), setting.type]));
  const options = [...types].map(
    ([flag, type]) =>
      [flag, { type: type === 'boolean' ? ('boolean' as const) : ('string' as const) }] as const,
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(options),
    strict: false,
    tokens: true,
  });
  const flags: Flags = { given: new Map(), errors: [], help: false };
  for (const token of tokens) {
    if (token.kind === 'positional') flags.errors.push(`“${token.value}” is not a flag (see --help)`);
    if (token.kind === 'option') takeFlag(flags, types, token);
  }
  return flags;
}

interface FlagToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function takeFlag(flags: Flags, types: ReadonlyMap<string, SettingType>, token: FlagToken): void {
  const { name, value } = token;
  const positive = name.replace(/^no-/, '');
  if (name === 'help') flags.help = true;
  else if (types.has(name)) give(flags, name, isNextFlag(token) ? true : (value ?? true));
  else if (types.get(positive) === 'boolean' && value === undefined) give(flags, positive, false);
  else flags.errors.push(`${token.rawName} is not known (see --help)`);
}

/** `--data-dir --listen …`: the value was forgotten. One that begins with a dash is written `--flag=-value`. */
const isNextFlag = ({ value, inlineValue }: FlagToken): boolean =>
  inlineValue === false && value?.startsWith('-') === true;

const give = ({ given }: Flags, flag: string, value: string | boolean): void =>
  void given.set(flag, [...(given.get(flag) ?? []), value]);

function readValue(setting: Setting, raw: Raw): { value: unknown } | { error: string } {
  const last = raw.at(-1);
  if (last === undefined) return missingValue(setting);
  if (setting.type === 'boolean') return readBoolean(last);
  if (raw.some((part) => typeof part === 'boolean')) return { error: 'needs a value' };
  if (setting.type === 'list') return { value: raw.flatMap((part) => partsOf(String(part))) };
  if (setting.type === 'number') return readNumber(setting, String(last));
  return last === '' && setting.optional !== true ? { error: 'must not be empty' } : { value: last };
}

const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

function missingValue(setting: Setting): { value: unknown } | { error: string } {
  if (setting.default !== undefined) return { value: setting.default };
  if (setting.optional === true) return { value: setting.type === 'list' ? [] : '' };
  return { error: 'must be given' };
}

function readBoolean(raw: string | boolean): { value: boolean } | { error: string } {
  if (raw === true || raw === 'true' || raw === '1') return { value: true };
  if (raw === false || raw === 'false' || raw === '0') return { value: false };
  return { error: `“${raw}” is not true or false` };
}

function readNumber(setting: Setting, raw: string): { value: number } | { error: string } {
  const value = Number(raw);
  if (Number.isFinite(value) && raw.trim() !== '') return { value };
  return { error: `“${raw}” is not a number${setting.unit === undefined ? '' : ` (unit: ${setting.unit})`}` };
}

/** The text of `--help`. */
export function helpOf(usage: string, settings: Settings): string {
  const rows = Object.entries(settings).map(([name, setting]) => ({
    left:
      setting.type === 'boolean'
        ? `  --[no-]${flagOf(name)}`
        : `  --${flagOf(name)} <${setting.unit ?? setting.type}>`,
    right: `${setting.doc} [${setting.env}${defaultOf(setting)}]`,
  }));
  const width = Math.max(...rows.map((row) => row.left.length)) + 2;
  return [`Usage: ${usage}`, '', ...rows.map((row) => row.left.padEnd(width) + row.right), ''].join('\n');
}

function defaultOf(setting: Setting): string {
  if (setting.default === undefined) return setting.optional === true ? '' : ', required';
  return `, default ${Array.isArray(setting.default) ? (setting.default as string[]).join(',') || 'none' : String(setting.default)}`;
}
