/**
 * The files that a placement's run may read, chosen from one tree through a look that notes what decides. Pure: content
 * that is not here yet makes the look incomplete, and the choice is made again when it is.
 */
import type { Reason } from '../../shared/outcome.ts';
import type { ProjectFile } from '../catalog/catalog.ts';
import type { LargeFile, TreeEntry } from '../git/source.ts';
import type { Placement } from '../placement.ts';
import { checkFilters } from './attributes.ts';
import { projectFiles } from './folders.ts';
import { gitFiles } from './gitfiles.ts';
import type { Infer, Inferred, MadeFile } from './infer.ts';
import { followLinks } from './links.ts';
import { isTooDeep, matchesOf, MAX_DEPTH, parsePattern, type Pattern } from './patterns.ts';
import { isProject, isSettingsFile, settingsFile, settingsFolder, toolFiles } from './project.ts';
import type { Look } from './reading.ts';

export interface SelectRequest {
  readonly placement: Placement;
  /** By `repository:folder`. */
  readonly projects: ReadonlyMap<string, ProjectFile>;
  /** Files with Towline documents, by path: `only` those, or `mixed` with something else. */
  readonly documents: ReadonlyMap<string, 'only' | 'mixed'>;
  /** What the project reads besides its folder. */
  readonly infer: Infer;
}

export interface Selection {
  /** In the order of the tree. Complete when there is no problem. */
  readonly files: readonly TreeEntry[];
  /** Those of them whose content is made, by object id. */
  readonly made: ReadonlyMap<string, MadeFile>;
  /** Those of them whose content Git LFS keeps, by the sha256 that stands for an object id. */
  readonly large: ReadonlyMap<string, LargeFile>;
  /** Each keeps the placement from being planned. */
  readonly problems: readonly Reason[];
  readonly warnings: readonly string[];
}

/** Chooses the input files of one placement. No answer while the look is incomplete. */
export function selectInputs(request: SelectRequest, look: Look): Selection {
  const { placement } = request;
  const { repository, project: folder } = placement.source;
  // asked of the tree first, so that a project that appears is noticed
  const project = isProject(folder, look) ? request.projects.get(`${repository}:${folder}`) : undefined;
  if (project === undefined) return refused(noProject(placement));
  if (settingsFolder(project) === undefined)
    return refused(`stackConfigDir of ${project.folder}/${project.file} leads out of the repository`);

  const choice: Choice = { request, project, look, inferred: request.infer(project, look) };
  const chosen = withIncludes(choice);
  const links = followLinks(look, chosen.files);
  const refuses = refusal(choice);
  // a link to a file that was left out would lead to nothing, and nothing reads like settings that say nothing
  for (const position of links.found)
    if (links.named.has(position) || !refuses(position)) chosen.files.add(position);
  if (choice.inferred.gitFiles === true)
    for (const position of gitFiles(look, chosen.files)) chosen.files.add(position);
  const filters = checkFilters(look, chosen.files);
  const { files, made } = withMade(choice, chosen, filters.large);
  return {
    files,
    made,
    large: new Map([...filters.large.values()].map((file) => [file.oid, file])),
    problems: [
      ...chosen.problems,
      ...choice.inferred.problems.map(invalid),
      ...links.problems,
      ...filters.problems,
      ...madeOfPointers(choice, filters.large),
      ...unsafePaths(files),
      ...lackingContent(files),
    ],
    warnings: [...chosen.warnings, ...choice.inferred.warnings, ...fileWarnings(files, request.documents)],
  };
}

/** What the parts of a choice share. */
interface Choice {
  readonly request: SelectRequest;
  readonly project: ProjectFile;
  readonly look: Look;
  readonly inferred: Inferred;
}

const invalid = (text: string): Reason => ({ code: 'Invalid', text });

const refused = (text: string): Selection => ({
  files: [],
  made: new Map(),
  large: new Map(),
  problems: [invalid(text)],
  warnings: [],
});

