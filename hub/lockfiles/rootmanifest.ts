/** The package.json of a root of workspaces, cut down to what an install of one workspace reads. */
import { changeFields, fieldsOf, parseFields, textPairs, type Fields } from './json.ts';
import type { Slice } from './lockfile.ts';
import { cutPatches, cutRules } from './rules.ts';
import { cutScripts } from './scripts.ts';
import { cutWorkspaces } from './workspaces.ts';

export interface Cut {
  /** Folder of the workspace, from the root's. */
  readonly folder: string;
  readonly slice: Pick<Slice, 'packages' | 'workspaces' | 'catalogs'>;
  /** Commands that are run in the root after the install; scripts that they name stay. */
  readonly commands?: readonly string[];
}

/** A file beside the lockfile, with the patches of packages in the slice that it names, from the root. */
export interface CutFile {
  readonly text: string;
  readonly paths: readonly string[];
}

/** Fields that tell people of a package, or set up tools that no install and no program of it runs. */
const IDLE: ReadonlySet<string> = new Set([
  ...['description', 'keywords', 'author', 'contributors', 'maintainers', 'homepage', 'bugs', 'repository'],
  ...['funding', 'eslintConfig', 'eslintIgnore', 'prettier', 'stylelint', 'lint-staged', 'commitlint'],
  ...['jest', 'ava', 'nyc', 'c8', 'mocha', 'release', 'release-it', 'renovate'],
]);

/**
 * The cut text. What is not known stays, so does a file that is not a JSON object. The same slice, and the same of all
 * that stays, give the same text.
 */
export function cutRootManifest(content: string, cut: Cut): CutFile {
  const fields = parseFields(content);
  if (fields === undefined) return { text: content, paths: [] };
  const kept = cutFields(fields, cut);
  const patches = [kept, fieldsOf(kept['pnpm']) ?? {}].flatMap((some) =>
    patchPaths(some['patchedDependencies']),
  );
  return { text: `${JSON.stringify(kept, null, 2)}\n`, paths: patches };
}

/** Files of a map of patches. */
export const patchPaths = (patches: unknown): readonly string[] =>
  textPairs(patches).map(([, path]) => path.replace(/^\.\//, ''));

function cutFields(fields: Fields, { folder, slice, commands = [] }: Cut): Fields {
  return changeFields(fields, (name, value) => {
    if (IDLE.has(name)) return undefined;
    switch (name) {
      case 'scripts':
        return cutScripts(value, commands);
      case 'workspaces':
        return cutWorkspaces(value, [folder, ...slice.workspaces]);
      case 'overrides':
      case 'resolutions':
        return cutRules(value, slice.packages);
      case 'patchedDependencies':
        return cutPatches(value, slice.packages);
      case 'pnpm':
        return cutPnpm(value, slice.packages);
      default:
        return value;
    }
  });
}

/** The settings that pnpm 10 and earlier read from package.json. */
function cutPnpm(value: unknown, names: ReadonlySet<string>): unknown {
  const fields = fieldsOf(value);
  if (fields === undefined) return value;
  return changeFields(fields, (name, setting) => {
    if (name === 'overrides') return cutRules(setting, names);
    return name === 'patchedDependencies' ? cutPatches(setting, names) : setting;
  });
}
