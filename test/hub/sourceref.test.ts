/** Stacks whose program lives in another repository, at a ref of its own: from the manifests to what a run would get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeGather } from '../../hub/catalog/files.ts';
import { readCatalog } from '../../hub/catalog/read.ts';
import { gateOf } from '../../hub/gate.ts';
import { makeMeasure } from '../../hub/measure.ts';
import { resolve } from '../../hub/resolve.ts';
import { makeRepository, type Repository } from '../harness/git.ts';
import type { Owner } from '../harness/owned.ts';
import { watchBoth } from '../harness/sources.ts';

const CLUSTER = 'apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: { name: dev }\n';
const stack = (name: string, source: string): string =>
  `---\napiVersion: towline.dev/v1\nkind: Stack\nmetadata: { name: ${name}, namespace: shop }\nspec:\n  source: ${source}\n  backend: { url: 's3://state' }\n  clusters: { all: true }\n`;

interface Seen {
  readonly source: string;
  readonly commit: string | undefined;
  readonly digest: string;
}

interface Rig {
  readonly fleet: Repository;
  readonly programs: Repository;
  /** One pass without a broker: what each stack comes to, and why others come to nothing. */
  pass(): Promise<{
    wanted: ReadonlyMap<string, Seen>;
    refused: ReadonlyMap<string, string>;
    sources: string[];
  }>;
}

async function rigOf(owner: Owner): Promise<Rig> {
  const [fleet, programs] = [await makeRepository(owner), await makeRepository(owner)];
  const sources = await watchBoth(owner, { fleet, programs });
  const [gather, measure] = [makeGather(), makeMeasure()];
  let now = 1_000_000;
  const pass: Rig['pass'] = async () => {
    now = Math.max(now + 1_000, sources.nextDue());
    const views = await sources.refresh(now);
    const gate = gateOf(views);
    assert.ok(gate.kind === 'open');
    const catalog = readCatalog((await gather(views)).files, now);
    const resolution = resolve(catalog, now, { read: gate.trees, unread: gate.unread });
    sources.want(resolution.asked);
    const measured = await measure.all(resolution.placements, catalog, gate.trees);
    const wanted = measured.wanted.map(({ placement, inputDigest }) => {
      const { repository } = placement.source;
      const commit = gate.trees.get(repository)?.commit.id;
      return [placement.stack.name, { source: repository, commit, digest: inputDigest }] as const;
    });
    const refused = [...resolution.refused, ...measured.refused];
    return {
      wanted: new Map(wanted),
      refused: new Map(refused.map(({ stack, reason }) => [stack.name, `${reason.code}: ${reason.text}`])),
      sources: views.map(({ name }) => name),
    };
  };
  return { fleet, programs, pass };
}

const PROGRAM = 'name: net\nruntime: yaml\n';

test('each stack gets the ref that it asks for, and a missing one keeps back nobody else', async (t) => {
  const { fleet, programs, pass } = await rigOf(t);
  const one = await programs.commit('One', { 'net/Pulumi.yaml': PROGRAM });
  await programs.git('tag', 'v1.0.0');
  const two = await programs.commit('Two', { 'net/Pulumi.yaml': `${PROGRAM}description: two\n` });
  const manifests = [
    CLUSTER,
    stack('own', '{ repository: programs, dir: net }'),
    stack('tagged', '{ repository: programs, dir: net, ref: { tag: v1.0.0 } }'),
    stack('ranged', '{ repository: programs, dir: net, ref: { semver: ^1 } }'),
    stack('fixed', `{ repository: programs, dir: net, ref: { commit: ${one} } }`),
    stack('missing', '{ repository: programs, dir: net, ref: { tag: v9 } }'),
    stack('nowhere', '{ repository: program, dir: net, ref: { tag: v1 } }'),
    stack('wrong', '{ repository: programs, dir: net, ref: { branch: a..b } }'),
  ];
  await fleet.commit('Fleet', { 'fleet.yaml': manifests.join('') });

  const begun = await pass();
  assert.deepEqual([...begun.wanted.keys()], ['own'], 'what is asked for the first time is waited for');
  assert.match(
    begun.refused.get('tagged') ?? '',
    /^SourceUnavailable: .*fleet\.yaml:\d+: .*programs@refs\/tags\/v1\.0\.0, .* not read yet/,
  );

  const { wanted, refused, sources } = await pass();
  assert.equal(wanted.get('own')?.commit, two);
  for (const name of ['tagged', 'ranged', 'fixed']) {
    assert.equal(wanted.get(name)?.commit, one, name);
    assert.equal(
      wanted.get(name)?.digest,
      wanted.get('tagged')?.digest,
      'the same files are the same inputs',
    );
  }
  assert.notEqual(wanted.get('own')?.digest, wanted.get('tagged')?.digest);
  assert.match(refused.get('missing') ?? '', /^SourceUnavailable: .*RefMissing: .*refs\/tags\/v9/);
  assert.match(refused.get('nowhere') ?? '', /^Invalid: .*is not a repository .*did you mean “programs”/);
  assert.match(
    refused.get('wrong') ?? '',
    /^Invalid: .*spec\.source\..*“a\.\.b” is not the name of a branch/,
  );
  assert.deepEqual(sources, [
    'fleet',
    'programs',
    `programs@${one}`,
    'programs@refs/tags/v1.0.0',
    'programs@refs/tags/v9',
    'programs@semver:^1',
  ]);

  await programs.git('tag', 'v1.1.0');
  const moved = await pass();
  assert.equal(moved.wanted.get('ranged')?.commit, two);
  assert.equal(moved.wanted.get('tagged')?.commit, one);
  await programs.git('tag', '--delete', 'v1.0.0');
  assert.equal((await pass()).wanted.get('tagged')?.commit, one, 'what was read stays in force');
  await fleet.commit('Fewer', { 'fleet.yaml': manifests.slice(0, 3).join('') });
  await pass();
  assert.deepEqual((await pass()).sources, ['fleet', 'programs', 'programs@refs/tags/v1.0.0']);
});

test('a stack may take its program from its own repository at another ref, from its manifest’s folder on', async (t) => {
  const { fleet, programs, pass } = await rigOf(t);
  await programs.commit('One');
  const files = { 'fleet.yaml': CLUSTER, 'net/stack.yaml': stack('net', '{ ref: { tag: v1 } }') };
  const one = await fleet.commit('One', { ...files, 'net/Pulumi.yaml': PROGRAM });
  await fleet.git('tag', 'v1');
  await fleet.commit('Two', { 'net/Pulumi.yaml': null });
  await pass();
  const { wanted, refused } = await pass();
  assert.deepEqual([...refused], []);
  assert.equal(wanted.get('net')?.source, 'fleet@refs/tags/v1');
  assert.equal(wanted.get('net')?.commit, one);
});

test('a ref of the stack replaces the one of its Defaults as a whole', async (t) => {
  const { fleet, programs, pass } = await rigOf(t);
  await programs.commit('One', { 'net/Pulumi.yaml': PROGRAM });
  await programs.git('tag', 'v1');
  const defaults =
    '---\napiVersion: towline.dev/v1\nkind: Defaults\nmetadata: { name: all }\nspec:\n  source: { repository: programs, ref: { branch: gone } }\n';
  await fleet.commit('Fleet', {
    'fleet.yaml': CLUSTER + defaults + stack('net', '{ dir: net, ref: { tag: v1 } }'),
  });
  await pass();
  assert.equal((await pass()).wanted.get('net')?.source, 'programs@refs/tags/v1');
});
