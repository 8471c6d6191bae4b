/** Why a commit ran a stack, or did not: asked of the API, over real repositories and passes of a hub. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { makeApi } from '../../../hub/api/api.ts';
import type { WhyAnswer } from '../../../hub/api/schemas.ts';
import { makeMetrics } from '../../../hub/metrics.ts';
import { makeModel } from '../../../hub/model.ts';
import { makeNews } from '../../../hub/news.ts';
import { remember } from '../../../hub/remember.ts';
import { openStore } from '../../../hub/store.ts';
import type { Jets } from '../../../shared/nats.ts';
import { makeRepository, type Repository } from '../../harness/git.ts';
import { watchBoth } from '../../harness/sources.ts';
import { bookOf, makeMemoryHub } from '../../harness/hub.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { quiet } from './fixture.ts';

const document = (kind: string, name: string, spec = '{}'): string =>
  `apiVersion: towline.dev/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const stack = (name: string, spec = ''): string =>
  document('Stack', name, `{ clusters: { all: true }, backend: { url: 's3://state' }, ${spec} }`);
const program = (name: string, text = ''): string => `name: ${name}\nruntime: yaml\n${text}`;

const FILES = {
  'fleet.yaml': `${document('Cluster', 'harbour')}---\n${document('Cluster', 'quay')}`,
  'web/stack.yaml': stack('web'),
  'web/Pulumi.yaml': program('web'),
  'api/stack.yaml': stack('api', 'source: { include: [/libs/net/**] }'),
  'api/Pulumi.yaml': program('api'),
  'libs/net/a.txt': 'a',
};

interface Rig {
  readonly fleet: Repository;
  readonly programs: Repository;
  /** What the hub does when it looks again. */
  pass(): Promise<void>;
  why(placement: string, commit?: string): Promise<WhyAnswer>;
  readonly app: FastifyInstance;
}

async function rigOf(owner: Owner): Promise<Rig> {
  const [fleet, programs] = [await makeRepository(owner), await makeRepository(owner)];
  await programs.commit('Begin');
  const sources = await watchBoth(owner, { fleet, programs });
  const opened = await openStore(await tempFolder(owner, 'store'), quiet);
  assert.ok(opened.kind === 'open');
  const { store } = opened;
  atEnd(owner, () => store.close());
  const hub = makeMemoryHub(sources, undefined, {
    history: () => store.history,
    knownFiles: (key, digest) => store.knownFiles(key, digest),
    remember: (done) => {
      remember(store, done);
      model.onDone(done);
    },
  });
  const model = makeModel({
    ...{ store, jets: {} as Jets, metrics: makeMetrics(), news: makeNews(quiet), clock: Date.now },
    book: bookOf(hub.inForce as Map<string, never>),
  });
  const app = await makeApi(model, { log: quiet, tokens: [] });
  atEnd(owner, () => app.close());
  let now = 1_000_000;
  return {
    ...{ fleet, programs, app },
    async pass() {
      assert.equal((await hub.pass((now += 10_000))).kind, 'planned');
    },
    async why(placement, commit) {
      const url = `/v1/placements/${placement}/why${commit === undefined ? '' : `?commit=${commit}`}`;
      const answer = await app.inject({ method: 'GET', url });
      assert.equal(answer.statusCode, 200, answer.body);
      return answer.json<WhyAnswer>();
    },
  };
}

/** Verdict, first code, whether it was decided there, and the commits that the reasons name. */
const told = ({ decided, here }: WhyAnswer): readonly unknown[] => [
  decided?.verdict,
  decided?.reasons[0]?.code,
  here,
  decided?.reasons.flatMap(({ commits }) => commits?.map(({ subject }) => subject) ?? []),
];

test('every placement has an answer at every planned commit', async (t) => {
  const { fleet, pass, why } = await rigOf(t);
  const one = await fleet.commit('Begin', FILES);
  await pass();
  const two = await fleet.commit('Change the library', { 'libs/net/a.txt': 'b' });
  await pass();
  const three = await fleet.commit('Change nothing that runs', { 'README.md': 'words' });
  await pass();
  const expected: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
    api: [
      ['run', 'NewPlacement', true, ['Begin']],
      ['run', 'InputChanged', true, ['Change the library']],
      ['unchanged', 'Unchanged', true, []],
    ],
    web: [
      ['run', 'NewPlacement', true, ['Begin']],
      ['unchanged', 'Unchanged', true, []],
      ['unchanged', 'Unchanged', false, []],
    ],
  };
  for (const [name, answers] of Object.entries(expected))
    for (const cluster of ['harbour', 'quay'])
      for (const [n, commit] of [one, two, three].entries())
        assert.deepEqual(
          told(await why(`${cluster}/default/${name}`, commit)),
          answers[n],
          `${name} at ${n + 1}`,
        );
  const { text } = await why('quay/default/web', three);
  assert.equal(
    text,
    `commit ${three.slice(0, 12)} changed nothing for it; since ${two.slice(0, 12)}: unchanged: the inputs are those of the order of ${one}`,
  );
});

