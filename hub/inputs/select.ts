/**
 * The files that a placement's run may read, chosen from one tree. Pure: where the content of a file decides (symlinks,
 * attributes, LFS pointers), the answer names the objects that it `needs`, and is asked again with them until it needs
 * nothing more. Only then are `files` complete.
 */
import type { Reason } from '../../shared/outcome.ts';
import type { ProjectFile } from '../catalog/catalog.ts';
import type { TreeEntry } from '../git/source.ts';
import type { Placement } from '../placement.ts';
import { checkFilters } from './attributes.ts';
import { type TreeIndex, projectFiles } from './folders.ts';
import { followLinks } from './links.ts';
import { isTooDeep, matchesOf, MAX_DEPTH, parsePattern, type Pattern } from './patterns.ts';
import { isSettingsFile, npmFiles, settingsFile, settingsFolder, toolFiles } from './project.ts';

export interface SelectRequest {
  readonly placement: Placement;
  readonly index: TreeIndex;
  /** By `repository:folder`. */
  readonly projects: ReadonlyMap<string, ProjectFile>;
  /** Files with Towline documents, by path: `only` those, or `mixed` with something else. */
  readonly documents: ReadonlyMap<string, 'only' | 'mixed'>;
}

export interface Selection {
  /** In the order of the tree. Complete when nothing is needed and there is no problem. */
  readonly files: readonly TreeEntry[];
  /** Object ids to read before asking again. */
  readonly needs: readonly string[];
  /** Each keeps the placement from being planned. */
  readonly problems: readonly Reason[];
  readonly warnings: readonly string[];
}

/** Chooses the input files of one placement. `known` holds contents by object id. */
export function selectInputs(request: SelectRequest, known: ReadonlyMap<string, Buffer>): Selection {
  const { placement, index } = request;
  const project = request.projects.get(`${placement.source.repository}:${placement.source.project}`);
  if (project === undefined || !index.projects.has(project.folder)) return refused(noProject(placement));
  if (settingsFolder(project) === undefined)
    return refused(`stackConfigDir of ${project.folder}/${project.file} leads out of the repository`);

  const included = withIncludes(request, project);
  const chosen = new Set(included.files);
  for (const position of readByTools(request, project)) chosen.add(position);
  const refuses = refusal(request, project);
  const links = followLinks(index, chosen, known);
  const kept = new Set(chosen);
  // a link to a file that was left out would lead to nothing, and nothing reads like settings that say nothing
  for (const position of links.found) if (links.named.has(position) || !refuses(position)) kept.add(position);
  const filters = checkFilters(index, kept, known);
  const files = [...kept].sort((a, b) => a - b).map((position) => index.entries[position] as TreeEntry);
  return {
    files,
    needs: [...new Set([...links.needs, ...filters.needs])],
    problems: [...included.problems, ...links.problems, ...filters.problems, ...unsafePaths(files)],
    warnings: [...included.warnings, ...fileWarnings(files, request.documents)],
  };
}

const refused = (text: string): Selection => ({
  files: [],
  needs: [],
  problems: [{ code: 'Invalid', text }],
  warnings: [],
});

const noProject = ({ source }: Placement): string =>
  `there is no Pulumi.yaml in ${source.project === '.' ? 'the root' : source.project} of ${source.repository}`;

interface Included {
  readonly files: ReadonlySet<number>;
  readonly problems: readonly Reason[];
  readonly warnings: readonly string[];
}

/** The project's own files, then each pattern in turn: the last one that matches a file decides. */
function withIncludes(request: SelectRequest, project: ProjectFile): Included {
  const { index, placement } = request;
  const refuses = refusal(request, project);
  const own = projectFiles(index, project.folder);
  const files = new Set(own.filter((position) => !refuses(position)));
  const problems: Reason[] = [];
  const warnings: string[] = [];
  for (const text of placement.source.include) {
    const pattern = parsePattern(text, project.folder);
    const submodule = pattern === undefined ? undefined : submoduleAbove(pattern, index);
    if (pattern === undefined) problems.push({ code: 'Invalid', text: badPattern(text) });
    else if (submodule !== undefined)
      problems.push({ code: 'Invalid', text: intoSubmodule(text, submodule) });
    else {
      const matched = matchesOf(pattern, index);
      const usable = pattern.negative ? matched : matched.filter((position) => !refuses(position, pattern));
      for (const position of usable) files[pattern.negative ? 'delete' : 'add'](position);
      if (usable.length === 0) warnings.push(`include “${text}” matches no file that could be an input`);
    }
  }
  return { files, problems, warnings };
}

const badPattern = (text: string): string =>
  `include “${text.slice(0, 200)}” leads out of the repository, has “..” in the middle, has more than three “**”, or is no pattern`;

const intoSubmodule = (text: string, submodule: string): string =>
  `include “${text}” reaches into the submodule ${submodule}, whose files Towline does not fetch`;

function submoduleAbove(pattern: Pattern, index: TreeIndex): string | undefined {
  for (let cut = pattern.root.indexOf('/'); cut >= 0; cut = pattern.root.indexOf('/', cut + 1)) {
    const position = index.positions.get(pattern.root.slice(0, cut));
    if (position !== undefined && index.entries[position]?.mode === '160000')
      return pattern.root.slice(0, cut);
  }
  return undefined;
}

/** Files that are read by Pulumi and the tools below it, whatever a pattern says. */
function readByTools(request: SelectRequest, project: ProjectFile): number[] {
  const { index, placement } = request;
  const settings =
    placement.inputs.stackConfig === 'ignore'
      ? undefined
      : settingsFile(project, placement.inputs.pulumiStack);
  const position = settings === undefined ? undefined : index.positions.get(settings);
  const found = [...npmFiles(index, project), ...toolFiles(index, project)];
  return position === undefined ? found : [position, ...found];
}

/** Manifests are never inputs; settings of stacks only where a pattern without wildcards names the file. */
function refusal(
  { index, documents }: SelectRequest,
  project: ProjectFile,
): (position: number, pattern?: Pattern) => boolean {
  return (position, pattern) => {
    const { path } = index.entries[position] as TreeEntry;
    if (documents.get(path) === 'only') return true;
    if (pattern?.literal === true && pattern.root === path) return false;
    return isSettingsFile(path, index, project);
  };
}

/** Unpaired surrogates stand for bytes that are not UTF-8; the other parts could make a path mean another file. */
const UNSAFE_PART = /(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)/i;

function unsafePaths(files: readonly TreeEntry[]): Reason[] {
  return files.flatMap(({ path }): Reason[] => {
    if (!path.isWellFormed())
      return [{ code: 'Invalid', text: `the name of ${JSON.stringify(path)} is not valid UTF-8; rename it` }];
    if (isTooDeep(path))
      return [{ code: 'Invalid', text: `${path.slice(0, 80)}… lies more than ${MAX_DEPTH} folders deep` }];
    if (UNSAFE_PART.test(path))
      return [{ code: 'Invalid', text: `the path ${JSON.stringify(path)} is not one that Git checks out` }];
    return [];
  });
}

function fileWarnings(files: readonly TreeEntry[], documents: SelectRequest['documents']): string[] {
  return files.flatMap(({ path, mode }) => {
    if (mode === '160000')
      return [`the submodule ${path} is an empty folder in runs; a move of it runs the stack`];
    if (documents.get(path) === 'mixed')
      return [
        `${path} holds Towline documents and others, so each change of it runs the stack; split the file`,
      ];
    return [];
  });
}
