import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesDigest } from '../../../hub/digest/v2.ts';
import { makeLocal } from '../../../hub/git/local.ts';
import { indexTree } from '../../../hub/inputs/folders.ts';
import { makeSelections } from '../../../hub/inputs/selections.ts';
import { wholeLockfile } from '../../../hub/inputs/whole.ts';
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
  const request = { projects: projectsOf(index), documents: new Map(), infer: wholeLockfile };
  const stacks = ['organization/a/one', 'organization/a/two'];
  const requests = stacks.map(
    (stack) => [stack, { ...request, placement: placementOf({ project: 'a', stack }) }] as const,
  );
  const selected = await makeSelections(filesDigest).selectAll(counting, new Map(requests));
  assert.equal(selected.size, 2);
  for (const { files: found, problems } of selected.values()) {
    assert.deepEqual(problems, []);
    assert.deepEqual(
      found.map((entry) => entry.path),
      ['a/Pulumi.yaml', 'a/data.bin', 'a/one', 'three', 'two'],
    );
  }
  assert.equal(reads, 4);
});