test('of commits that come at once the newest is planned, and the others are said not to be', async (t) => {
  const { fleet, pass, why, app } = await rigOf(t);
  await fleet.commit('Begin', FILES);
  await pass();
  const skipped = await fleet.commit('Change the library', { 'libs/net/a.txt': 'b' });
  const newest = await fleet.commit('Say more', { 'README.md': 'words' });
  await pass();
  assert.deepEqual(told(await why('quay/default/api', newest)), ['run', 'InputChanged', true, ['Say more']]);
  const { body } = await app.inject(`/v1/placements/quay/default/api/why?commit=${skipped}`);
  assert.match(
    body,
    /none of the last 3 planned commits; of commits that come at once, the newest is planned/,
  );
});

test('a change that waits keeps the commits at which it was seen', async (t) => {
  const { fleet, pass, why } = await rigOf(t);
  const suspended = (reason: string): string => stack('web', `suspend: { reason: ${reason} }`);
  await fleet.commit('Begin', FILES);
  await pass();
  await fleet.commit('Freeze', { 'web/stack.yaml': suspended('freeze') });
  await pass();
  await fleet.commit('Change the program', { 'web/Pulumi.yaml': program('web', 'description: one\n') });
  await pass();
  const idle = await fleet.commit('Change nothing that runs', { 'README.md': 'words' });
  await pass();
  assert.deepEqual(told(await why('quay/default/web', idle)), [
    ...['hold', 'Suspended', false],
    ['Change the program'],
  ]);
  await fleet.commit('Add a file', { 'web/more.txt': 'more' });
  await pass();
  await fleet.commit('Go on', { 'web/stack.yaml': stack('web') });
  await pass();
  assert.deepEqual(told(await why('quay/default/web')), [
    ...['run', 'InputChanged', true],
    ['Add a file', 'Change the program'],
  ]);
});

test('with several repositories, the one that moved is told', async (t) => {
  const { fleet, programs, pass, why } = await rigOf(t);
  const far = stack('far', 'source: { repository: programs, dir: net }');
  await programs.commit('Write it', { 'net/Pulumi.yaml': program('net') });
  const begin = await fleet.commit('Begin', { ...FILES, 'far.yaml': far });
  await pass();
  const moved = await programs.commit('Move on', { 'net/Pulumi.yaml': program('net', 'description: two\n') });
  await pass();
  assert.deepEqual(told(await why('quay/default/far', moved)), ['run', 'InputChanged', true, ['Move on']]);
  assert.deepEqual(told(await why('quay/default/far', begin)), ['run', 'NewPlacement', true, ['Begin']]);
  assert.deepEqual(told(await why('quay/default/web', moved)), ['unchanged', 'Unchanged', true, []]);
  const config = await fleet.commit('Set a value', {
    'far.yaml': stack('far', `config: { 'net:a': '1' }, source: { repository: programs, dir: net }`),
  });
  await pass();
  assert.deepEqual(told(await why('quay/default/far', config)), [
    ...['run', 'ConfigChanged', true],
    ['Set a value'],
  ]);
  assert.deepEqual(told(await why('quay/default/far', moved)), ['run', 'InputChanged', true, ['Move on']]);
});

test('a stack that is gone, came back, or cannot be planned says so at each commit', async (t) => {
  const { fleet, pass, why } = await rigOf(t);
  const begin = await fleet.commit('Begin', FILES);
  await pass();
  const gone = await fleet.commit('Drop it', { 'web/stack.yaml': null });
  await pass();
  const wrong = await fleet.commit('Mistype it', { 'web/stack.yaml': stack('web', 'sorce: {}') });
  await pass();
  const back = await fleet.commit('Bring it back', { 'web/stack.yaml': stack('web') });
  await pass();
  const at = async (commit: string) => told(await why('quay/default/web', commit)).slice(0, 3);
  assert.deepEqual(await at(begin), ['run', 'NewPlacement', true]);
  assert.deepEqual(await at(gone), ['hold', 'Orphaned', true]);
  assert.deepEqual(await at(wrong), ['refused', 'Invalid', true]);
  assert.deepEqual(await at(back), ['policy', 'OnlyPolicyChanged', true]);
});
