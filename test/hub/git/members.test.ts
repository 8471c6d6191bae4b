import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import type { AskedSource } from '../../../hub/git/source.ts';
import { serveGit } from '../../harness/serve.ts';
import { first, rigOf, settings, started } from './rig.ts';

const asking = (ref: AskedSource['ref'], name: string): AskedSource => ({
  name: `fleet@${name}`,
  repository: 'fleet',
  ref,
});

test('refs that stacks ask for are sources of their own, for as long as one asks', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  await repository.git('tag', 'v1');
  await repository.commit('Two', { 'a.yaml': '2' });
  for (const url of [server.url, repository.folder]) {
    const rig = await rigOf(t, [settings(url)]);
    await first(rig);
    const all = [
      asking({ tag: 'v1' }, 'refs/tags/v1'),
      asking({ tag: 'gone' }, 'refs/tags/gone'),
      asking({ branch: 'main' }, 'refs/heads/main'),
    ];
    rig.sources.want(all);
    assert.equal(rig.sources.nextDue(), 0, 'they are read at once');
    const views = await rig.poll();
    assert.deepEqual(
      views.map(({ name, of, trust, state, tree }) => [name, of, trust, state, tree?.commit.subject]),
      [
        ['fleet', undefined, 'fleet', 'Ready', 'Two'],
        ['fleet@refs/heads/main', 'fleet', 'sources', 'Ready', 'Two'],
        ['fleet@refs/tags/gone', 'fleet', 'sources', 'RefMissing', undefined],
        ['fleet@refs/tags/v1', 'fleet', 'sources', 'Ready', 'One'],
      ],
    );
    assert.match(views[2]?.message ?? '', /refs\/tags\/gone/);
    rig.sources.want([...all].reverse());
    assert.notEqual(rig.sources.nextDue(), 0, 'nothing new is asked for');
    const mirrors = (): Promise<string[]> => readdir(rig.folder);
    if (url === server.url)
      assert.equal((await mirrors()).length, 2, 'a ref that is watched anyway is read once');
    rig.sources.want([]);
    assert.deepEqual(
      (await rig.poll()).map(({ name }) => name),
      ['fleet'],
    );
    if (url === server.url) assert.equal((await mirrors()).length, 1);
  }
});

test('a mirror of a ref that stacks ask for outlives a restart', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  await repository.git('tag', 'v1');
  const rig = await rigOf(t, [settings(server.url)]);
  rig.sources.want([asking({ tag: 'v1' }, 'refs/tags/v1')]);
  await rig.poll();
  const before = (await readdir(rig.folder)).sort();
  assert.equal(before.length, 2);
  await rig.sources.close();
  const next = await rigOf(t, [settings(server.url)], { folder: rig.folder });
  assert.deepEqual((await readdir(rig.folder)).sort(), before);
  next.sources.want([]);
  await next.poll();
  assert.equal((await readdir(rig.folder)).length, 1);
});
