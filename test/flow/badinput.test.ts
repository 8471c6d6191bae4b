import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CatalogProblemAnswer } from '../../hub/api/schemas.ts';
import type { Changes } from '../harness/git.ts';
import type { Owner } from '../harness/owned.ts';
import { until } from '../harness/until.ts';
import { effectOf } from './effect.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { applied, cluster, defaults, program, stack, stackFiles } from './programs.ts';

const WEB = { cluster: 'harbour', name: 'web' };
const MANIFEST = 'stacks/web/stack.yaml';
const PROGRAM = 'stacks/web/Pulumi.yaml';

/** What somebody commits by mistake, beside a change of the stack's program and of another stack. */
interface Mistake {
  readonly commit: Changes;
  /** Undoes it; by default the manifest is as it was. */
  readonly mend?: Changes;
  /** What a commit of text files cannot say. */
  readonly before?: (fleet: Fleet) => Promise<void>;
  /** `PATH:LINE SEVERITY CODE TEXT` of the problem. */
  readonly says: RegExp;
  /**
   * What becomes of the stack that it is about. `kept`: its order stays, it is shown as invalid. `untouched`: it goes on
   * with the change of its program. `orphaned`: it is frozen.
   */
  readonly web?: 'untouched' | 'orphaned';
}

const manifest = (more: string, clusters = '{all: true}'): Changes => ({
  [MANIFEST]: stack({ name: 'web', clusters, more }),
});

const TWIN = {
  'stacks/twin/stack.yaml': stack({ name: 'twin' }),
  'stacks/twin/Pulumi.yaml': program('web', 'the other one'),
};

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'YAML that does not parse': {
    commit: { [MANIFEST]: `${stack({ name: 'web' })}  config: {a: b\n` },
    says: /^stacks\/web\/stack\.yaml:7 error Invalid does not parse: /,
  },
  'an unknown field': {
    commit: manifest('  overides: []\n'),
    says: /^stacks\/web\/stack\.yaml:6 error Invalid .*overides.*did you mean “overrides”/,
  },
  'a misspelt kind': {
    commit: { [MANIFEST]: stack({ name: 'web' }).replace('kind: Stack', 'kind: Stakc') },
    says: /^stacks\/web\/stack\.yaml:2 error Invalid .*Stakc.*did you mean “Stack”/,
  },
  'a project file that is missing': {
    commit: { [PROGRAM]: null },
    says: /^stacks\/web\/stack\.yaml:1 error Invalid stacks\/web of repository fleet has no Pulumi\.yaml/,
  },
  'a stack name twice': {
    commit: { 'other/web.yaml': stack({ name: 'web' }) },
    mend: { 'other/web.yaml': null },
    says: /^stacks\/web\/stack\.yaml:1 error DuplicateIdentity .*also at fleet:other\/web\.yaml:1/,
  },
  'a second placement of a Pulumi stack': {
    commit: TWIN,
    mend: { 'stacks/twin': null },
    says: /^stacks\/twin\/stack\.yaml:1 error ClaimConflict .* belongs to harbour\/default\/web/,
    web: 'untouched',
  },
  'a selector that matches nothing': {
    commit: manifest('', '{selector: {matchLabels: {sea: none}}}'),
    says: /^stacks\/web\/stack\.yaml:5 warning Invalid .*selects no cluster/,
    web: 'orphaned',
  },
  'an unknown cluster': {
    commit: manifest('', '{names: [harbour, harbuor]}'),
    says: /^stacks\/web\/stack\.yaml:5 error Invalid .*“harbuor”.*did you mean “harbour”/,
    web: 'untouched',
  },
  'a project folder outside the repository': {
    commit: manifest('  source: {dir: ../../../web}\n'),
    says: /^stacks\/web\/stack\.yaml:6 error Invalid .*leads out of the repository/,
  },
  'a symlink that leads out of the repository': {
    before: ({ repository }) => symlink('../../../secret', join(repository.folder, 'stacks/web/link')),
    commit: {},
    mend: { 'stacks/web/link': null },
    says: /^stacks\/web\/stack\.yaml:1 error Invalid the symlink stacks\/web\/link leads out/,
  },
  'a manifest of 2 MB': {
    commit: { [MANIFEST]: stack({ name: 'web' }) + `# ${'x'.repeat(77)}\n`.repeat(26_000) },
    says: /^stacks\/web\/stack\.yaml:1 error Invalid the file has 2080\d{3} bytes, more than/,
  },
  'an order that is too large': {
    commit: manifest(`  config: {"web:text": "${'x'.repeat(600_000)}"}\n`),
    says: /^stacks\/web\/stack\.yaml:1 error OrderTooLarge .*biggest fields \(bytes\): config 600/,
  },
};

