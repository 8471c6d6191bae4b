import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { serveGit } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { until } from '../../harness/until.ts';
import { commitTree, writeBlob, writeRawTree } from './plumbing.ts';
import { first, INTERVAL, rigOf, settings, started } from './rig.ts';

test('a poll without news starts no process, over HTTP and for a local path', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  for (const url of [server.url, repository.folder, `file://${repository.folder}`]) {
    const rig = await rigOf(t, [settings(url)]);
    assert.equal((await first(rig)).tree?.commit.subject, 'One');
    const before = (await rig.processes()).length;
    const requests = server.requests.length;
    for (let n = 0; n < 3; n++) assert.equal((await first(rig)).state, 'Ready');
    assert.equal((await rig.processes()).length, before, url);
    assert.ok(server.requests.length - requests <= 3, 'one request a poll');
    await repository.commit('Two', { 'a.yaml': '2' });
    assert.equal((await first(rig)).tree?.commit.subject, 'Two');
    await repository.git('reset', '--hard', '--quiet', 'HEAD~1');
    assert.equal((await first(rig)).tree?.commit.subject, 'One');
  }
});

test('what goes wrong is a state with an age and words, and the tree of before stays in force', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  server.protect({ username: 'bot', password: 's3cret-canary' });
  const environment = { PATH: process.env['PATH'], PASSWORD: 's3cret-canary' };
  const auth = { username: 'bot', password: { env: 'PASSWORD' } };
  const git = { program: 'git', environment };
  const rig = await rigOf(t, [settings(server.url, { auth })], { git });
  const good = await first(rig);
  assert.equal(good.url, server.url);
  const rows: readonly (readonly [() => Promise<unknown> | void, string])[] = [
    [() => server.fail(() => ({ kind: 'refuse' })), 'Unreachable'],
    [() => server.fail(() => ({ kind: 'status', status: 503 })), 'Unreachable'],
    [() => server.fail(() => ({ kind: 'truncate', afterBytes: 0 })), 'Unreachable'],
    [() => (server.fail(undefined), server.protect({ username: 'bot', password: 'new' })), 'AuthFailed'],
    [
      () => (
        server.protect({ username: 'bot', password: 's3cret-canary' }),
        repository.git('branch', '-m', 'main', 'x')
      ),
      'RefMissing',
    ],
    [() => repository.git('branch', '-m', 'x', 'main'), 'Ready'],
  ];
  for (const [change, state] of rows) {
    await change();
    const view = await first(rig);
    assert.equal(view.state, state);
    assert.equal(view.message !== undefined, state !== 'Ready');
    assert.doesNotMatch(view.message ?? '', /canary/);
    assert.equal(view.checkedAt, rig.now());
    assert.equal(view.tree, good.tree);
  }
});

test('since is kept as long as the state lasts', async (t) => {
  const repository = await started(t);
  const rig = await rigOf(t, [settings(repository.folder)]);
  await first(rig);
  await rm(repository.folder, { recursive: true });
  const failed = await first(rig);
  const again = await first(rig);
  assert.equal(failed.state, 'Unreachable');
  assert.equal(again.since, failed.since);
  assert.ok(again.checkedAt > failed.checkedAt);
});

test('an emptied branch is a tree without files, an emptied repository is none', async (t) => {
  const repository = await started(t);
  const rig = await rigOf(t, [settings(repository.folder)]);
  await first(rig);
  await repository.commit('Emptied', { 'a.yaml': null });
  assert.deepEqual(await (await first(rig)).tree?.entries(), []);
  await rm(repository.folder, { recursive: true });
  await mkdir(repository.folder);
  await repository.git('init', '--quiet', '--initial-branch=main');
  const view = await first(rig);
  assert.equal(view.state, 'RefMissing');
  assert.equal(view.tree?.commit.subject, 'Emptied');
});

test('a failing repository is polled less and less, and as the remote asks', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  const rig = await rigOf(t, [settings(server.url)]);
  await first(rig);
  server.fail(() => ({ kind: 'refuse' }));
  const waits: number[] = [];
  for (let n = 0; n < 4; n++) {
    await first(rig);
    waits.push(rig.sources.nextDue() - rig.now());
  }
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000]);
  server.fail(undefined);
  await first(rig);
  assert.ok(rig.sources.nextDue() - rig.now() <= INTERVAL);
});

