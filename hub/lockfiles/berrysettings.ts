/** What decides beside the lockfile which package a dependency leads to: `resolutions`, catalogs, extensions. */
import { parseResolution, parseSyml, type Resolution } from '@yarnpkg/parsers';
import { posix } from 'node:path';
import semver from 'semver';
import { normalRange, parseDescriptor, type Descriptor } from './berryranges.ts';

export interface BerrySettings {
  /** Makes ranges that `resolutions` take for the same one equal. */
  comparable(range: string): string;
  readonly resolutions: readonly { readonly pattern: Resolution; readonly range: string }[];
  /** By name of the catalog (`''` is the default one), ranges by name of the package. */
  readonly catalogs: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** What is added to the dependencies of packages. */
  readonly extensions: readonly {
    readonly target: Descriptor;
    readonly dependencies: readonly Descriptor[];
  }[];
  /** Folder of the archives, from the lockfile's folder. */
  readonly cacheFolder: string;
}

type Table = Readonly<Record<string, unknown>>;

/** As they stand in the files; `exact`: yarn 3 compares `resolutions` with ranges as both are written. */
export interface BerryFiles {
  readonly resolutions: unknown;
  readonly yarnrc: Buffer | undefined;
  readonly exact: boolean;
}

/** Reads the `resolutions` of the root and `.yarnrc.yml`. What cannot be read there is left to yarn to refuse. */
export function berrySettings({ resolutions, yarnrc, exact }: BerryFiles): BerrySettings {
  const settings = tolerant(() => parseSyml(yarnrc?.toString('utf8') ?? '') as Table) ?? {};
  const folder = settings['cacheFolder'];
  return {
    comparable: exact ? (range) => range : normalRange,
    resolutions: stringsOf(resolutions).flatMap(({ name, range }) => {
      const pattern = tolerant(() => parseResolution(name));
      return pattern === undefined ? [] : [{ pattern, range }];
    }),
    catalogs: new Map([
      ['', recordOf(settings['catalog'])],
      ...Object.entries(tableOf(settings['catalogs'])).map(([name, one]) => [name, recordOf(one)] as const),
    ]),
    extensions: Object.entries(tableOf(settings['packageExtensions'])).map(([target, one]) => ({
      target: parseDescriptor(target),
      dependencies: stringsOf(tableOf(one)['dependencies']),
    })),
    cacheFolder: typeof folder === 'string' ? posix.normalize(folder) : '.yarn/cache',
  };
}

function tolerant<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** A table, or an empty one in place of anything else. */
export const tableOf = (value: unknown): Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {};

/** The texts of a table, as names with ranges. */
export const stringsOf = (value: unknown): readonly Descriptor[] =>
  Object.entries(tableOf(value)).flatMap(([name, range]) =>
    typeof range === 'string' ? [{ name, range }] : [],
  );

const recordOf = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(stringsOf(value).map(({ name, range }) => [name, range]));

/** What is added to the dependencies of one package. */
export const extended = (
  { extensions }: BerrySettings,
  name: string,
  version: string,
): readonly Descriptor[] =>
  extensions.flatMap(({ target, dependencies }) =>
    target.name === name && semver.satisfies(version, target.range, { loose: true, includePrerelease: true })
      ? dependencies
      : [],
  );

/**
 * What a dependency of a package is replaced by: the first of the `resolutions` that fits it, or what its catalog says.
 * Undefined: by nothing.
 */
export function replaced(
  { comparable, resolutions, catalogs }: BerrySettings,
  { name, range }: Descriptor,
  locator: string,
): Descriptor | undefined {
  const fits = (wanted: Resolution['descriptor'], asked: Descriptor): boolean =>
    wanted.fullName === asked.name &&
    (wanted.description === undefined || comparable(wanted.description) === comparable(asked.range));
  const chosen = resolutions.find(
    ({ pattern: { from, descriptor } }) =>
      (from === undefined || fits(from, parseDescriptor(locator))) && fits(descriptor, { name, range }),
  );
  if (chosen !== undefined) return { name, range: chosen.range };
  if (!range.startsWith(CATALOG)) return undefined;
  const found = catalogs.get(range.slice(CATALOG.length))?.[name];
  return found === undefined ? undefined : { name, range: found };
}

const CATALOG = 'catalog:';
