import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlacementAnswer } from '../../hub/api/schemas.ts';
import { makeRepository, type Repository } from '../harness/git.ts';
import type { Owner } from '../harness/owned.ts';
import { until } from '../harness/until.ts';
import { effectOf, effectOfAll } from './effect.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { applied, cluster, defaults, program, stack, stackFiles } from './programs.ts';

interface World {
  readonly fleet: Fleet;
  /** Stacks whose programs lie elsewhere. */
  readonly shop: Repository;
  /** Programs, no manifests. */
  readonly programs: Repository;
}

const ON_BOTH = '{all: true}';
const ON_HARBOUR = '{names: [harbour]}';

async function begin(owner: Owner): Promise<World> {
  const [shop, programs] = [await makeRepository(owner, 'shop'), await makeRepository(owner, 'programs')];
  await programs.commit('programs', { 'cart/Pulumi.yaml': program('cart', 'cart 1') });
  await shop.commit('shop', { 'README.md': 'empty yet' });
  const fleet = await startFleet(owner, {
    clusters: ['harbour', 'quay'],
    agentEnv: { PASSPHRASE: 'correct horse' },
    allowEnv: ['PASSPHRASE'],
    others: [
      { name: 'shop', url: shop.folder, trust: 'stacks' },
      { name: 'programs', url: programs.folder, trust: 'sources' },
    ],
  });
  const first = await fleet.commit('first', {
    'fleet.yaml': `${cluster('harbour', '{sea: north}')}---\n${cluster('quay', '{sea: south}')}`,
    'stacks/defaults.yaml': defaults(fleet.state),
    ...stackFiles({ name: 'web' }, 'web 1'),
    ...stackFiles({ name: 'idle', clusters: ON_HARBOUR }, 'idle'),
  });
  await fleet.reader.atRest(first);
  return { fleet, shop, programs };
}

/** A program with an output that cannot be made. */
const broken = (name: string): string =>
  `name: ${name}\nruntime: yaml\nvariables:\n  lost: {fn::readFile: ./lost.txt}\noutputs:\n  value: \${lost}\n`;

const rowOf = (rows: readonly PlacementAnswer[], clusterName: string, name: string): PlacementAnswer => {
  const row = rows.find((one) => one.cluster === clusterName && one.name === name);
  assert.ok(row, `${clusterName}/${name}`);
  return row;
};

const none = { harbour: 0, quay: 0 };

