/**
 * What lies around an artifact in its repository and is not in it: by what it carries, an agent tells a question about
 * something undeclared from one about something that is nowhere. Pure.
 */
import { posix } from 'node:path';
import * as z from 'zod';

/** One folder that holds files of the artifact, and something besides. */
export const partialFolderSchema = z.object({
  /** Names in it that are in the repository and not in the artifact; those of folders end with `/`. */
  undeclared: z.array(z.string()).optional(),
  /** There are more than fit: every name that is not in the artifact counts as undeclared, but for {@link TOOL_NAMES}. */
  closed: z.literal(true).optional(),
  /** Files that are left out by rule, not for want of an `include`. With only such ones missing, a folder may be listed. */
  withheld: z.array(z.string()).optional(),
});
export type PartialFolder = z.infer<typeof partialFolderSchema>;

/** By folder, from the repository's root; `.` is the root. A folder that is not in it is whole, or wholly absent. */
export const surroundingsSchema = z.record(z.string(), partialFolderSchema);
export type Surroundings = z.infer<typeof surroundingsSchema>;

/**
 * Names that tools look for in every folder on the way up, wherever they run: in a closed folder their absence stays an
 * ordinary answer. Where one of them exists, the order names it.
 */
export const TOOL_NAMES: readonly string[] = [
  // Node.js looks for modules in every folder above, and for the manifest that says what kind of module a file is.
  'node_modules',
  'package.json',
  // The compilers and bundlers of TypeScript look for their settings.
  'tsconfig.json',
  'jsconfig.json',
  // Package managers and Pulumi's language hosts tell by these which manager a program has, and where a workspace begins.
  '.npmrc',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  '.yarnrc.yml',
  '.pnp.cjs',
  '.pnp.loader.mjs',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'bun.lock',
  'bun.lockb',
  // Python's tools do the same.
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'uv.lock',
  'poetry.lock',
  // Go's and .NET's.
  'go.mod',
  'go.work',
  'global.json',
  'Directory.Build.props',
  'Directory.Build.targets',
  'Directory.Packages.props',
  // Pulumi looks for the repository, to describe the update, and for its project.
  '.git',
  'Pulumi.yaml',
  'Pulumi.yml',
  'Pulumi.json',
];

/** What a path is about that must not be asked about. */
export interface Undeclared {
  /** The outermost part of the path that is in the repository and not in the artifact. */
  readonly entry: string;
  /** The `include` pattern that adds what was asked about. */
  readonly include: string;
  /** `rule`: a pattern adds it only when it names the file, or never; `maybe`: it may not be in the repository at all. */
  readonly certainty: 'certain' | 'maybe' | 'rule';
}

/** What a path (from the artifact's root) is about. Undefined: the artifact has all that there is to know. */
export function undeclaredAt(
  surroundings: Surroundings,
  present: (folder: string, name: string) => boolean,
  path: string,
): Undeclared | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  let folder = '.';
  for (const [index, part] of parts.entries()) {
    const partial = surroundings[folder];
    const entry = posix.join(folder, part);
    const isLast = index === parts.length - 1;
    if (partial?.undeclared?.includes(`${part}/`) === true)
      return { entry: `${entry}/`, include: includeOf(isLast ? `${entry}/` : path), certainty: 'certain' };
    if (partial?.undeclared?.includes(part) === true)
      return { entry, include: includeOf(entry), certainty: 'certain' };
    if (partial?.withheld?.includes(part) === true)
      return { entry, include: includeOf(entry), certainty: 'rule' };
    const isOpen = partial?.closed !== true || TOOL_NAMES.includes(part) || present(folder, part);
    if (!isOpen) return { entry, include: includeOf(entry), certainty: 'maybe' };
    folder = entry;
  }
  return undefined;
}

/** What is to be done about it, for people. */
export function remedyOf({ entry, include, certainty }: Undeclared): string {
  if (certainty === 'rule' && !SETTINGS_NAME.test(posix.basename(entry)))
    return `${entry} is a manifest, which is never an input: keep what the program needs in a file of its own`;
  return `${entry} is in the repository and no input of this stack: add "${include}" to source.include`;
}

const SETTINGS_NAME = /^Pulumi\./;

/** Whether the names in a folder are not all there, so that a list of them would say less than the repository has. */
export const isPartial = (surroundings: Surroundings, folder: string): boolean =>
  surroundings[folder]?.undeclared !== undefined || surroundings[folder]?.closed === true;

/** The pattern in gitignore syntax that matches one path and all below it, from the repository's root. */
export const includeOf = (path: string): string =>
  path === '.' || path === './' ? '/' : `/${path.replace(/[\\*?[\]]/g, '\\$&').replace(/ (?=$|\/$)/, '\\ ')}`;
