/** A pnpm-lock.yaml of lockfile version 6 or 9, taken apart. */
import { dump, load } from 'js-yaml';
import { fieldsOf, textOf, type Fields } from './json.ts';

export interface PnpmDocument {
  /** The document that pnpm puts before its own for itself and its settings; with its separator. */
  readonly before: string;
  /** 6: snapshots stand among the packages, whose keys begin with `/`. */
  readonly version: 6 | 9;
  /** All but the sections below. */
  readonly head: Fields;
  readonly importers: Fields;
  readonly packages: Fields;
  /** Empty in version 6. */
  readonly snapshots: Fields;
}

const START = '---\n';
const BETWEEN = '\n---\n';
/** Sections of the only importer, which older versions put at the top. */
const IMPORTER = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'dependenciesMeta',
  'specifiers',
];

/** The document, or why it is one to be taken whole. */
export function parsePnpm(content: string): PnpmDocument | string {
  const { before, main } = apart(content.replaceAll('\r\n', '\n'));
  const fields = parseYaml(main);
  if (typeof fields === 'string') return fields;
  const written = fields['lockfileVersion'];
  const version = VERSIONS[String(written)];
  if (version === undefined) return `its lockfileVersion is ${JSON.stringify(written)}, not 6.0 or 9.0`;
  const { importers, packages, snapshots, ...rest } = fields;
  const [head, only] = importers === undefined ? withoutImporter(rest) : [rest, undefined];
  const sections = [only ?? importers, packages ?? {}, snapshots ?? {}].map(sectionOf);
  const [first, second, third] = sections;
  if (first === undefined || second === undefined || third === undefined)
    return 'its importers, packages or snapshots are not what pnpm writes';
  return { before, version, head, importers: first, packages: second, snapshots: third };
}

const VERSIONS: Readonly<Record<string, 6 | 9>> = { '6.0': 6, '6.1': 6, '9.0': 9 };

function apart(text: string): { readonly before: string; readonly main: string } {
  const cut = text.startsWith(START) ? text.indexOf(BETWEEN, START.length) : -1;
  if (cut < 0) return { before: '', main: text };
  return { before: text.slice(0, cut + BETWEEN.length), main: text.slice(cut + BETWEEN.length) };
}

/** pnpm writes no aliases; with them a small file could be a huge one. */
function parseYaml(text: string): Fields | string {
  try {
    return fieldsOf(load(text, { maxAliases: 0 })) ?? 'it is not a map';
  } catch (error) {
    return `it cannot be read: ${(error as Error).message.split('\n')[0] ?? ''}`;
  }
}

const withoutImporter = (fields: Fields): readonly [Fields, Fields] => {
  const split = (at: boolean): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => IMPORTER.includes(name) === at));
  return [split(false), { '.': split(true) }];
};

/** Entries that are maps; one without fields may be written as nothing. */
function sectionOf(value: unknown): Fields | undefined {
  const entries = Object.entries(fieldsOf(value) ?? {});
  if (entries.some(([, entry]) => entry !== null && fieldsOf(entry) === undefined)) return undefined;
  return Object.fromEntries(entries.map(([key, entry]) => [key, fieldsOf(entry) ?? {}]));
}

/** YAML of a map as it stands at the top of a file. */
export const yamlOf = (fields: Fields): string =>
  Object.keys(fields).length === 0 ? '' : dump(fields, { lineWidth: -1, noRefs: true });

/** YAML of one entry of a section. */
export const entryYaml = (key: string, value: Fields): string =>
  yamlOf({ [key]: value })
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');

/** Specifier and version of each dependency of an importer; older files write the version alone. */
export function resolutionsOf(section: unknown): readonly PnpmResolution[] {
  return Object.entries(fieldsOf(section) ?? {}).flatMap(([name, value]) => {
    const version = textOf(value) ?? textOf(fieldsOf(value)?.['version']);
    if (version === undefined) return [];
    return [{ name, specifier: textOf(fieldsOf(value)?.['specifier']) ?? '', version }];
  });
}

export interface PnpmResolution {
  readonly name: string;
  readonly specifier: string;
  readonly version: string;
}
