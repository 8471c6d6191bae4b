import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesDigest } from '../../../hub/digest/v2.ts';
import { makeLocal } from '../../../hub/git/local.ts';
import type { Tree } from '../../../hub/git/source.ts';
import { indexTree } from '../../../hub/inputs/folders.ts';
import { NOTHING_INFERRED, type Infer } from '../../../hub/inputs/infer.ts';
import { infer } from '../../../hub/inputs/runtimes.ts';
import type { SelectRequest } from '../../../hub/inputs/select.ts';
import { makeSelections } from '../../../hub/inputs/selections.ts';
import { wholeLockfile } from '../../../hub/inputs/whole.ts';
import { makeRepository } from '../../harness/git.ts';
import { atEnd } from '../../harness/owned.ts';
import { newest, plainProgram } from '../git/driver.contract.ts';
import { commitTree, writeTree } from '../git/plumbing.ts';
import { contentsOf, entriesOf, placementOf, projectsOf, type Files } from './tree.ts';

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

/** A commit of files; `unread`: texts of files that cannot be read. */
function treeOf(id: string, files: Files, unread: ReadonlySet<string> = new Set()): Tree {
  const contents = contentsOf(files);
  return {
    repository: 'r',
    ref: 'refs/heads/main',
    commit: { id, subject: '', author: '', time: 0 },
    entries: async () => entriesOf(files),
    blob: async (blob) => {
      const content = contents.get(blob) ?? assert.fail(`no object ${blob}`);
      if (unread.has(content.toString('utf8'))) throw new Error('the disk is gone');
      return content;
    },
  };
}

function requestsOf(files: Files, how: Infer): Map<string, SelectRequest> {
  const projects = projectsOf(indexTree(entriesOf(files)));
  return new Map(
    [...projects.values()].map(({ folder: project }) => [
      project,
      { placement: placementOf({ project }), projects, documents: new Map(), infer: how },
    ]),
  );
}

const SHARED: Files = { 'a/Pulumi.yaml': 'name: a', 'b/Pulumi.yaml': 'name: b', shared: 'one' };

/** All but b ask what the shared file says, and take the one that it names. */
const sharing: Infer = ({ folder }, view) => {
  if (folder === 'b') return NOTHING_INFERRED;
  const says = view.fact({
    key: 'shared',
    answer: (inner) => inner.content('shared')?.toString('utf8') ?? '',
  });
  return { ...NOTHING_INFERRED, warnings: [says] };
};

test('content that could not be read is read again, though the commit is the same', async () => {
  const selections = makeSelections(filesDigest);
  const requests = requestsOf(SHARED, sharing);
  const before = await selections.selectAll(treeOf('1', SHARED, new Set(['one'])), requests);
  assert.deepEqual(before.get('a')?.problems, [{ code: 'SourceUnavailable', text: 'the disk is gone' }]);
  const after = await selections.selectAll(treeOf('1', SHARED), requests);
  assert.deepEqual(after.get('a')?.problems, []);
  assert.deepEqual(after.get('a')?.warnings, ['one']);
});

test('what cannot be read of a later commit keeps back those that need it, and no others', async () => {
  const selections = makeSelections(filesDigest);
  await selections.selectAll(treeOf('1', SHARED), requestsOf(SHARED, sharing));
  const next = { ...SHARED, shared: 'two', 'b/x': 'new' };
  const found = await selections.selectAll(treeOf('2', next, new Set(['two'])), requestsOf(next, sharing));
  assert.deepEqual(found.get('a')?.problems, [{ code: 'SourceUnavailable', text: 'the disk is gone' }]);
  assert.deepEqual(found.get('b')?.problems, []);
  assert.equal(found.get('b')?.files.length, 2);
  const after = await selections.selectAll(treeOf('2', next), requestsOf(next, sharing));
  assert.deepEqual(after.get('a')?.warnings, ['two']);
});

test('a project whose inputs make inference fail keeps back no other one', async () => {
  const selections = makeSelections(filesDigest);
  const failing: Infer = ({ folder }, view) => {
    if (folder !== 'b')
      view.fact({
        key: 'failing',
        answer: (inner) => {
          if (inner.content('shared')?.toString('utf8') === 'one') throw new RangeError('too deep');
          return '';
        },
      });
    return NOTHING_INFERRED;
  };
  const found = await selections.selectAll(treeOf('1', SHARED), requestsOf(SHARED, failing));
  assert.deepEqual(found.get('b')?.problems, []);
  const [problem] = found.get('a')?.problems ?? [];
  assert.equal(problem?.code, 'Invalid');
  assert.match(problem.text, /^the inputs of a cannot be told: too deep/);
  const next = { ...SHARED, shared: 'two' };
  const after = await selections.selectAll(treeOf('2', next), requestsOf(next, failing));
  assert.deepEqual(after.get('a')?.problems, []);
});

test('a lockfile that comes with a change of the manifest is an input at once', async () => {
  const selections = makeSelections(filesDigest);
  const manifest = (version: string): string =>
    JSON.stringify({ name: 'a', packageManager: 'npm@11.0.0', dependencies: { n: version } });
  const first = {
    'a/Pulumi.yaml': 'name: a\nruntime: nodejs\n',
    'a/index.js': '',
    'package.json': manifest('1'),
  };
  const lockfile = JSON.stringify({
    lockfileVersion: 3,
    packages: {
      '': { name: 'a', dependencies: { n: '2' } },
      'node_modules/n': {
        version: '2.0.0',
        resolved: 'https://registry.example/n.tgz',
        integrity: 'sha512-x',
      },
    },
  });
  const second = { ...first, 'package.json': manifest('2'), 'package-lock.json': lockfile };
  await selections.selectAll(treeOf('1', first), requestsOf(first, infer));
  const kept = await selections.selectAll(treeOf('2', second), requestsOf(second, infer));
  const fresh = await makeSelections(filesDigest).selectAll(treeOf('2', second), requestsOf(second, infer));
  const paths = fresh.get('a')?.files.map(({ path }) => path);
  assert.ok(paths?.includes('package-lock.json'));
  assert.deepEqual(kept.get('a')?.files, fresh.get('a')?.files);
});

test('a runtime whose name every object has is one that is not known', async () => {
  const files = { 'a/Pulumi.yaml': 'name: a\nruntime: constructor\n' };
  const projects = projectsOf(indexTree(entriesOf(files)), { runtime: 'constructor' });
  const request = { placement: placementOf({ project: 'a' }), projects, documents: new Map(), infer };
  const found = await makeSelections(filesDigest).selectAll(treeOf('1', files), new Map([['a', request]]));
  assert.deepEqual(found.get('a')?.problems, []);
  assert.match(found.get('a')?.warnings.join() ?? '', /has the runtime constructor/);
});
