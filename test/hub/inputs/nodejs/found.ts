/** What is inferred for a Node.js project of a tree that a test writes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ProjectFile } from '../../../../hub/catalog/catalog.ts';
import type { Inferred } from '../../../../hub/inputs/infer.ts';
import { inferNodejs } from '../../../../hub/inputs/nodejs.ts';
import type { Look } from '../../../../hub/inputs/reading.ts';
import { ask, readingOf, type Files } from '../tree.ts';

export interface Seen extends Omit<Inferred, 'made'> {
  /** Contents of made files by path. */
  readonly made: Readonly<Record<string, string>>;
}

export const projectIn = (folder: string): ProjectFile => ({
  repository: 'r',
  folder,
  file: 'Pulumi.yaml',
  name: 'p',
  runtime: 'nodejs',
});

/** `folder`: that of the project. Texts are JSON where a test gives a value. */
export function found(tree: Tree, folder = 'stacks/a'): Seen {
  const files = textsOf(tree);
  const reading = readingOf(files);
  const project = projectIn(folder);
  const { made, ...rest } = ask(reading, files, (look) => inferNodejs(project, look));
  const contents = ask(reading, files, (look) =>
    made.map((file) => [file.path, file.content(look).toString('utf8')] as const),
  );
  return { ...rest, made: Object.fromEntries(contents) };
}

export type Tree = Readonly<Record<string, string | object>>;

export const textsOf = (tree: Tree): Files =>
  Object.fromEntries(
    Object.entries(tree).map(([path, content]) => [
      path,
      typeof content === 'string' ? content : JSON.stringify(content),
    ]),
  );

/** A project in `stacks/a`, with what else the tree holds. */
export const stack = (program: string, more: Tree = {}): Tree => ({
  'stacks/a/Pulumi.yaml': 'name: a\nruntime: nodejs\n',
  'stacks/a/index.ts': program,
  ...more,
});

/** A tree, and all that is found in it beside the project. */
export interface Row {
  readonly program?: string;
  readonly tree?: Tree;
  readonly files?: readonly string[];
  readonly folders?: readonly string[];
}

/** One test for each row, by its name: that is found and nothing else, and nothing is wrong. */
export const check = (rows: Readonly<Record<string, Row>>): void => {
  for (const [name, { program = '', tree = {}, files = [], folders = [] }] of Object.entries(rows))
    it(name, () => {
      const seen = found(stack(program, tree));
      assert.deepEqual(
        { files: seen.files, folders: seen.folders, problems: seen.problems, warnings: seen.warnings },
        { files, folders, problems: [], warnings: [] },
      );
    });
};

/** Whether whoever asked in one tree would not be asked again in another one. */
export function holds(before: Tree, after: Tree, folder = 'stacks/a'): boolean {
  const [old, files] = [readingOf(textsOf(before)), textsOf(after)];
  const infer = (look: Look): ReadonlySet<string> => {
    inferNodejs(projectIn(folder), look);
    return look.notes;
  };
  const notes = ask(old, textsOf(before), infer);
  const now = readingOf(files, old);
  let answer = now.holds(notes);
  for (; answer === 'unknown'; answer = now.holds(notes)) ask(now, files, infer);
  return answer;
}
