import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexTree } from '../../../hub/inputs/folders.ts';
import type { RepositorySettings, SourceView } from '../../../hub/git/source.ts';
import type { Repository } from '../../harness/git.ts';
import type { Owner } from '../../harness/owned.ts';
import { serveGit } from '../../harness/serve.ts';
import { first, rigOf, settings, started } from './rig.ts';

/** Writes a `.gitmodules` and gitlinks, which need not be checked out for that. */
async function link(
  repository: Repository,
  modules: readonly (readonly [string, string, string])[],
): Promise<string> {
  const text = modules
    .map(([path, url]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`)
    .join('');
  await repository.commit('Modules', { '.gitmodules': text });
  for (const [path, , id] of modules)
    await repository.git('update-index', '--add', '--cacheinfo', `160000,${id},${path}`);
  await repository.git('commit', '--quiet', '--message', 'Links');
  return repository.git('rev-parse', 'HEAD');
}

const pathsOf = async ({ tree, message }: SourceView): Promise<string[]> => {
  assert.ok(tree !== undefined, message);
  return (await tree.entries()).map(({ path }) => path);
};

const only = (url: string, more: Partial<RepositorySettings> = {}): RepositorySettings => settings(url, more);

async function library(owner: Owner): Promise<{ repository: Repository; url: string; id: string }> {
  const repository = await started(owner);
  const id = await repository.commit('Lib', { 'a.yaml': null, 'src/x': 'x', 'src.y': 'y' });
  const { url } = await serveGit(owner, repository);
  return { repository, url, id };
}

test('content of an allowed submodule joins the tree below its gitlink, over HTTP and for a local path', async (t) => {
  const [main, lib] = [await started(t), await library(t)];
  await main.commit('Neighbours', { 'lib-a': '1', 'lib.b': '2', libz: '3' });
  await link(main, [['lib', lib.url, lib.id]]);
  const server = await serveGit(t, main);
  for (const url of [server.url, main.folder]) {
    const allow = [lib.url.replace(/\/[^/]*$/, '')];
    const rig = await rigOf(t, [only(url, { submodules: { allow } })]);
    const view = await first(rig);
    const expected = ['.gitmodules', 'a.yaml', 'lib', 'lib-a', 'lib.b', 'lib/src.y', 'lib/src/x', 'libz'];
    assert.deepEqual(await pathsOf(view), expected);
    const entries = (await view.tree?.entries()) ?? [];
    const content = entries.find(({ path }) => path === 'lib/src/x')?.id ?? '';
    assert.equal((await view.tree?.blob(content))?.toString(), 'x');
    const { start, end } = indexTree(entries).folders.get('lib') ?? { start: 0, end: 0 };
    assert.deepEqual(
      entries.slice(start, end).map(({ path }) => path),
      ['lib/src.y', 'lib/src/x'],
    );
  }
});

test('what is not allowed is not asked for, and stays a gitlink', async (t) => {
  const [main, lib] = [await started(t), await library(t)];
  const rows = [
    lib.url,
    lib.repository.folder,
    `file://${lib.repository.folder}`,
    'ext::sh -c touch% /tmp/x',
  ];
  for (const url of rows) {
    await link(main, [['lib', url, lib.id]]);
    const rig = await rigOf(t, [only(main.folder)]);
    assert.deepEqual(await pathsOf(await first(rig)), ['.gitmodules', 'a.yaml', 'lib'], url);
    assert.ok(
      (await rig.processes()).every((command) => !command.includes('fetch')),
      url,
    );
  }
});

test('a repository of the hub may be a submodule of another, by a relative url as well, and have some itself', async (t) => {
  const [main, middle, lib] = [await started(t), await started(t), await library(t)];
  const inner = await link(middle, [['deep', lib.url, lib.id]]);
  const served = await serveGit(t, middle);
  await link(main, [['mid', served.url, inner]]);
  const rig = await rigOf(t, [
    only(main.folder),
    settings(served.url, { name: 'middle', trust: 'sources' }),
    settings(lib.url, { name: 'lib', trust: 'sources' }),
  ]);
  const paths = await pathsOf(await first(rig));
  assert.deepEqual(paths.slice(-3), ['mid/deep', 'mid/deep/src.y', 'mid/deep/src/x']);
});

test('a url that is edited counts, and a commit that nobody pushed is waited for', async (t) => {
  const [main, lib, other] = [await started(t), await library(t), await library(t)];
  const otherId = await other.repository.commit('Other', { other: '1' });
  const unpushed = '1'.repeat(40);
  await link(main, [['lib', lib.url, lib.id]]);
  const allow = [lib.url, other.url];
  const rig = await rigOf(t, [only(main.folder, { submodules: { allow } })]);
  assert.ok((await pathsOf(await first(rig))).includes('lib/src/x'));
  await link(main, [['lib', other.url, otherId]]);
  assert.ok((await pathsOf(await first(rig))).includes('lib/other'));
  await link(main, [['lib', other.url, unpushed]]);
  const view = await first(rig);
  assert.equal(view.state, 'Ready');
  const entry = (await view.tree?.entries())?.find(({ path }) => path === 'lib');
  assert.match(entry?.lacks ?? '', /not our ref|unadvertised/);
  assert.equal(view.tree?.lacking, 'lib');
});

test('a server of a submodule that is away keeps the tree of before in force', async (t) => {
  const [main, repository] = [await started(t), await started(t)];
  const server = await serveGit(t, repository);
  const id = await repository.git('rev-parse', 'HEAD');
  await link(main, [['lib', server.url, id]]);
  const rig = await rigOf(t, [only(main.folder, { submodules: { allow: [server.url] } })]);
  const before = await first(rig);
  const next = await repository.commit('Two', { 'a.yaml': '2' });
  await link(main, [['lib', server.url, next]]);
  server.fail(() => ({ kind: 'refuse' }));
  const away = await first(rig);
  assert.equal(away.state, 'Unreachable');
  assert.match(away.message ?? '', /submodule lib: /);
  assert.equal(away.tree, before.tree);
  server.fail(undefined);
  const back = await first(rig);
  assert.equal(back.state, 'Ready');
  assert.ok((await pathsOf(back)).includes('lib/a.yaml'));
});
