/** What a commit is compared with: nothing of its history, only what was ordered last. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, testBased, testFetched, type Based } from './based.ts';
import { both, BYSTANDER, CLUSTER, edited, manifest, program, project, type Files } from './files.ts';
import { changed } from './verdicts.ts';

const FILES = { ...CLUSTER, ...BYSTANDER, ...program('a', '1\n'), ...program('b', '1\n') } as Record<
  string,
  string
>;

/** Writes and orders the first commit. */
async function begin({ repository, begin: order }: Based): Promise<void> {
  await repository.commit('One', FILES);
  await order();
}

/** Nothing is left of commits that no branch has. */
async function forget({ repository }: Based): Promise<void> {
  await repository.git('reflog', 'expire', '--expire=now', '--all');
  await repository.git('gc', '--quiet', '--prune=now');
}

testFetched('a history that was rewritten: what differs from the last orders runs', async (based) => {
  const { repository, expect, hub } = based;
  await begin(based);
  await repository.commit('Two', { 'stacks/a/index.ts': '2\n' });
  await expect({ a: changed('stacks/a/index.ts') });
  await repository.git('checkout', '--quiet', '--orphan', 'anew');
  await repository.commit('Another history', { 'stacks/b/index.ts': '2\n' });
  await repository.git('branch', '--force', 'main', 'anew');
  await forget(based);
  await expect({ b: changed('stacks/b/index.ts') });
  await repository.git('commit', '--quiet', '--amend', '--message', 'Only the message', '--reset-author');
  await repository.git('branch', '--force', 'main', 'anew');
  await forget(based);
  await expect({}, hub.anew());
});

testFetched(
  'a hub that lost its disk, and whose last commit is gone, says that it cannot name the files',
  async (based) => {
    const { repository, expect, hub } = based;
    await begin(based);
    await repository.git('checkout', '--quiet', '--orphan', 'anew');
    await repository.commit('Another history', { 'stacks/b/index.ts': '2\n' });
    await repository.git('branch', '--force', 'main', 'anew');
    await forget(based);
    await expect(
      { b: /^InputChanged: files changed since [0-9a-f]{40}; their list is not kept any more$/ },
      hub.anew(),
    );
  },
);

testFetched('several commits between two polls, of which one takes another back', async (based) => {
  const { repository, expect, poll } = based;
  await begin(based);
  await repository.commit('Two', { 'stacks/a/index.ts': '2\n', 'stacks/b/index.ts': '2\n' });
  await repository.commit('Three', { 'stacks/a/new.ts': '' });
  await repository.commit('Four', { 'stacks/b/index.ts': '1\n' });
  await expect({ a: changed('stacks/a/index.ts', 'stacks/a/new.ts') });
  assert.equal((await poll()).kind, 'idle');
});

testBased('commits without a change, and a revert', async (based) => {
  const { repository, expect, hub } = based;
  await begin(based);
  const first = digestOf(hub, 'a');
  await repository.commit('Nothing');
  await expect({});
  await repository.commit('Two', { 'stacks/a/index.ts': '2\n' });
  await expect({ a: changed('stacks/a/index.ts') });
  await repository.git('revert', '--no-edit', 'HEAD');
  await expect({ a: changed('stacks/a/index.ts') });
  // whoever has applied the first order and not the second one has nothing to run
  assert.equal(digestOf(hub, 'a'), first);
});

testBased('a merge of three branches, and one with an edit that none of them has', async (based) => {
  const { repository, expect } = based;
  await repository.commit('One', { ...FILES, ...program('c', '1\n') } as Record<string, string>);
  await based.begin();
  for (const name of ['a', 'b', 'c']) {
    await repository.git('checkout', '--quiet', '-b', `topic-${name}`, 'main');
    await repository.commit(`Change ${name}`, { [`stacks/${name}/index.ts`]: '2\n' });
  }
  await repository.git('checkout', '--quiet', 'main');
  await repository.git('merge', '--quiet', '--no-edit', 'topic-a', 'topic-b', 'topic-c');
  await expect({
    a: changed('stacks/a/index.ts'),
    b: changed('stacks/b/index.ts'),
    c: changed('stacks/c/index.ts'),
  });
  await repository.git('checkout', '--quiet', '-b', 'side');
  await repository.commit('Side', { 'stacks/a/index.ts': '3\n' });
  await repository.git('checkout', '--quiet', 'main');
  await repository.git('merge', '--quiet', '--no-ff', '--no-commit', 'side');
  await repository.commit('Merge with an edit', { 'stacks/b/evil.ts': '' });
  await expect({ a: changed('stacks/a/index.ts'), b: changed('stacks/b/evil.ts') });
  await repository.git('merge', '--quiet', '--strategy=ours', '--no-edit', 'topic-a');
  await expect({});
});