const noProject = ({ source }: Placement): string =>
  `there is no Pulumi.yaml in ${source.project === '.' ? 'the root' : source.project} of ${source.repository}`;

interface Chosen {
  readonly files: Set<number>;
  /** Files that a pattern without wildcards names: they are taken as they are. */
  readonly named: ReadonlySet<string>;
  readonly problems: readonly Reason[];
  readonly warnings: readonly string[];
}

/**
 * The project's own files and inferred folders, then each pattern in turn: the last one that matches a file decides. Then
 * what Pulumi and the tools below it read and what the program names, whatever a pattern says.
 */
function withIncludes(choice: Choice): Chosen {
  const { project, look, inferred, request } = choice;
  const refuses = refusal(choice);
  const files = new Set<number>();
  for (const folder of [project.folder, ...inferred.folders]) {
    look.noteBelow(folder);
    for (const position of projectFiles(look.index, folder)) if (!refuses(position)) files.add(position);
  }
  const named = new Set<string>();
  const problems: Reason[] = [];
  const warnings: string[] = [];
  for (const text of request.placement.source.include) {
    const pattern = parsePattern(text, project.folder);
    const submodule = pattern === undefined ? undefined : submoduleAbove(pattern, look);
    if (pattern === undefined) problems.push(invalid(badPattern(text)));
    else if (submodule !== undefined) problems.push(invalid(intoSubmodule(text, submodule)));
    else {
      const matched = matchesOf(pattern, look);
      const usable = pattern.negative ? matched : matched.filter((position) => !refuses(position, pattern));
      for (const position of usable) files[pattern.negative ? 'delete' : 'add'](position);
      if (usable.length === 0) warnings.push(`include “${text}” matches no file that could be an input`);
      if (pattern.literal && !pattern.negative) named.add(pattern.root);
    }
  }
  for (const position of positionsOf(look, readByTools(choice))) files.add(position);
  for (const position of submoduleContent(look, files)) files.add(position);
  return { files, named, problems, warnings };
}

const positionsOf = (look: Look, paths: readonly string[]): number[] =>
  paths.flatMap((path) => {
    look.noteEntry(path);
    return look.index.positions.get(path) ?? [];
  });

/** A submodule that is an input is one with all that was fetched of it. */
function submoduleContent(look: Look, files: ReadonlySet<number>): number[] {
  const { entries, folders } = look.index;
  return [...files].flatMap((position) => {
    const entry = entries[position];
    if (entry?.mode !== '160000') return [];
    look.noteBelow(entry.path);
    const range = folders.get(entry.path);
    if (range === undefined) return [];
    return Array.from({ length: range.end - range.start }, (_, n) => range.start + n);
  });
}

const lackingContent = (files: readonly TreeEntry[]): Reason[] =>
  files.flatMap(({ path, lacks }): Reason[] =>
    lacks === undefined
      ? []
      : [
          {
            code: 'SourceUnavailable',
            text: `the content of the submodule ${path} is not to be had: ${lacks}`,
          },
        ],
  );

const badPattern = (text: string): string =>
  `include “${text.slice(0, 200)}” leads out of the repository, has “..” in the middle, has more than three “**”, or is no pattern`;

const intoSubmodule = (text: string, submodule: string): string =>
  `include “${text}” reaches into the submodule ${submodule}, whose content is not fetched: ${FETCHED}`;

const FETCHED =
  'for that, its url must be one of the hub’s repositories, or below submodules.allow of this repository';

function submoduleAbove(pattern: Pattern, look: Look): string | undefined {
  for (let cut = pattern.root.indexOf('/'); cut >= 0; cut = pattern.root.indexOf('/', cut + 1)) {
    const folder = pattern.root.slice(0, cut);
    if (look.entry(folder)?.mode === '160000' && !look.hasFolder(folder)) return folder;
  }
  return undefined;
}