test('a mirror that turns out to be damaged is read anew', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  const rig = await rigOf(t, [settings(server.url)]);
  const tree = (await first(rig)).tree;
  const packs = join(rig.folder, (await readdir(rig.folder))[0] ?? '', 'objects/pack');
  await rig.sources.close();
  const other = await rigOf(t, [settings(server.url)], { folder: rig.folder });
  for (const file of await readdir(packs)) if (file.endsWith('.pack')) await truncate(join(packs, file), 20);
  assert.equal((await first(other)).state, 'Ready');
  const anew = (await first(other)).tree;
  assert.equal(anew?.commit.id, tree?.commit.id);
  const id = (await anew?.entries())?.[0]?.id ?? '';
  assert.equal((await anew?.blob(id))?.toString(), '1');
});

test('damage that a read meets makes the repository due at once', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  const rig = await rigOf(t, [settings(server.url)]);
  const tree = (await first(rig)).tree;
  const packs = join(rig.folder, (await readdir(rig.folder))[0] ?? '', 'objects/pack');
  for (const file of await readdir(packs)) if (file.endsWith('.pack')) await truncate(join(packs, file), 20);
  const id = (await tree?.entries())?.[0]?.id ?? '';
  await assert.rejects(tree?.blob(id) ?? Promise.resolve());
  assert.equal(rig.sources.nextDue(), 0);
  const again = (await first(rig)).tree;
  assert.equal((await again?.blob(id))?.toString(), '1');
  assert.equal(again?.commit.id, tree?.commit.id);
  assert.equal((await tree?.blob(id))?.toString(), '1', 'the tree of before reads on');
});

test('one silent remote does not hold up the others; its late answer is hinted', async (t) => {
  const slow = await started(t);
  const fast = await started(t);
  const server = await serveGit(t, slow);
  server.fail(() => ({ kind: 'hang' }));
  const rig = await rigOf(
    t,
    [settings(server.url, { name: 'slow' }), settings(fast.folder, { name: 'fast' })],
    {
      graceMs: 200,
    },
  );
  const [one, two] = await rig.sources.refresh(rig.now());
  assert.equal(one?.state, 'Hydrating');
  assert.equal(two?.state, 'Ready');
  const hints = rig.hints;
  server.fail(undefined);
  await until('the hint of the late poll', () => rig.hints > hints);
  const late = await until('a settled state', async () => {
    const [view] = await rig.poll();
    return view?.state === 'Ready' ? view : undefined;
  });
  assert.equal(late.tree?.commit.subject, 'One');
});

test('a commit in a local repository is hinted, and a hinted repository is due', async (t) => {
  const repository = await started(t);
  const rig = await rigOf(t, [settings(repository.folder)]);
  await first(rig);
  assert.ok(rig.sources.nextDue() > rig.now());
  await repository.commit('Two', { 'a.yaml': '2' });
  await until('a hint', () => rig.hints > 0 && rig.sources.nextDue() === 0);
  assert.equal((await rig.sources.refresh(rig.now()))[0]?.tree?.commit.subject, 'Two');
});

test('a commit and a tag may be named; what is not supported or misspelt is said at once', async (t) => {
  const repository = await started(t);
  const id = await repository.git('rev-parse', 'HEAD');
  await repository.git('tag', '--annotate', '--message', 'm', 'v1');
  await repository.commit('Two', { 'a.yaml': '2' });
  const rig = await rigOf(t, [
    settings(repository.folder, { name: 'commit', ref: { commit: id } }),
    settings(repository.folder, { name: 'tag', ref: { tag: 'v1' } }),
    settings(repository.folder, { name: 'gone', ref: { commit: '1'.repeat(40) } }),
  ]);
  const views = await rig.poll();
  assert.deepEqual(
    views.map((view) => view.tree?.commit.id),
    [id, id, undefined],
  );
  assert.equal(views[2]?.state, 'RefMissing');
  await assert.rejects(
    rigOf(t, [
      settings('ext::sh -c true', { name: 'a' }),
      settings('git://host/x', { name: 'b' }),
      settings(repository.folder, { name: 'c', ref: { semver: 'newest' } }),
      settings(repository.folder, { name: 'd', ref: { branch: 'a..b' } }),
      settings(repository.folder, { name: 'd' }),
    ]),
    /^Error: repository a: .*\nrepository b: .*\nrepository c: .*semver.*\nrepository d: .*\nrepository d: .*twice$/,
  );
});

