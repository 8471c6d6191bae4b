/** pnpm-workspace.yaml, cut down to what an install of one workspace reads. */
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { changeFields, fieldsOf, type Fields } from './json.ts';
import { cutCatalogs } from './pnpm.ts';
import { yamlOf } from './pnpmdocument.ts';
import { catalogUse } from './pnpmfound.ts';
import { cutPatches, cutRules, subjectOf } from './rules.ts';
import { patchPaths, type Cut, type CutFile } from './rootmanifest.ts';
import { cutWorkspaces } from './workspaces.ts';

/** Aliases of a file that people write; each is written out, so that many in many would be a huge file. */
const MAX_ALIASES = 20;

/**
 * The cut text. What is not known stays, so does a file that cannot be read. A file without `packages` is of a single
 * project. Settings that every install reads stay whole: hoisting, scripts that may run, extensions of packages.
 */
export function cutPnpmWorkspace(content: string, cut: Cut): CutFile {
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

function cutFields(fields: Fields, { folder, slice }: Cut): Fields {
  const { catalog, catalogs: named, ...rest } = fields;
  const kept = changeFields(rest, (field, value) => {
    switch (field) {
      case 'packages':
        return cutPackages(value, [folder, ...slice.workspaces]);
      case 'overrides':
        return cutRules(value, slice.packages);
      case 'patchedDependencies':
        return cutPatches(value, slice.packages);
      default:
        return value;
    }
  });
  const used = new Set(usesIn(kept));
  const { catalogs } = slice;
  const isUsed = (use: string): boolean => catalogs === undefined || catalogs.has(use) || used.has(use);
  const one = cutCatalogs({ default: catalog }, isUsed);
  const many = cutCatalogs(named, isUsed);
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
