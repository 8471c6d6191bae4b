/** What the tsconfig.json of a folder reads, and how it maps imports. */
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { isFields } from '../../fields.ts';
import { folderOf, inside, isBelow, joinPath } from '../paths.ts';
import type { Parser, Question, View } from '../view.ts';
import type { Mapping } from './mapping.ts';
import { packageOf } from './specifier.ts';
import type { Roots } from './globs.ts';
import { hasWorkspaces, workspaceFolders } from './workspaces.ts';

interface Config {
  readonly extends: readonly string[];
  readonly references: readonly string[];
  /** Files and folders that are compiled or declare types. */
  readonly reads: readonly string[];
  readonly baseUrl?: string;
  readonly paths?: readonly (readonly [string, readonly string[]])[];
  readonly broken?: string;
}

/** Bytes. */
const MAX_BYTES = 1024 * 1024;
/** That one tsconfig file leads to. */
const MAX_FILES = 500;

const CONFIG: Parser<Config> = {
  name: 'nodejs/tsconfig',
  parse: (content) => {
    const errors: ParseError[] = [];
    const small = content.length <= MAX_BYTES;
    const text = small ? content.toString('utf8').replace(/^\uFEFF/, '') : '{}';
    const value = valueOf(text, errors);
    if (value === TOO_DEEP) return { ...configOf({}), broken: 'is nested too deep' };
    const [error] = errors;
    const read = configOf(isFields(value) ? value : {});
    if (!small) return { ...read, broken: `has more than ${MAX_BYTES} bytes` };
    return error === undefined
      ? read
      : { ...read, broken: `has a mistake (${printParseErrorCode(error.error)})` };
  },
};

const TOO_DEEP = Symbol('too deep');