test('mirrors of repositories that are no longer configured are removed', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  const rig = await rigOf(t, [settings(server.url, { name: 'old' })]);
  await first(rig);
  await rig.sources.close();
  const next = await rigOf(t, [settings(server.url, { name: 'new' })], { folder: rig.folder });
  await first(next);
  assert.deepEqual(
    (await readdir(rig.folder)).map((name) => name.split('-')[0]),
    ['new'],
  );
});

test('ssh is asked by git, with the protocol of this machine and nothing else', async (t) => {
  const repository = await started(t);
  const folder = await tempFolder(t, 'ssh');
  // Stands for ssh and the machine behind it: runs the command that would be sent there.
  const recorded = join(folder, 'arguments');
  const script = `#!/bin/sh\nprintf '%s\\n' "$*" >> ${recorded}\nfor last; do :; done\nexec sh -c "$last"\n`;
  await writeFile(join(folder, 'ssh'), script);
  await chmod(join(folder, 'ssh'), 0o755);
  const environment = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
  const git = { program: 'git', environment };
  const auth = { knownHosts: 'host ssh-ed25519 AAAA' };
  const rig = await rigOf(t, [settings(`ssh://git@host${repository.folder}`, { auth })], { git });
  assert.equal((await first(rig)).tree?.commit.subject, 'One');
  await repository.commit('Two', { 'a.yaml': '2' });
  await repository.git('branch', 'x/main');
  assert.equal((await first(rig)).tree?.commit.subject, 'Two');
  await repository.git('branch', '-m', 'main', 'gone');
  assert.equal((await first(rig)).state, 'RefMissing');
  for (const call of (await readFile(recorded, 'utf8')).trim().split('\n'))
    assert.match(call, /-oStrictHostKeyChecking=yes .*-oUserKnownHostsFile=\S+known_hosts/);
});

for (const driver of ['native', 'isomorphic'] as const) {
  const refusing = (url: string): ReturnType<typeof settings> =>
    settings(url, { driver, nonFastForward: 'refuse' });

  test(`${driver}: a rewritten history is followed and shown, or refused until a descendant comes`, async (t) => {
    const repository = await started(t);
    const server = await serveGit(t, repository);
    const base = await repository.git('rev-parse', 'HEAD');
    const old = await repository.commit('Two', { 'a.yaml': '2' });
    const allowing = await rigOf(t, [settings(server.url, { driver })]);
    const rig = await rigOf(t, [refusing(server.url)]);
    assert.equal((await first(rig)).tree?.commit.id, old);
    assert.equal((await first(allowing)).driver, driver);
    await repository.git('reset', '--quiet', '--hard', base);
    await repository.commit('Other', { 'a.yaml': '3' });
    const followed = await first(allowing);
    assert.equal(followed.tree?.commit.subject, 'Other');
    assert.deepEqual([followed.moved?.from, followed.moved?.descends], [old, 'no']);
    const refused = await first(rig);
    assert.deepEqual([refused.state, refused.tree?.commit.id], ['Refused', old]);
    assert.match(refused.message ?? '', new RegExp(`does not descend from ${old}`));
    await rig.sources.close();
    const later = await rigOf(t, [refusing(server.url)], { folder: rig.folder });
    const again = await first(later);
    assert.equal(again.state, 'Refused', 'after a restart');
    await repository.git('reset', '--quiet', '--hard', old);
    await repository.commit('Three', { 'a.yaml': '4' });
    const healed = await first(later);
    assert.deepEqual([healed.state, healed.tree?.commit.subject], ['Ready', 'Three']);
  });

  test(`${driver}: a commit that was refused is not fetched again until the ref moves`, async (t) => {
    const repository = await started(t);
    const server = await serveGit(t, repository);
    const rig = await rigOf(t, [settings(server.url, { driver })]);
    const good = await first(rig);
    const id = await writeBlob(repository, 'x');
    await commitTree(repository, await writeRawTree(repository, [{ mode: '100644', name: '..', id }]));
    assert.equal((await first(rig)).state, 'Refused');
    const requests = server.requests.length;
    const still = await first(rig);
    assert.deepEqual([still.state, still.tree], ['Refused', good.tree]);
    assert.equal(server.requests.length, requests + 1, 'only the ref is asked for');
  });
}
