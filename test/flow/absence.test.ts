import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { SourceAnswer } from '../../hub/api/schemas.ts';
import { makeRepository, type Changes } from '../harness/git.ts';
import type { Owner } from '../harness/owned.ts';
import { serveGit, type Fault, type GitRequest } from '../harness/serve.ts';
import { until } from '../harness/until.ts';
import { effectOf, effectOfAll } from './effect.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { applied, cluster, defaults, program, stack } from './programs.ts';

const NORTH = '{selector: {matchLabels: {sea: north}}}';
const CLUSTER = cluster('harbour', '{sea: north}');

const ALL = (state: string): Changes => ({
  'fleet.yaml': CLUSTER,
  'stacks/defaults.yaml': defaults(state),
  'stacks/web/stack.yaml': stack({ name: 'web', clusters: NORTH }),
  'stacks/web/Pulumi.yaml': program('web', 'web 1'),
  'stacks/idle/stack.yaml': stack({ name: 'idle' }),
  'stacks/idle/Pulumi.yaml': program('idle', 'idle'),
});

const settings = { agentEnv: { PASSPHRASE: 'correct horse' }, allowEnv: ['PASSPHRASE'] };

async function begin(owner: Owner): Promise<Fleet> {
  const fleet = await startFleet(owner, { clusters: ['harbour'], ...settings });
  await fleet.reader.atRest(await fleet.commit('first', ALL(fleet.state)));
  return fleet;
}

/** What is there, by everyone's word: orders, reports, Pulumi's state, starts of the CLI. */
async function worldOf(fleet: Fleet): Promise<unknown> {
  const rows = await fleet.reader.placements();
  return {
    published: await fleet.broker.published('harbour'),
    started: (await fleet.started()).filter((line) => line !== 'version'),
    rows: rows.map(({ name, phase, gen, commit }) => ({ name, phase, gen, commit })),
    states: await statesOf(fleet),
  };
}

const statesOf = ({ state }: Fleet): Promise<unknown> =>
  Promise.all(['web', 'idle'].map((name) => applied(state, name, 'harbour')));

interface Absence {
  readonly commit: Changes;
  /** Of the placements that were there. */
  readonly orphans: readonly string[];
  /** New ones that it makes, with the code that keeps each from running. */
  readonly others?: Readonly<Record<string, string>>;
}

const ABSENCES: Readonly<Record<string, Absence>> = {
  'a branch that is emptied': {
    commit: Object.fromEntries(Object.keys(ALL('')).map((path) => [path, null])),
    orphans: ['web', 'idle'],
  },
  'a folder that is removed': { commit: { 'stacks/web': null }, orphans: ['web'] },
  'a cluster with another label': {
    commit: { 'fleet.yaml': cluster('harbour', '{sea: south}') },
    orphans: ['web'],
  },
  'a stack with another name': {
    commit: { 'stacks/web/stack.yaml': stack({ name: 'site', clusters: NORTH }) },
    orphans: ['web'],
    others: { site: 'ClaimConflict' },
  },
  'a Cluster manifest that is removed': { commit: { 'fleet.yaml': null }, orphans: ['web', 'idle'] },
};

async function goAndReturn(fleet: Fleet, { commit, orphans, others = {} }: Absence): Promise<void> {
  const before = await statesOf(fleet);
  const at = Date.now();
  const gone = await effectOf(fleet, 'gone', commit);
  assert.deepEqual(gone.started, []);
  assert.equal(gone.orders['harbour'], orphans.length);
  for (const name of orphans) await assertOrphaned(fleet, name, at);
  for (const [name, code] of Object.entries(others))
    assert.equal((await fleet.reader.placement({ cluster: 'harbour', name })).reason?.code, code);
  assert.deepEqual(await statesOf(fleet), before);

  const again = await effectOf(fleet, 'still gone', { 'notes.txt': String(at) });
  assert.deepEqual([again.orders, again.started], [{ harbour: 0 }, []]);

  const back = await effectOf(fleet, 'back', ALL(fleet.state));
  assert.deepEqual([back.started, back.orders['harbour']], [[], orphans.length]);
  assert.deepEqual(
    back.rows.map(({ name, status }) => [name, status]),
    [
      ['idle', 'Succeeded'],
      ['web', 'Succeeded'],
    ],
  );
  assert.deepEqual(await statesOf(fleet), before);
}

