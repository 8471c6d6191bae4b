/** Inferences on trees as tests write them, and what has to hold for every one of them. */
import assert from 'node:assert/strict';
import type { ProjectFile } from '../../../hub/catalog/catalog.ts';
import type { Infer, Inferred } from '../../../hub/inputs/infer.ts';
import { ask, readingOf, type Files } from './tree.ts';

/** What an inference finds in a tree once every content is there. */
export const inferOn = (infer: Infer, project: ProjectFile, files: Files): Inferred =>
  ask(readingOf(files), files, (look) => infer(project, look));

/** A project as the catalog knows it. */
export const projectAt = (folder: string, runtime: string, more: Partial<ProjectFile> = {}): ProjectFile => ({
  repository: 'r',
  folder,
  file: 'Pulumi.yaml',
  name: 'p',
  runtime,
  ...more,
});

/** Files and folders of an answer, folders with a slash, sorted; made files with a star. */
export const foundIn = (inferred: Inferred): string[] =>
  [
    ...inferred.files,
    ...inferred.folders.map((folder) => `${folder}/`),
    ...inferred.made.map(({ path }) => `*${path}`),
  ].sort();

/** A file that nothing names changes nothing; each file that was found is one that the answer stands on. */
export function assertStandsOnItsFiles(infer: Infer, project: ProjectFile, files: Files): void {
  const answer = (tree: Files): unknown => {
    const { made, ...rest } = inferOn(infer, project, tree);
    return { ...rest, made: made.map(({ path, id }) => `${path} ${id}`) };
  };
  const before = inferOn(infer, project, files);
  assert.deepEqual(answer({ ...files, 'unrelated/notes.md': 'nothing', 'zz.txt': 'nothing' }), answer(files));
  for (const path of before.files) {
    const { [path]: gone, ...rest } = files;
    assert.ok(gone !== undefined, `${path} was found, but is not in the tree`);
    assert.notDeepEqual(answer(rest), answer(files), `${path} was found, but its absence changes nothing`);
  }
}