const STORIES: Readonly<Record<string, (world: World) => Promise<void>>> = {
  'a commit to one stack is one order and one run a selected cluster': async ({ fleet }) => {
    const effect = await effectOf(fleet, 'second', { 'stacks/web/Pulumi.yaml': program('web', 'web 2') });
    assert.deepEqual([effect.orders, effect.updates], [{ harbour: 1, quay: 1 }, 2]);
    for (const name of ['harbour', 'quay']) {
      assert.deepEqual(await applied(fleet.state, 'web', name), { value: 'web 2', updates: 2 });
      const runs = await fleet.reader.runs({ cluster: name, name: 'web' });
      assert.deepEqual([runs.length, runs[0]?.trigger.code], [2, 'InputChanged']);
    }
    assert.deepEqual(await applied(fleet.state, 'idle', 'harbour'), { value: 'idle', updates: 1 });
  },

  'a README alone is no order and no process, and every placement can say why': async ({ fleet }) => {
    for (const text of ['once', 'twice']) {
      const effect = await effectOf(fleet, 'explain', { 'README.md': text });
      assert.deepEqual([effect.orders, effect.started], [none, []]);
      assert.equal(effect.rows.length, 3);
      for (const row of effect.rows) {
        const { decided, text: words } = await fleet.reader.why(row, effect.commit);
        assert.deepEqual([decided?.verdict, decided?.reasons[0]?.code], ['unchanged', 'Unchanged']);
        assert.match(words, /unchanged/);
      }
    }
  },

  'a failed commit fails once; its revert runs again': async ({ fleet }) => {
    const before = await applied(fleet.state, 'web', 'quay');
    const failing = await effectOf(fleet, 'break', { 'stacks/web/Pulumi.yaml': broken('web') });
    assert.deepEqual([failing.orders, failing.updates], [{ harbour: 1, quay: 1 }, 2]);
    assert.equal(rowOf(failing.rows, 'quay', 'web').status, 'Failed');
    const revert = await effectOf(fleet, 'revert', { 'stacks/web/Pulumi.yaml': program('web', 'web 2') });
    assert.deepEqual([revert.orders, revert.updates], [{ harbour: 1, quay: 1 }, 2]);
    assert.equal(rowOf(revert.rows, 'quay', 'web').status, 'Succeeded');
    assert.equal((await applied(fleet.state, 'web', 'quay')).value, before.value);
    const [newest] = await fleet.reader.runs({ cluster: 'quay', name: 'web' });
    assert.deepEqual([newest?.result, newest?.trigger.code], ['succeeded', 'LastAttemptFailed']);
  },

  'the revert of a commit that was never applied runs nothing': async ({ fleet }) => {
    const effect = await effectOfAll(fleet, async () => {
      await Promise.all([...fleet.agents.values()].map((agent) => agent.stop()));
      const change = await fleet.commit('change', { 'stacks/web/Pulumi.yaml': program('web', 'web 3') });
      await plannedAt(fleet, change);
      const revert = await fleet.commit('revert', { 'stacks/web/Pulumi.yaml': program('web', 'web 2') });
      await plannedAt(fleet, revert);
      for (const agent of fleet.agents.values()) agent.start();
      return revert;
    });
    assert.deepEqual([effect.orders, effect.started], [{ harbour: 2, quay: 2 }, []]);
    assert.equal((await applied(fleet.state, 'web', 'quay')).value, 'web 2');
  },

  'a suspended stack waits, says so, and runs the newest when that ends': ({ fleet }) =>
    suspended(fleet, {
      held: ['harbour', 'quay'],
      suspend: (on) => ({
        'stacks/web/stack.yaml': stack({ name: 'web', more: on ? '  suspend: {reason: tide}\n' : '' }),
      }),
    }),

  'a suspended cluster waits, and the other goes on': ({ fleet }) =>
    suspended(fleet, {
      held: ['harbour'],
      suspend: (on) => ({
        'fleet.yaml': [
          `${cluster('harbour', '{sea: north}')}spec: ${on ? '{suspend: {reason: tide}}' : '{}'}\n`,
          cluster('quay', '{sea: south}'),
        ].join('---\n'),
      }),
    }),

  'a suspended fleet waits as a whole': ({ fleet }) =>
    suspended(fleet, {
      held: ['harbour', 'quay'],
      suspend: (on) => ({
        'whole.yaml': on
          ? 'apiVersion: towline.dev/v1\nkind: Fleet\nmetadata: {name: all}\nspec: {suspend: {reason: tide}}\n'
          : null,
      }),
    }),

  'a run request runs once more, and once only': async ({ fleet }) => {
    const more = '  runRequest: INC-42\n';
    const asked = await effectOf(fleet, 'ask', { 'stacks/web/stack.yaml': stack({ name: 'web', more }) });
    assert.deepEqual([asked.orders, asked.updates], [{ harbour: 1, quay: 1 }, 2]);
    const [newest] = await fleet.reader.runs({ cluster: 'quay', name: 'web' });
    assert.equal(newest?.trigger.code, 'RunRequested');
    const later = await effectOf(fleet, 'nothing', { 'README.md': 'asked' });
    assert.deepEqual([later.orders, later.started], [none, []]);
    const gone = await effectOf(fleet, 'forget it', { 'stacks/web/stack.yaml': stack({ name: 'web' }) });
    assert.deepEqual(gone.started, []);
  },

  'a change of policy alone is an order that runs nothing': async ({ fleet }) => {
    const more = '  run: {timeout: 2h, message: by hand}\n';
    const effect = await effectOf(fleet, 'policy', { 'stacks/web/stack.yaml': stack({ name: 'web', more }) });
    assert.deepEqual([effect.orders, effect.started], [{ harbour: 1, quay: 1 }, []]);
    const { decided } = await fleet.reader.why({ cluster: 'quay', name: 'web' }, effect.commit);
    assert.deepEqual([decided?.verdict, decided?.reasons[0]?.code], ['policy', 'OnlyPolicyChanged']);
    const detail = await fleet.reader.placement({ cluster: 'quay', name: 'web' });
    assert.deepEqual([detail.status, detail.order?.timeoutMs], ['Succeeded', 7_200_000]);
  },

  'Defaults and overrides reach the run': async ({ fleet }) => {
    const text = 'outputs:\n  value: ${greeting} ${place}\n';
    const head = 'name: sign\nruntime: yaml\nconfig: {greeting: {type: string}, place: {type: string}}\n';
    const effect = await effectOf(fleet, 'signs', {
      'stacks/signs/defaults.yaml':
        'apiVersion: towline.dev/v1\nkind: Defaults\nmetadata: {name: signs}\n' +
        'spec: {config: {"sign:greeting": ahoy, "sign:place": nowhere}}\n',
      'stacks/signs/sign/Pulumi.yaml': head + text,
      'stacks/signs/sign/stack.yaml': stack({
        name: 'sign',
        more:
          '  config: {"sign:place": "{cluster}"}\n  overrides:\n' +
          '    - {clusters: {selector: {matchLabels: {sea: south}}}, config: {"sign:greeting": moin}}\n',
      }),
    });
    assert.equal(effect.updates, 2);
    assert.equal((await applied(fleet.state, 'sign', 'harbour')).value, 'ahoy harbour');
    assert.equal((await applied(fleet.state, 'sign', 'quay')).value, 'moin quay');
  },

  'a Removal lets go of a stack, keeps its resources and frees its claim': removal,

  'a stack moves to another Pulumi stack only when its manifest says that this is meant': moved,

  'a stack of one repository runs the program of another': elsewhere,
};