testBased('what others merge elsewhere counts when it comes to the branch', async (based) => {
  const { repository, expect, poll } = based;
  await begin(based);
  await repository.git('checkout', '--quiet', '-b', 'other');
  await repository.commit('Elsewhere', { 'stacks/a/index.ts': '2\n' });
  assert.equal((await poll()).kind, 'idle');
  await repository.git('checkout', '--quiet', 'main');
  await repository.commit('Here', { 'stacks/b/index.ts': '2\n' });
  await expect({ b: changed('stacks/b/index.ts') });
  await repository.git('merge', '--quiet', '--no-edit', 'other');
  await expect({ a: changed('stacks/a/index.ts') });
});

testBased('a branch that is deleted, and one that is emptied', async (based) => {
  const { repository, expect, poll, hub } = based;
  await begin(based);
  await repository.git('checkout', '--quiet', '-b', 'other');
  await repository.git('branch', '--quiet', '-D', 'main');
  const end = await poll();
  assert.deepEqual(end.kind === 'planned' && end.done.views[0]?.state, 'RefMissing');
  await repository.git('branch', 'main');
  await expect({});
  await repository.commit('Empty', Object.fromEntries(Object.keys(FILES).map((path) => [path, null])));
  await repository.git('branch', '--force', 'main', 'HEAD');
  await expect({ a: /^hold Orphaned/, b: /^hold Orphaned/, bystander: /^hold Orphaned/ });
  assert.deepEqual([...new Set([...hub.inForce.values()].map(({ action }) => action))], ['hold']);
});

testBased('objects that are said to stand for others, and grafts, change nothing', async (based) => {
  const { repository, expect, hub } = based;
  await begin(based);
  const one = await repository.git('rev-parse', 'HEAD');
  const two = await repository.commit('Two', { 'stacks/a/index.ts': '2\n' });
  await repository.git('replace', two, one);
  await mkdir(join(repository.folder, '.git/info'), { recursive: true });
  await writeFile(join(repository.folder, '.git/info/grafts'), `${two}\n`);
  await expect({ a: changed('stacks/a/index.ts') });
  await expect({}, hub.anew());
});

testBased('a program in another repository runs who takes it from there', async (based) => {
  const { repository, programs, begin: order, expect } = based;
  const net: Files = {
    'net/Pulumi.yaml': project('net'),
    'net/index.ts': "import '../libs/x';\n",
    'libs/x.ts': '',
  };
  await programs.commit('One', net as Record<string, string>);
  const stacks = edited(
    { ...CLUSTER, ...BYSTANDER, ...program('own', '', { folder: 'net' }) },
    both({
      'manifests/net.yaml': manifest('net', { source: { repository: 'programs', dir: 'net' } }),
    }),
  );
  await repository.commit('One', stacks as Record<string, string>);
  await order();
  await programs.commit('Two', { 'libs/x.ts': '1', 'net/index.js': '' });
  await expect({ net: changed('libs/x.ts', 'net/index.js') });
  await repository.commit('Two', { 'net/index.ts': '1', 'libs/x.ts': '1' });
  await expect({ own: changed('net/index.ts') });
});

testBased('what is not committed is not seen', async (based) => {
  const { repository, expect, poll, hub } = based;
  await begin(based);
  await writeFile(join(repository.folder, 'stacks/a/index.ts'), 'not committed\n');
  await writeFile(join(repository.folder, 'stacks/b/index.ts'), 'staged\n');
  await repository.git('add', 'stacks/b/index.ts');
  assert.equal((await poll()).kind, 'idle');
  await expect({}, hub.anew());
});

testBased('a repository that itself has one commit of its history', async (based) => {
  const { repository, expect } = based;
  await begin(based);
  await repository.commit('Two', { 'stacks/a/index.ts': '2\n' });
  await writeFile(join(repository.folder, '.git/shallow'), `${await repository.git('rev-parse', 'HEAD')}\n`);
  await forget(based);
  await expect({ a: changed('stacks/a/index.ts') });
  await repository.commit('Three', { 'stacks/b/index.ts': '2\n' });
  await expect({ b: changed('stacks/b/index.ts') });
});
