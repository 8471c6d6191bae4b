import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLocal } from '../../../hub/git/local.ts';
import { indexTree } from '../../../hub/inputs/folders.ts';
import { inputsOf } from '../../../hub/inputs/read.ts';
import { makeRepository } from '../../harness/git.ts';
import { atEnd } from '../../harness/owned.ts';
import { newest, plainProgram } from '../git/driver.contract.ts';
import { commitTree, writeTree } from '../git/plumbing.ts';
import { placementOf, projectsOf } from './tree.ts';

test('what decides is read from the repository, once for all placements of a pass', async (t) => {
  const repository = await makeRepository(t);
  const driver = makeLocal({ git: await plainProgram(t), name: 'r', path: repository.folder });
  atEnd(t, () => driver.close());
  const file = (path: string, content: string) => ({ path, mode: '100644', content }) as const;
  const link = (path: string, content: string) => ({ path, mode: '120000', content }) as const;
  const files = [
    file('.gitattributes', '*.bin filter=lfs'),
    file('a/Pulumi.yaml', 'name: a'),
    file('a/data.bin', 'not a pointer'),
    link('a/one', '../two'),
    link('two', 'three'),
    file('three', 'x'),
  ];
  await commitTree(repository, await writeTree(repository, files));
  const tree = await newest(driver);
  const index = indexTree(await tree.entries());
  let reads = 0;
  const counting = { ...tree, blob: (id: string) => ((reads += 1), tree.blob(id)) };
  const known = new Map<string, Buffer>();
  const request = { index, projects: projectsOf(index), documents: new Map() };
  for (const stack of ['organization/a/one', 'organization/a/two']) {
    const placement = placementOf({ project: 'a', stack });
    const { files: found, problems } = await inputsOf({ ...request, placement }, counting, known);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      found.map((entry) => entry.path),
      ['a/Pulumi.yaml', 'a/data.bin', 'a/one', 'three', 'two'],
    );
  }
  assert.equal(reads, 4);
});