/** The revert's order must be a second one: both commits are planned, though only the last counts. */
const plannedAt = (fleet: Fleet, commit: string): Promise<unknown> =>
  until(`a plan of ${commit}`, () => fleet.reader.isPlanned(commit));

interface Suspension {
  readonly held: readonly string[];
  readonly suspend: (on: boolean) => Readonly<Record<string, string | null>>;
}

async function suspended(fleet: Fleet, { held, suspend }: Suspension): Promise<void> {
  const before = await applied(fleet.state, 'web', 'harbour');
  const value = `${String(before.value)}+`;
  const change = { 'stacks/web/Pulumi.yaml': program('web', value) };
  const holding = await effectOf(fleet, 'suspend', { ...suspend(true), ...change });
  assert.equal(holding.updates, 2 - held.length);
  for (const name of held) {
    const row = rowOf(holding.rows, name, 'web');
    assert.deepEqual([row.status, row.reason?.code], ['Suspended', 'Suspended']);
    assert.match(row.reason?.text ?? '', /tide/);
    assert.deepEqual(await applied(fleet.state, 'web', name), before);
  }
  const going = await effectOf(fleet, 'go on', suspend(false));
  assert.equal(going.updates, held.length);
  for (const name of ['harbour', 'quay'])
    assert.equal((await applied(fleet.state, 'web', name)).value, value, name);
}