/** The stack's own settings, tool files above the project, and what inference names file by file. */
function readByTools({ request, project, look, inferred }: Choice): string[] {
  const { inputs } = request.placement;
  const settings = inputs.stackConfig === 'ignore' ? undefined : settingsFile(project, inputs.pulumiStack);
  return [
    ...(settings === undefined ? [] : [settings]),
    ...toolFiles(look, project),
    ...inferred.files,
    ...inferred.made.map(({ path }) => path),
  ];
}

/** What is made of a file that Git LFS keeps would be made of its pointer. */
const madeOfPointers = ({ inferred }: Choice, large: ReadonlyMap<string, LargeFile>): Reason[] =>
  inferred.made
    .filter(({ path }) => large.has(path))
    .map(({ path }) =>
      invalid(`${path} is kept by Git LFS, and Towline has to read it to find inputs: take it out of LFS`),
    );

/**
 * The files, with those that are made in place of what the tree has at their path. What Git LFS keeps goes by the sha256
 * of its content: whether a pointer or the content is shipped depends on attributes, which need not be inputs.
 */
function withMade(
  { look, inferred }: Choice,
  { files: positions, named }: Chosen,
  large: ReadonlyMap<string, LargeFile>,
): Pick<Selection, 'files' | 'made'> {
  const made = new Map(
    inferred.made.filter(({ path }) => !named.has(path)).map((file) => [file.path, file] as const),
  );
  const files = [...positions]
    .sort((a, b) => a - b)
    .map((position): TreeEntry => {
      const entry = look.index.entries[position] as TreeEntry;
      const file = made.get(entry.path);
      if (file !== undefined) return { path: file.path, mode: '100644', id: file.id };
      const kept = large.get(entry.path);
      return kept === undefined ? entry : { path: entry.path, mode: entry.mode, id: kept.oid };
    });
  return { files, made: new Map([...made.values()].map((file) => [file.id, file])) };
}

/** Manifests are never inputs; settings of stacks only where a pattern without wildcards names the file. */
function refusal({ request, project, look }: Choice): (position: number, pattern?: Pattern) => boolean {
  return (position, pattern) => {
    const { path } = look.index.entries[position] as TreeEntry;
    if (request.documents.get(path) === 'only') return true;
    if (pattern?.literal === true && pattern.root === path) return false;
    return isSettingsFile(path, look, project);
  };
}

/** Unpaired surrogates stand for bytes that are not UTF-8; the other parts could make a path mean another file. */
const UNSAFE_PART = /(?:^|\/)(?:\.{0,2}|\.git)(?:\/|$)/i;

function unsafePaths(files: readonly TreeEntry[]): Reason[] {
  return files.flatMap(({ path }): Reason[] => {
    if (!path.isWellFormed())
      return [invalid(`the name of ${JSON.stringify(path)} is not valid UTF-8; rename it`)];
    if (isTooDeep(path)) return [invalid(`${path.slice(0, 80)}… lies more than ${MAX_DEPTH} folders deep`)];
    if (UNSAFE_PART.test(path))
      return [invalid(`the path ${JSON.stringify(path)} is not one that Git checks out`)];
    return [];
  });
}

function fileWarnings(files: readonly TreeEntry[], documents: SelectRequest['documents']): string[] {
  const links = files.filter(({ mode }) => mode === '160000');
  const filled = new Set(
    links.flatMap(({ path }) => (files.some((file) => file.path.startsWith(`${path}/`)) ? [path] : [])),
  );
  return files.flatMap(({ path, mode }) => {
    if (mode === '160000' && !filled.has(path))
      return [
        `the submodule ${path} is an empty folder in runs; a move of it runs the stack; ${FETCHED} to have its content`,
      ];
    if (documents.get(path) === 'mixed')
      return [
        `${path} holds Towline documents and others, so each change of it runs the stack; split the file`,
      ];
    return [];
  });
}