async function assertOrphaned(fleet: Fleet, name: string, since: number): Promise<void> {
  const row = await fleet.reader.placement({ cluster: 'harbour', name });
  assert.deepEqual([row.status, row.phase, row.reason?.code], ['Orphaned', 'Orphaned', 'Orphaned'], name);
  assert.match(row.reason?.text ?? '', new RegExp(`fleet:stacks/${name}/stack\\.yaml`));
  assert.ok(row.since >= since && row.ages.statusMs >= 0, `since ${row.since}`);
}

test('what a commit takes away is frozen and shown, and comes back without a run', async (t) => {
  const fleet = await begin(t);
  for (const [name, absence] of Object.entries(ABSENCES))
    await t.test(name, () => goAndReturn(fleet, absence));

  await t.test('a run that is under way goes on when its branch is emptied', async () => {
    const gate = join(fleet.folder, 'gate');
    await promisify(execFile)('mkfifo', [gate]);
    const waiting = `name: web\nruntime: yaml\nvariables: {gate: {fn::readFile: ${gate}}}\noutputs: {value: "\${gate}"}\n`;
    const slow = await fleet.commit('slow', { 'stacks/web/Pulumi.yaml': waiting });
    await until('the run to wait', async () => {
      const { phase, commit } = await fleet.reader.placement({ cluster: 'harbour', name: 'web' });
      return phase === 'Running' && commit.reported === slow;
    });
    const empty = await fleet.commit('empty', ABSENCES['a branch that is emptied']!.commit);
    await until('the plan', () => fleet.reader.isPlanned(empty));
    await until('the hold to reach the agent', () =>
      /"action":"hold"[^\n]*accepted/.test(fleet.agents.get('harbour')!.log()),
    );
    await writeFile(gate, 'through');
    const rows = await fleet.reader.atRest(empty);
    assert.deepEqual(
      rows.map(({ name, status }) => [name, status]),
      [
        ['idle', 'Orphaned'],
        ['web', 'Orphaned'],
      ],
    );
    assert.deepEqual(await applied(fleet.state, 'web', 'harbour'), { value: 'through', updates: 2 });
    const back = await effectOf(fleet, 'back', { ...ALL(fleet.state), 'stacks/web/Pulumi.yaml': waiting });
    assert.deepEqual(back.started, []);
    assert.equal((await fleet.started()).filter((line) => /^(cancel|destroy)/.test(line)).length, 0);
  });
});

/** A way to be away, and back. */
interface Outage {
  readonly state: SourceAnswer['state'];
  readonly begin: (fleet: Fleet) => Promise<unknown>;
  readonly end: (fleet: Fleet) => Promise<unknown>;
}

const aside = ({ repository }: Fleet): string => `${repository.folder}-away`;

const OUTAGES: Readonly<Record<string, Outage>> = {
  'a folder that is gone': {
    state: 'Unreachable',
    begin: (fleet) => rename(fleet.repository.folder, aside(fleet)),
    end: (fleet) => rename(aside(fleet), fleet.repository.folder),
  },
  'a ref that is deleted': {
    state: 'RefMissing',
    begin: ({ repository }) => repository.git('update-ref', '-d', 'refs/heads/main'),
    end: ({ repository }) => repository.git('update-ref', 'refs/heads/main', 'kept'),
  },
};

const sourceIs = (fleet: Fleet, state: SourceAnswer['state']): Promise<SourceAnswer> =>
  until(`the repository to be ${state}`, async () => {
    const [source] = await fleet.reader.sources();
    return source?.state === state && source;
  });