async function removal({ fleet }: World): Promise<void> {
  const gone = await effectOf(fleet, 'remove the folder', { 'stacks/idle': null });
  assert.deepEqual([gone.orders, gone.started], [{ harbour: 1, quay: 0 }, []]);
  assert.equal(rowOf(gone.rows, 'harbour', 'idle').status, 'Orphaned');
  const heir = {
    'stacks/heir/stack.yaml': stack({ name: 'heir', clusters: ON_HARBOUR }),
    'stacks/heir/Pulumi.yaml': program('idle', 'inherited'),
  };
  const early = await effectOf(fleet, 'an heir', heir);
  assert.equal(rowOf(early.rows, 'harbour', 'heir').reason?.code, 'ClaimConflict');
  assert.deepEqual(early.started, []);
  const before = (await fleet.started()).length;
  await effectOf(fleet, 'let go', {
    'removal.yaml':
      'apiVersion: towline.dev/v1\nkind: Removal\nmetadata: {name: idle}\n' +
      'spec: {stacks: [default/idle], mode: retain, expires: "2100-01-01T00:00:00Z"}\n',
  });
  // the claim is free now, and the heir takes it without another commit
  const heirOf = async (): Promise<unknown> =>
    (await fleet.reader.placement({ cluster: 'harbour', name: 'heir' })).status;
  await until('the heir to take over', heirOf, { accept: (status) => status === 'Succeeded' });
  assert.deepEqual(await applied(fleet.state, 'idle', 'harbour'), { value: 'inherited', updates: 2 });
  const started = (await fleet.started()).slice(before);
  assert.deepEqual(
    started.filter((line) => /destroy|stack rm/.test(line)),
    [],
  );
}

async function moved({ fleet }: World): Promise<void> {
  const to = (more: string): Readonly<Record<string, string>> => ({
    'stacks/web/stack.yaml': stack({
      name: 'web',
      clusters: ON_BOTH,
      more: `  pulumiStack: "organization/web/new-{cluster}"\n${more}`,
    }),
  });
  const before = await applied(fleet.state, 'web', 'quay');
  const held = await effectOf(fleet, 'another Pulumi stack', to(''));
  assert.deepEqual([held.orders, held.started], [none, []]);
  assert.equal(rowOf(held.rows, 'quay', 'web').reason?.code, 'StackIdentityChanged');
  const meant = await effectOf(
    fleet,
    'that is meant',
    to('  movedFrom: {pulumiStack: "organization/web/{cluster}"}\n'),
  );
  assert.deepEqual([meant.orders, meant.updates], [{ harbour: 1, quay: 1 }, 2]);
  assert.deepEqual(await applied(fleet.state, 'web', 'new-quay'), { value: before.value, updates: 1 });
  assert.deepEqual(await applied(fleet.state, 'web', 'quay'), before);
}

async function elsewhere({ fleet, shop, programs }: World): Promise<void> {
  const manifest = stack({
    name: 'cart',
    clusters: ON_HARBOUR,
    more:
      `  source: {repository: programs, dir: cart}\n  backend: {url: "file://${fleet.state}"}\n` +
      '  env: [{name: PULUMI_CONFIG_PASSPHRASE, valueFrom: {env: PASSPHRASE}}]\n',
  });
  const added = await effectOfAll(fleet, () => shop.commit('cart', { 'cart.yaml': manifest }));
  assert.deepEqual([added.orders, added.updates], [{ harbour: 1, quay: 0 }, 1]);
  const changed = await effectOfAll(fleet, () =>
    programs.commit('change', { 'cart/Pulumi.yaml': program('cart', 'cart 2') }),
  );
  assert.deepEqual([changed.orders, changed.updates], [{ harbour: 1, quay: 0 }, 1]);
  assert.deepEqual(await applied(fleet.state, 'cart', 'harbour'), { value: 'cart 2', updates: 2 });
  const { order } = await fleet.reader.placement({ cluster: 'harbour', name: 'cart' });
  assert.deepEqual(
    [order?.source.repository, order?.source.manifest.repository, order?.source.commit],
    ['programs', 'shop', changed.commit],
  );
  const unread = await effectOfAll(fleet, () => programs.commit('explain', { 'README.md': 'carts' }));
  assert.deepEqual([unread.orders, unread.started], [none, []]);
}

test('the main job: what a commit sets in motion, and what it does not', async (t) => {
  const world = await begin(t);
  for (const [name, story] of Object.entries(STORIES)) await t.test(name, () => story(world));
});
