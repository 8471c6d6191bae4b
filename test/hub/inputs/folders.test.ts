import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { indexTree, projectFiles } from '../../../hub/inputs/folders.ts';
import { folderOf, isBelow, joinPath, upwards } from '../../../hub/inputs/paths.ts';
import { entriesOf } from './tree.ts';

const part = fc.constantFrom('a', 'a-b', 'a.b', 'aa', 'b', 'ü', '🚀', 'Pulumi.yaml');
/** Paths of which none is a folder of another. */
const paths = fc
  .uniqueArray(
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
    { maxLength: 40 },
  )
  .map((all) => all.filter((path) => !all.some((other) => isBelow(other, path))));

const indexOf = (all: readonly string[]): ReturnType<typeof indexTree> =>
  indexTree(entriesOf(Object.fromEntries(all.map((path) => [path, '']))));

test('the range of a folder is exactly what lies below it', () => {
  fc.assert(
    fc.property(paths, (all) => {
      const index = indexOf(all);
      const folders = new Set(all.flatMap((path) => upwards(folderOf(path))));
      assert.deepEqual(new Set(index.folders.keys()), new Set([...folders, '.']));
      for (const [folder, { start, end }] of index.folders) {
        const inRange = index.entries.slice(start, end).map((entry) => entry.path);
        assert.deepEqual(inRange.sort(), all.filter((path) => isBelow(path, folder)).sort(), folder);
      }
    }),
  );
});

test('the files of a project are those whose nearest project it is', () => {
  fc.assert(
    fc.property(paths, (all) => {
      const index = indexOf(all);
      const owner = (path: string): string | undefined =>
        upwards(folderOf(path)).find((folder) => index.projects.has(folder));
      for (const project of index.projects) {
        const found = projectFiles(index, project).map((position) => index.entries[position]?.path);
        assert.deepEqual(found.sort(), all.filter((path) => owner(path) === project).sort(), project);
      }
    }),
  );
});

test('relative paths', () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ['a/b', '../c', 'a/c'],
    ['a', '..', '.'],
    ['.', 'x/./y//z', 'x/y/z'],
    ['.', '..', undefined],
    ['a', '../../b', undefined],
    ['a', '/b', undefined],
  ];
  for (const [folder, relative, expected] of rows) assert.equal(joinPath(folder, relative), expected);
});