/** The library descends into what it reads. */
function valueOf(text: string, errors: ParseError[]): unknown {
  try {
    return parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

function configOf(fields: Readonly<Record<string, unknown>>): Config {
  const options = isFields(fields['compilerOptions']) ? fields['compilerOptions'] : {};
  const { baseUrl, paths } = options;
  const references = Array.isArray(fields['references']) ? fields['references'].map(pathOf) : [];
  return {
    extends: texts(fields['extends']),
    references: texts(references),
    reads: [
      ...texts(fields['files']),
      ...texts(options['typeRoots']),
      ...texts(options['rootDirs']),
      ...texts(fields['include']).map(fixedPart),
    ],
    ...(typeof baseUrl === 'string' ? { baseUrl } : {}),
    ...(isFields(paths)
      ? { paths: Object.entries(paths).map(([name, to]) => [name, texts(to)] as const) }
      : {}),
  };
}

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((text): text is string => typeof text === 'string');

const pathOf = (reference: unknown): unknown => (isFields(reference) ? reference['path'] : undefined);

/** Folder before the first wildcard of an `include`. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/');
  const wild = parts.findIndex((part) => /[*?]/.test(part));
  return wild < 0 ? pattern : parts.slice(0, wild).join('/') || '.';
}

export type Compiled = {
  /** tsconfig files, and other files by name. */
  readonly files: string[];
  /** Folders that it takes types and sources from; those of references are built with it. */
  readonly folders: string[];
  readonly mapping: Mapping | null;
  readonly warnings: string[];
};

/** Everything that a tsconfig file leads to. The workspaces decide what an `extends` with the name of a package means. */
export const compiledBy = (roots: Roots, path: string): Question<Compiled> => ({
  key: `nodejs/tsconfig\0${roots.manager ?? ''}\0${roots.root}\0${path}`,
  answer: (view) => {
    const found: Found = { files: new Set(), folders: new Set(), warnings: new Set() };
    const top = read(view, { roots, path, found, seen: new Set() });
    const { base, paths } = top;
    const mapping = base === null && paths.length === 0 ? null : { base, paths };
    return {
      files: [...found.files].sort(),
      folders: [...found.folders].sort(),
      mapping,
      warnings: [...found.warnings],
    };
  },
});

interface Found {
  readonly files: Set<string>;
  readonly folders: Set<string>;
  readonly warnings: Set<string>;
}

interface At {
  readonly roots: Roots;
  readonly path: string;
  readonly found: Found;
  readonly seen: Set<string>;
}

const NO_MAPPING: Mapping = { base: null, paths: [] };

/** The file, what it extends before it: what a later one says holds. A ring of files ends where it began. */
function read(view: View, at: At): Mapping {
  const { path, found, seen } = at;
  if (seen.has(path) || view.entry(path) === undefined) return NO_MAPPING;
  if (seen.size >= MAX_FILES)
    found.warnings.add(`${path} and more are not read: over ${MAX_FILES} files extend each other`);
  if (seen.size >= MAX_FILES) return NO_MAPPING;
  seen.add(path);
  found.files.add(path);
  const config = view.parsed(path, CONFIG);
  if (config === undefined) return NO_MAPPING;
  if (config.broken !== undefined)
    found.warnings.add(`${path} ${config.broken}: what it extends or maps may be missed`);
  const folder = folderOf(path);
  let mapping = NO_MAPPING;
  for (const base of config.extends) {
    const next = extended(view, at, base);
    if (next === undefined) continue;
    const inherited = read(view, { ...at, path: next });
    mapping = {
      base: inherited.base ?? mapping.base,
      paths: inherited.paths.length > 0 ? inherited.paths : mapping.paths,
    };
  }
  for (const reference of config.references) followReference(view, at, joinPath(folder, reference));
  for (const place of config.reads) addRead(view, at, place);
  return withOwn(config, folder, mapping);
}

function withOwn({ baseUrl, paths }: Config, folder: string, inherited: Mapping): Mapping {
  const base = baseUrl === undefined ? inherited.base : (joinPath(folder, withoutTemplate(baseUrl)) ?? null);
  if (paths === undefined) return { base, paths: inherited.paths };
  const from = base ?? folder;
  return {
    base,
    paths: paths.map(([name, to]) => [
      name,
      to.map((path) => joinPath(from, withoutTemplate(path))).filter((path) => path !== undefined),
    ]),
  };
}

/** `${configDir}` is the folder of the file that nothing extends; files that use it stand beside it in practice. */
const withoutTemplate = (path: string): string => path.replace(/^\$\{configDir\}\/?/, './');

/** A file by path, with or without `.json`; or one in a package, which is of interest only where it is a workspace. */
function extended(view: View, { roots, path, found }: At, base: string): string | undefined {
  const isPath = /^(?:\.{1,2}(?:\/|$)|\/)/.test(base);
  const target = isPath ? joinPath(folderOf(path), base) : inWorkspace(view, roots, base);
  if (target === undefined) {
    if (isPath) found.warnings.add(`${path} extends ${base}, which is outside of the repository`);
    return undefined;
  }
  const candidates = [target, `${target}.json`, inside(target, 'tsconfig.json')];
  const hit = candidates.find((candidate) => view.entry(candidate) !== undefined);
  if (hit === undefined) found.warnings.add(`${path} extends ${base}, but the commit has no ${target}`);
  return hit;
}

function inWorkspace(view: View, roots: Roots, specifier: string): string | undefined {
  const name = packageOf(specifier);
  const [folder] = hasWorkspaces(view, roots) ? view.fact(workspaceFolders(roots, name)) : [];
  return folder === undefined
    ? undefined
    : (joinPath(folder, `.${specifier.slice(name.length)}`) ?? undefined);
}

/** A reference is a folder with a tsconfig.json, or such a file; its folder is built with the project. */
function followReference(view: View, at: At, target: string | undefined): void {
  if (target === undefined) return;
  const path = view.entry(target) === undefined ? inside(target, 'tsconfig.json') : target;
  if (view.entry(path) === undefined) return;
  const folder = folderOf(path);
  if (!isBelow(at.path, folder)) at.found.folders.add(folder);
  read(view, { ...at, path });
}

function addRead(view: View, { path, found }: At, place: string): void {
  const target = joinPath(folderOf(path), withoutTemplate(place));
  if (target === undefined || isBelow(path, target)) return;
  if (view.entry(target) !== undefined) found.files.add(target);
  else if (view.hasFolder(target) && !target.split('/').includes('node_modules')) found.folders.add(target);
}
