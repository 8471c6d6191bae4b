import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { HubSilent, makeApi, type Api } from '../../../deploy/local/api.ts';
import { atEnd } from '../../harness/owned.ts';

/** A hub that answers from a table; what is not in it is not there. */
async function serve(
  context: TestContext,
  answers: Record<string, unknown>,
): Promise<{ api: Api; asked: string[] }> {
  const asked: string[] = [];
  const answer = (url: string, response: ServerResponse): void => {
    asked.push(url);
    const body = answers[url];
    response.writeHead(typeof body === 'number' ? body : body === undefined ? 404 : 200);
    response.end(JSON.stringify(body ?? {}));
  };
  const server = createServer((request, response) => answer(request.url ?? '', response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atEnd(context, () => {
    server.closeAllConnections();
    server.close();
  });
  return { api: makeApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), asked };
}

const reason = { code: 'InputChanged', text: 'changed' };
const item = (name: string, more: object = {}): object => ({
  cluster: 'quay',
  namespace: 'port',
  name,
  phase: 'Succeeded',
  reason: { code: 'RunSucceeded', text: 'done' },
  gen: { order: 5, report: 5 },
  verdict: 'run',
  agent: { state: 'Online' },
  reportedAt: 7,
  ...more,
});
const detail = (name: string, more: object = {}): object => ({
  ...item(name),
  order: { gen: 5, inputDigest: 'v1:b', source: { commit: 'c' } },
  report: { gen: 5, inputDigest: 'v1:b', runId: 'r', startedAt: 1, finishedAt: 2 },
  decided: { reasons: [reason] },
  ...more,
});

test('placements come page by page, and a detail only once while nothing changes', async (context) => {
  const { api, asked } = await serve(context, {
    '/v1/placements?limit=100': { items: [item('a')], next: 'x=' },
    '/v1/placements?limit=100&cursor=x%3D': { items: [item('b', { verdict: 'refused' })], next: null },
    '/v1/placements/quay/port/a': detail('a'),
    '/v1/placements/quay/port/b': detail('b', { verdict: 'refused', report: null, phase: 'Unknown' }),
  });
  const [a, b] = await api.placements();
  assert.deepEqual(a, {
    cluster: 'quay',
    namespace: 'port',
    name: 'a',
    phase: 'Succeeded',
    agent: 'Online',
    reason: 'done',
    standing: 'planned',
    wanted: { gen: 5, digest: 'v1:b', commit: 'c' },
    reported: { gen: 5, digest: 'v1:b', runId: 'r', startedAt: 1, finishedAt: 2 },
  });
  assert.deepEqual([b?.standing, b?.reason, b?.reported], ['refused', 'changed', undefined]);
  await api.placements();
  assert.equal(asked.filter((url) => url === '/v1/placements/quay/port/a').length, 1);
});

test('a commit has all its decisions, and its runs are those of the placements', async (context) => {
  const commit = { id: 'c', subject: 'Change a', plannedAt: 3, counts: { run: 2, unchanged: 4 } };
  const decision = (name: string): object => ({
    cluster: 'quay',
    namespace: 'port',
    name,
    verdict: 'run',
    reasons: [reason],
    gen: 5,
  });
  const run = { runId: 'r', gen: 5, inputDigest: 'v1:b', kind: 'update', trigger: reason, result: 'failed' };
  const { api } = await serve(context, {
    '/v1/commits': { items: [commit] },
    '/v1/commits/c': { ...commit, decisions: [decision('a')], next: 'n' },
    '/v1/commits/c?limit=100&cursor=n': { ...commit, decisions: [decision('b')], next: null },
    '/v1/placements?limit=100': { items: [item('a')], next: null },
    '/v1/placements/quay/port/a/runs': { items: [{ ...run, startedAt: 1, finishedAt: 2 }] },
  });
  const found = await api.commit('c');
  assert.deepEqual(
    found?.decisions.map(({ name }) => name),
    ['a', 'b'],
  );
  assert.equal(found?.unchanged, 4);
  assert.equal(await api.commit('unknown'), undefined);
  assert.deepEqual(await api.commits(), [{ sha: 'c', plannedAt: 3 }]);
  assert.deepEqual(
    (await api.runs()).map(({ name, trigger, result }) => [name, trigger, result]),
    [['a', 'InputChanged', 'failed']],
  );
});

test('only errors of manifests are problems, with file and line; only declared clusters get agents', async (context) => {
  const origin = { path: 'fleet.yaml', line: 3 };
  const { api } = await serve(context, {
    '/v1/problems': {
      items: [
        { severity: 'error', text: 'unknown field', origin },
        { severity: 'warning', text: 'selects nothing', origin },
      ],
    },
    '/v1/clusters': {
      items: [
        { name: 'quay', declared: true },
        { name: 'gone', declared: false },
      ],
    },
  });
  assert.deepEqual(await api.problems(), ['fleet.yaml:3: unknown field']);
  assert.deepEqual(await api.clusters(), ['quay']);
});

test('silence is told apart from an answer that is not understood', async (context) => {
  const { api } = await serve(context, { '/v1/clusters': 503, '/v1/sources': { items: 'no list' } });
  await assert.rejects(() => api.clusters(), HubSilent);
  await assert.rejects(
    () => api.sources(),
    (error) => !(error instanceof HubSilent),
  );
  await assert.rejects(() => makeApi('http://127.0.0.1:1').ready(), HubSilent);
});
