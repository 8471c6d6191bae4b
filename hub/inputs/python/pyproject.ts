/** pyproject.toml, Pipfile and uv.toml: what they name of the repository. */
import { parse, TomlError } from 'smol-toml';
import { isFields } from '../../fields.ts';
import { isOutward } from '../literals.ts';
import { textParser } from '../parsers.ts';
import { localPath, requirementPath } from './requirements.ts';

export interface Source {
  readonly path?: string;
  /** The package is a member of the workspace. */
  readonly workspace?: true;
}

export interface Pyproject {
  /** Name of the project, as packages are compared. */
  readonly name?: string;
  /** Names of all packages that it asks for, whatever for. */
  readonly requires: readonly string[];
  /** Where uv takes packages from, by name. */
  readonly sources: Readonly<Record<string, readonly Source[]>>;
  /** Projects, archives and folders of archives that it names. */
  readonly paths: readonly string[];
  /** Files that a build reads from outside of the folder. */
  readonly outward: readonly string[];
  /** Texts of the tables that a build reads; some are files and folders of the package. */
  readonly texts: readonly string[];
  readonly workspace?: { readonly members: readonly string[]; readonly exclude: readonly string[] };
}

/** Reads any of the three. */
export const pyprojectParser = textParser('pyproject', readPyproject, (error) =>
  error instanceof TomlError ? error.line : 1,
);

/** Names that differ in case, or in which of “-_.” they have, are the same package. */
export const packageName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

/** Tools that build packages, or say what they are built from. */
const BUILD_TOOLS = [
  'flit',
  'hatch',
  'maturin',
  'mesonpy',
  'pdm',
  'poetry',
  'scikit-build',
  'setuptools',
  'setuptools_scm',
  'uv',
] as const;

/** Texts that are looked at; a file with more is no description of a package. */
const MAX_TEXTS = 5_000;

function readPyproject(text: string): Pyproject {
  const file: unknown = parse(text);
  const project = fieldsOf(file, 'project');
  const tool = fieldsOf(file, 'tool');
  const uv = { ...fieldsOf(tool, 'uv'), ...uvSettings(file) };
  const poetry = fieldsOf(tool, 'poetry');
  const listed = textsIn([
    project['dependencies'],
    project['optional-dependencies'],
    fieldsOf(file, 'dependency-groups'),
    fieldsOf(file, 'build-system')['requires'],
    ...UV_LISTS.map((name) => uv[name]),
    fieldsOf(tool, 'pdm')['dev-dependencies'],
  ]);
  const tables = [...poetryTables(poetry), fieldsOf(file, 'packages'), fieldsOf(file, 'dev-packages')];
  const texts = textsIn([project, file, ...BUILD_TOOLS.map((name) => tool[name])].map(withoutTools));
  const name = project['name'] ?? poetry['name'];
  return {
    ...(typeof name === 'string' ? { name: packageName(name) } : {}),
    requires: [...listed, ...tables.flatMap((table) => Object.keys(table))].map(requiredName),
    sources: sourcesOf(uv['sources']),
    paths: [
      ...listed.flatMap((one) => requirementPath(one.replace(/^-e\s+/, '')) ?? []),
      ...tables.flatMap(pathsOf),
      ...textsIn([
        uv['find-links'],
        uv['index'],
        uv['index-url'],
        uv['extra-index-url'],
        poetry['source'],
      ]).flatMap((one) => localPath(one) ?? []),
    ],
    outward: texts.filter(isOutward),
    texts,
    ...workspaceOf(uv['workspace']),
  };
}

/** Lists of requirements that uv reads beside the standard ones. */
const UV_LISTS = [
  'dev-dependencies',
  'constraint-dependencies',
  'override-dependencies',
  'build-constraint-dependencies',
] as const;

/** In uv.toml the same settings stand at the top. */
const uvSettings = (file: unknown): Readonly<Record<string, unknown>> =>
  isFields(file) && file['project'] === undefined && file['tool'] === undefined ? file : {};

/** Other tools' tables say nothing of a build. */
const withoutTools = (value: unknown): unknown =>
  isFields(value) && value['tool'] !== undefined ? { ...value, tool: null } : value;

function poetryTables(poetry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  const groups = Object.values(fieldsOf(poetry, 'group')).map((group) => fieldsOf(group, 'dependencies'));
  return [fieldsOf(poetry, 'dependencies'), fieldsOf(poetry, 'dev-dependencies'), ...groups];
}

/** `name = { path = "../lib" }`, or a list of such. */
const pathsOf = (table: Readonly<Record<string, unknown>>): string[] =>
  Object.values(table)
    .flat()
    .flatMap((value) => {
      const path = fieldsOf({ value }, 'value')['path'];
      const file = fieldsOf({ value }, 'value')['file'];
      return [path, file].filter((one) => typeof one === 'string');
    });

function sourcesOf(table: unknown): Record<string, readonly Source[]> {
  const sources: Record<string, readonly Source[]> = {};
  for (const [name, value] of Object.entries(isFields(table) ? table : {}))
    sources[packageName(name)] = [value].flat().flatMap((one): Source[] => {
      const { path, workspace } = fieldsOf({ one }, 'one');
      if (typeof path === 'string') return [{ path }];
      return workspace === true ? [{ workspace }] : [];
    });
  return sources;
}

function workspaceOf(value: unknown): Pick<Pyproject, 'workspace'> {
  if (!isFields(value)) return {};
  return { workspace: { members: textsIn([value['members']]), exclude: textsIn([value['exclude']]) } };
}

const requiredName = (requirement: string): string =>
  packageName(/^[A-Za-z0-9][A-Za-z0-9._-]*/.exec(requirement.trim())?.[0] ?? '');

const fieldsOf = (value: unknown, name: string): Readonly<Record<string, unknown>> => {
  const inner = isFields(value) ? value[name] : undefined;
  return isFields(inner) ? inner : {};
};

/** Texts in values at any depth, and the keys that are paths. */
function textsIn(values: readonly unknown[]): string[] {
  const found: string[] = [];
  const open = [...values];
  for (let at = 0; at < open.length && found.length < MAX_TEXTS; at++) {
    const value = open[at];
    if (typeof value === 'string') found.push(value);
    else if (value !== null && typeof value === 'object') {
      if (!Array.isArray(value)) found.push(...Object.keys(value).filter(isOutward));
      for (const inner of Object.values(value)) open.push(inner);
    }
  }
  return found;
}
