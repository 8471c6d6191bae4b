import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { serveGit } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { first, rigOf, settings, started } from './rig.ts';

test('the highest version in a range is followed, over HTTP, ssh and for a local path', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  for (const tag of ['v1.2.0', '1.10.0', 'v1.11.0-rc.1', 'v2.0.0', 'nightly']) {
    await repository.commit(tag);
    await repository.git('tag', '--annotate', '--message', tag, tag);
  }
  await repository.git('pack-refs', '--all');
  const folder = await tempFolder(t, 'ssh');
  await writeFile(join(folder, 'ssh'), '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n');
  await chmod(join(folder, 'ssh'), 0o755);
  const git = { program: 'git', environment: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder } };
  const ssh = `ssh://git@host${repository.folder}`;
  const auth = { knownHosts: 'host ssh-ed25519 AAAA' };
  const rigs = [
    await rigOf(t, [settings(server.url, { ref: { semver: '^1.2' } })]),
    await rigOf(t, [settings(ssh, { ref: { semver: '^1.2' }, auth })], { git }),
    await rigOf(t, [settings(repository.folder, { ref: { semver: '^1.2' } })]),
  ];
  for (const rig of rigs) {
    const view = await first(rig);
    assert.equal(view.tree?.commit.subject, '1.10.0', view.message);
    assert.equal(view.ref, 'refs/tags/1.10.0');
    assert.equal(view.tree.ref, 'refs/tags/1.10.0');
  }
  await repository.commit('v1.12.0');
  await repository.git('tag', 'v1.12.0');
  for (const rig of rigs) assert.equal((await first(rig)).tree?.commit.subject, 'v1.12.0');
  await repository.git('tag', 'v1.13.0');
  for (const rig of rigs)
    assert.equal((await first(rig)).ref, 'refs/tags/v1.13.0', 'another name of one commit');
  const [none] = await (await rigOf(t, [settings(repository.folder, { ref: { semver: '^9' } })])).poll();
  assert.equal(none?.state, 'RefMissing');
  assert.match(none.message ?? '', /no tag is a version in \^9/);
});

test('a tag that is moved is followed, and the source says so', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  const tag = (): Promise<string> => repository.git('tag', '--force', '--annotate', '--message', 'm', 'v1');
  const from = await repository.git('rev-parse', 'HEAD');
  await tag();
  const rig = await rigOf(t, [settings(server.url, { ref: { tag: 'v1' } })]);
  assert.equal((await first(rig)).moved, undefined);
  const to = await repository.commit('Two', { 'a.yaml': '2' });
  await tag();
  for (let n = 0; n < 2; n++) {
    const view = await first(rig);
    assert.equal(view.tree?.commit.id, to);
    assert.deepEqual([view.moved?.from, view.moved?.to], [from, to]);
  }
});