async function begin(owner: Owner): Promise<Fleet> {
  const fleet = await startFleet(owner, {
    clusters: ['harbour'],
    agentEnv: { PASSPHRASE: 'correct horse' },
    allowEnv: ['PASSPHRASE'],
  });
  const first = await fleet.commit('first', {
    'fleet.yaml': cluster('harbour'),
    'stacks/defaults.yaml': defaults(fleet.state),
    ...stackFiles({ name: 'web' }, '0'),
    ...stackFiles({ name: 'good' }, '0'),
  });
  await fleet.reader.atRest(first);
  return fleet;
}

/** Both programs in their version `n`. */
const versions = (n: number): Changes => ({
  [PROGRAM]: program('web', String(n)),
  'stacks/good/Pulumi.yaml': program('good', String(n)),
});

async function makeAndMend(fleet: Fleet, mistake: Mistake, n: number): Promise<void> {
  const { web = 'kept', says, mend = manifest('') } = mistake;
  const before = await standing(fleet);
  const lines = listen(fleet);
  await mistake.before?.(fleet);
  const made = await effectOf(fleet, 'mistake', { ...versions(n), ...mistake.commit });
  const problem = await theOne(fleet, says);
  await until('one line of log', () => lines().filter((line) => isAbout(problem, line)).length === 1);
  assert.equal(made.updates, web === 'untouched' ? 2 : 1);
  assert.equal((await applied(fleet.state, 'good', 'harbour')).value, String(n), 'the other stack goes on');
  const during = await standing(fleet);
  if (web === 'kept') await assertKept(fleet, { before, during, problem });
  if (web === 'orphaned')
    assert.deepEqual(during, { ...before, gen: during.gen, phase: 'Orphaned', status: 'Orphaned' });

  const mended = await effectOf(fleet, 'mend', { ...versions(n), ...mend });
  assert.equal(mended.updates, web === 'untouched' ? 0 : 1);
  const after = await standing(fleet);
  assert.deepEqual([after.phase, after.status, after.value], ['Succeeded', 'Succeeded', String(n)]);
  assert.deepEqual(await fleet.reader.problems(), []);
  await until('the log to say that it is gone', () =>
    lines().some((line) => line.startsWith('no longer: ') && isAbout(problem, line)),
  );
  assert.equal(lines().filter((line) => isAbout(problem, line)).length, 2);
}

/** The problem that is meant. */
function theOne(fleet: Fleet, says: RegExp): Promise<CatalogProblemAnswer> {
  return until(`a problem like ${says.source}`, async () => {
    const problems = await fleet.reader.problems();
    const found = problems.find((one) => says.test(printed(one)));
    if (found === undefined) throw new Error(problems.map(printed).join('\n'));
    return found;
  });
}

const printed = ({ origin: { path, line }, severity, code, text }: CatalogProblemAnswer): string =>
  `${path}:${line} ${severity} ${code} ${text}`;

const isAbout = (
  { origin: { repository, path, line }, text }: CatalogProblemAnswer,
  logged: string,
): boolean => logged.includes(`${repository}:${path}:${line}: `) && logged.includes(text);

/** What the hub's log says from now on. */
function listen({ hub }: Fleet): () => readonly string[] {
  const from = hub.log().length;
  return () =>
    hub
      .log()
      .slice(from)
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
}

interface Kept {
  readonly before: Standing;
  readonly during: Standing;
  readonly problem: CatalogProblemAnswer;
}

/** The order in force stays, the agent knows of nothing, and the placement says what is wrong and where. */
async function assertKept(fleet: Fleet, { before, during, problem }: Kept): Promise<void> {
  assert.deepEqual(during, { ...before, status: 'Invalid' });
  const { reason, decided } = await fleet.reader.placement(WEB);
  const { repository, path } = problem.origin;
  for (const text of [reason?.text, decided?.reasons[0]?.text])
    assert.ok(text?.includes(`${repository}:${path}:`), text);
  assert.equal(decided?.verdict, 'refused');
}

interface Standing {
  readonly gen: number | null;
  readonly phase: string;
  readonly status: string;
  readonly value: unknown;
  readonly updates: number;
}

/** What hub, agent and Pulumi each say of the stack. */
async function standing(fleet: Fleet): Promise<Standing> {
  const { gen, phase, status } = await fleet.reader.placement(WEB);
  assert.equal(gen.report, gen.order);
  return { gen: gen.order, phase, status, ...(await applied(fleet.state, 'web', 'harbour')) };
}

test('bad input is told with its place, keeps what is in force, and holds up nobody else', async (t) => {
  const fleet = await begin(t);
  let n = 0;
  for (const [name, mistake] of Object.entries(MISTAKES)) {
    n += 1;
    await t.test(name, () => makeAndMend(fleet, mistake, n));
  }
});