/** Every row says that what is wanted is not known any more, and since when. */
async function assertShown(fleet: Fleet, state: SourceAnswer['state'], since: number): Promise<void> {
  const source = await sourceIs(fleet, state);
  assert.ok(source.since >= since && (source.message ?? '') !== '', JSON.stringify(source));
  for (const row of await fleet.reader.placements())
    assert.deepEqual([row.source?.state, row.source?.since], [state, source.since]);
  await until('the log to say so', () => fleet.hub.log().includes(`repository fleet is ${state}: `));
}

test('a repository that cannot be read changes nothing', async (t) => {
  const fleet = await begin(t);
  await fleet.repository.git('tag', 'kept');
  for (const [name, outage] of Object.entries(OUTAGES))
    await t.test(name, async () => {
      const before = await worldOf(fleet);
      const at = Date.now();
      await outage.begin(fleet);
      await assertShown(fleet, outage.state, at);
      assert.deepEqual(await worldOf(fleet), before);
      await outage.end(fleet);
      await sourceIs(fleet, 'Ready');
      assert.deepEqual(await worldOf(fleet), before);
    });

  await t.test(
    'a hub that starts meanwhile plans nothing, says why, and leaves agents as they are',
    async () => {
      const before = await worldOf(fleet);
      await fleet.hub.stop();
      await rename(fleet.repository.folder, aside(fleet));
      fleet.hub.start();
      await until('readyz to say why', async () =>
        /repository fleet: Unreachable: /.test(await readiness(fleet)),
      );
      const published = await fleet.broker.published('harbour');
      await rename(aside(fleet), fleet.repository.folder);
      await until('the hub to be ready', async () => /"ready"/.test(await readiness(fleet)));
      const after = (await worldOf(fleet)) as { published: number };
      // the lease's new term is told to the cluster's agent
      assert.deepEqual({ ...after, published }, before);
      assert.equal(after.published, published + 1);
    },
  );
});

const readiness = (fleet: Fleet): Promise<string> => fleet.reader.text('/readyz');

const onUpload = ({ path }: GitRequest): boolean => path.endsWith('/git-upload-pack');

const FAULTS: Readonly<
  Record<string, readonly [SourceAnswer['state'], (request: GitRequest) => Fault | undefined]>
> = {
  'connections that are cut': ['Unreachable', () => ({ kind: 'refuse' })],
  'answers of an error': ['Unreachable', () => ({ kind: 'status', status: 500 })],
  'logins that are refused': ['AuthFailed', () => ({ kind: 'status', status: 403 })],
  'a repository that the server does not know': ['Unreachable', () => ({ kind: 'status', status: 404 })],
  'answers that are cut': [
    'Unreachable',
    (request) => (onUpload(request) ? { kind: 'truncate', afterBytes: 40 } : undefined),
  ],
};

test('a server of repositories that fails changes nothing, and what came meanwhile is applied after', async (t) => {
  const remote = await makeRepository(t, 'remote');
  const server = await serveGit(t, remote);
  const fleet = await startFleet(t, { clusters: ['harbour'], url: server.url, ...settings });
  await fleet.reader.atRest(await remote.commit('first', ALL(fleet.state)));
  let n = 1;
  for (const [name, [state, fault]] of Object.entries(FAULTS))
    await t.test(name, async () => {
      n += 1;
      const before = await worldOf(fleet);
      const at = Date.now();
      server.fail(fault);
      const next = await remote.commit('meanwhile', { 'stacks/web/Pulumi.yaml': program('web', `web ${n}`) });
      await assertShown(fleet, state, at);
      assert.deepEqual(await worldOf(fleet), before);
      const effect = await effectOfAll(fleet, async () => {
        server.fail(undefined);
        return next;
      });
      assert.deepEqual([effect.orders, effect.updates], [{ harbour: 1 }, 1]);
      assert.deepEqual(await applied(fleet.state, 'web', 'harbour'), { value: `web ${n}`, updates: n });
    });
});
