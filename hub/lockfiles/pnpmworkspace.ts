/** pnpm-workspace.yaml, cut down to what an install of one workspace reads. */
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { changeFields, fieldsOf, textPairs, type Fields } from './json.ts';
import { cutCatalogs } from './pnpm.ts';
import { yamlOf } from './pnpmdocument.ts';
import { catalogUse } from './pnpmfound.ts';
import { cutPatches, cutRules, subjectOf } from './rules.ts';
import type { Cut } from './rootmanifest.ts';
import { cutWorkspaces } from './workspaces.ts';

export interface CutWorkspace {
  readonly text: string;
  /** Patches of packages in the slice, from the root. */
  readonly paths: readonly string[];
}

/** Aliases of a file that people write; each is written out, so that many in many would be a huge file. */
const MAX_ALIASES = 20;

/**
 * The cut text. What is not known stays, so does a file that cannot be read. A file without `packages` is of a single
 * project. Settings that every install reads stay whole: hoisting, scripts that may run, extensions of packages.
 */
export function cutPnpmWorkspace(content: string, cut: Cut): CutWorkspace {
  let fields: Fields | undefined;
  try {
    fields = fieldsOf(load(content, { schema: CORE_SCHEMA.withTags(mergeTag), maxAliases: MAX_ALIASES }));
  } catch {
    fields = undefined;
  }
  if (fields === undefined) return { text: content, paths: [] };
  const kept = cutFields(fields, cut);
  return { text: yamlOf(kept), paths: patchPaths(kept['patchedDependencies']) };
}

/** Files of a map of patches. */
export const patchPaths = (patches: unknown): readonly string[] =>
  textPairs(patches).map(([, path]) => path.replace(/^\.\//, ''));

function cutFields(fields: Fields, { folder, slice }: Cut): Fields {
  const { packages: names, catalogs = new Set<string>() } = slice;
  const { catalog, catalogs: named, ...rest } = fields;
  const kept = changeFields(rest, (field, value) => {
    switch (field) {
      case 'packages':
        return cutPackages(value, [folder, ...slice.workspaces]);
      case 'overrides':
        return cutRules(value, names);
      case 'patchedDependencies':
        return cutPatches(value, names);
      default:
        return value;
    }
  });
  const used = new Set([...catalogs, ...usesIn(kept)]);
  const one = cutCatalogs({ default: catalog }, (use) => used.has(use));
  const many = cutCatalogs(named, (use) => used.has(use));
  return {
    ...kept,
    ...(fieldsOf(one) === undefined ? {} : { catalog: fieldsOf(one)?.['default'] }),
    ...(many === undefined ? {} : { catalogs: many }),
  };
}

/** The root is a workspace without being named; named when there is no other, since an empty list is refused. */
function cutPackages(packages: unknown, folders: readonly string[]): unknown {
  const kept = cutWorkspaces(packages, folders);
  return Array.isArray(kept) && kept.length === 0 ? ['.'] : kept;
}

/** Entries of catalogs that settings name, at any depth. */
function usesIn(value: unknown, seen: Set<unknown> = new Set()): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    typeof inner === 'string' ? (catalogUse(subjectOf(name), inner) ?? []) : usesIn(inner, seen),
  );
}
