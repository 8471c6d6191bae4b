import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, readRemote } from '../../../hub/git/remote.ts';
import { serveGit } from '../../harness/serve.ts';
import { rigOf, settings, started } from './rig.ts';

test('a host is asked as often as it may be, whoever asks, and who waits says until when', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  const names = ['a', 'b', 'c', 'd'];
  const rig = await rigOf(
    t,
    names.map((name) => settings(server.url, { name, intervalMs: 1_000 })),
    { perHost: { connections: 2, requestsPerMinute: 12 } },
  );
  const views = await rig.sources.refresh(rig.now());
  assert.deepEqual(
    views.map(({ state }) => state),
    ['Ready', 'Ready', 'Hydrating', 'Hydrating'],
  );
  assert.match(
    views[2]?.note ?? '',
    /waiting for the budget of 127\.0\.0\.1:\d+ until 1970-01-01T00:16:\d\d/,
  );
  const due = rig.sources.nextDue();
  assert.ok(due > rig.now() && due < Infinity);
  const polls = new Map<string, number>();
  const last = new Map<string, number>();
  for (const end = rig.now() + 600_000; rig.now() < end;)
    for (const { name, checkedAt } of await rig.poll()) {
      if (last.get(name) !== checkedAt) polls.set(name, (polls.get(name) ?? 0) + 1);
      last.set(name, checkedAt);
    }
  const counts = names.map((name) => polls.get(name) ?? 0);
  assert.ok(counts.reduce((sum, count) => sum + count) <= 125, 'twelve a minute, and what was saved up');
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `nobody is left out: ${counts.join()}`);
});

test('what one answer asks for holds for every repository on the host', async (t) => {
  const repository = await started(t);
  const server = await serveGit(t, repository);
  const options = { graceMs: 60_000, perHost: { connections: 1, requestsPerMinute: 6_000 } };
  const rig = await rigOf(
    t,
    ['a', 'b'].map((name) => settings(server.url, { name })),
    options,
  );
  const now = Date.now();
  await rig.sources.refresh(now);
  const asked = server.requests.length;
  server.say({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${Math.ceil(now / 1_000) + 600}` });
  const later = now + 5_000;
  await rig.sources.refresh(later);
  const [one, two] = await rig.sources.refresh(later + 5_000);
  assert.match(one?.note ?? '', /waiting for the budget/);
  assert.match(two?.note ?? '', /waiting for the budget/);
  assert.ok(server.requests.length - asked <= 2, 'those that were under way');
  assert.ok(rig.sources.nextDue() >= now + 595_000);
});

test('repositories are on one host whatever their urls look like', () => {
  const rows: readonly [string, string | undefined][] = [
    ['https://git.example.com/a', 'git.example.com'],
    ['https://git.example.com:8443/a', 'git.example.com:8443'],
    ['ssh://git@git.example.com/a', 'git.example.com'],
    ['git@git.example.com:a/b.git', 'git.example.com'],
    ['git.example.com:a/b.git', 'git.example.com'],
    ['/srv/a', undefined],
  ];
  for (const [url, host] of rows) {
    const remote = readRemote(url);
    assert.ok(remote.kind !== 'refused');
    assert.equal(hostOf(remote), host, url);
  }
});
