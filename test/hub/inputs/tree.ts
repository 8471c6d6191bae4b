/** Trees as tests write them, and placements on them. */
import { createHash } from 'node:crypto';
import type { ProjectFile } from '../../../hub/catalog/catalog.ts';
import type { FileMode, TreeEntry } from '../../../hub/git/source.ts';
import { indexTree, type TreeIndex } from '../../../hub/inputs/folders.ts';
import type { Infer } from '../../../hub/inputs/infer.ts';
import { makeParses } from '../../../hub/inputs/parses.ts';
import { makeReading, type Look, type Reading } from '../../../hub/inputs/reading.ts';
import { selectInputs, type Selection, type SelectRequest } from '../../../hub/inputs/select.ts';
import { wholeLockfile } from '../../../hub/inputs/whole.ts';
import type { Placement } from '../../../hub/placement.ts';
import { plainPolicy } from '../../harness/policy.ts';

/** `-> target` is a symlink, `@` a submodule, `+x` an executable; anything else is content. */
export type Files = Readonly<Record<string, string>>;

const modeOf = (content: string): FileMode =>
  content.startsWith('-> ') ? '120000' : content === '@' ? '160000' : content === '+x' ? '100755' : '100644';

const bytesOf = (content: string): Buffer => Buffer.from(content.replace(/^-> /, ''));

const idOf = (content: string): string => createHash('sha1').update(bytesOf(content)).digest('hex');

export const entriesOf = (files: Files): TreeEntry[] =>
  Object.entries(files)
    .map(([path, content]) => ({ path, mode: modeOf(content), id: idOf(content) }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

export const contentsOf = (files: Files): Map<string, Buffer> =>
  new Map(Object.values(files).map((content) => [idOf(content), bytesOf(content)]));

export const projectsOf = (index: TreeIndex, more: Partial<ProjectFile> = {}): Map<string, ProjectFile> =>
  new Map(
    [...index.projects].map((folder) => [
      `r:${folder}`,
      { repository: 'r', folder, file: 'Pulumi.yaml', name: 'p', runtime: 'nodejs', ...more },
    ]),
  );

export interface Asked {
  readonly project: string;
  readonly stack?: string;
  readonly include?: readonly string[];
  readonly ignoreConfig?: true;
}

export const placementOf = ({
  project,
  stack = 'organization/p/prod',
  include = [],
  ignoreConfig,
}: Asked): Placement => ({
  cluster: 'c',
  stack: { namespace: 'n', name: 's' },
  origin: { repository: 'r', path: 'towline.yaml', line: 1 },
  source: { repository: 'r', project, include, inferInputs: true },
  inputs: { project, pulumiStack: stack, ...(ignoreConfig === true ? { stackConfig: 'ignore' } : {}) },
  policy: { ...plainPolicy, timeoutMs: 1, parallel: 1 },
  claim: 'c',
});

export interface Chosen extends Selection {
  readonly paths: readonly string[];
  readonly texts: readonly string[];
}

/** Asks until nothing is needed, as whoever reads blobs does. */
export function choose(
  files: Files,
  asked: Asked,
  more: { project?: Partial<ProjectFile>; documents?: SelectRequest['documents']; infer?: Infer } = {},
): Chosen {
  const reading = readingOf(files);
  const request: SelectRequest = {
    placement: placementOf(asked),
    projects: projectsOf(reading.index, more.project),
    documents: more.documents ?? new Map(),
    infer: more.infer ?? wholeLockfile,
  };
  const selection = ask(reading, files, (look) => selectInputs(request, look));
  const paths = selection.files.map((file) => file.path);
  return { ...selection, paths, texts: selection.problems.map((problem) => problem.text) };
}

/** A reading of files as tests write them; `before`: of the tree that it stands on. */
export const readingOf = (files: Files, before?: Reading): Reading =>
  makeReading(indexTree(entriesOf(files)), makeParses(1_000_000), before);

/** Asks until every content that is asked for was there. */
export function ask<T>(reading: Reading, files: Files, question: (look: Look) => T): T {
  const contents = contentsOf(files);
  for (;;) {
    const look = reading.look();
    const answer = question(look);
    if (!look.incomplete) return answer;
    for (const id of reading.takeNeeds()) reading.give(id, contents.get(id) as Buffer);
  }
}
