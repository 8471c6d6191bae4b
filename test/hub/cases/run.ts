/** Runs cases: from commits in a repository, through a pass of the hub, to the orders that each commit has to bring. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeSources } from '../../../hub/git/poller.ts';
import { DRIVER_NAMES, type DriverName, type Sources } from '../../../hub/git/source.ts';
import { makeMemoryHub } from '../../harness/hub.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { CLUSTER, edited, type Edit, type Files } from './files.ts';
import { emptyRepository, setMain, writeTrees } from './history.ts';
import { hostileSettings } from './hostile.ts';
import {
  assertVerdicts,
  assertWarnings,
  everyStackIsNew,
  ordersOf,
  verdictsOf,
  type Expected,
} from './verdicts.ts';

export interface Case {
  readonly name: string;
  /** The files of the first commit, besides the cluster's. */
  readonly files: Files;
  /** What the first commit brings, where it is not an order for every stack. */
  readonly first?: Expected;
  readonly steps: readonly Step[];
}

/** A commit and what it brings. */
export interface Step {
  readonly edit: Edit;
  /** Every placement that does not stay as it is, with what is decided about it; see `verdictsOf`. */
  readonly then: Expected;
  /** What is warned of: one expression for each warning, in any order. Default: whatever. */
  readonly warns?: readonly RegExp[];
}

interface Prepared {
  readonly one: Case;
  readonly commits: readonly string[];
}

const SETTINGS = ['plain', 'hostile'] as const;

/** Declares the tests: each case with each driver, under plain and under hostile settings. */
export function runCases(theme: string, cases: readonly Case[]): void {
  for (const settings of SETTINGS)
    for (const driver of DRIVER_NAMES)
      describe(`${theme}, ${driver} driver, ${settings} settings`, () => {
        const world: { rig?: Rig; release?: () => Promise<void> } = {};
        // a hook that is registered within another one would run with that one
        const owner: Owner = { after: (release) => void (world.release = release) };
        after(() => world.release?.());
        const all = cases.map(treesOf);
        before(async () => void (world.rig = await rigOf(owner, { driver, settings, trees: all.flat() })));
        let from = 0;
        for (const [n, one] of cases.entries()) {
          const [start, end] = [from, (from += all[n]?.length ?? 0)];
          it(one.name, async () => {
            assert.ok(world.rig);
            await runCase({ one, commits: world.rig.commits.slice(start, end) }, world.rig);
          });
        }
        if (settings === 'hostile')
          it('none of the programs that the settings name was started', () => {
            assert.ok(world.rig && !existsSync(world.rig.started));
          });
      });
}

/** The trees of a case, the first one and one after each step. */
function treesOf({ files, steps }: Case): Files[] {
  const trees: Files[] = [{ ...CLUSTER, ...files }];
  for (const { edit } of steps) trees.push(edited(trees.at(-1) as Files, edit));
  return trees;
}

interface Rig {
  readonly folder: string;
  readonly commits: readonly string[];
  readonly sources: Sources;
  /** A file that only appears when something was started that must not be. */
  readonly started: string;
  now: number;
}

interface RigOptions {
  readonly driver: DriverName;
  readonly settings: (typeof SETTINGS)[number];
  readonly trees: readonly Files[];
}

const INTERVAL = 1_000;

async function rigOf(owner: Owner, { driver, settings, trees }: RigOptions): Promise<Rig> {
  const folder = await emptyRepository(owner);
  const commits = await writeTrees(folder, trees);
  const hostile = await hostileSettings(owner);
  if (settings === 'hostile') await appendFile(join(folder, 'config'), hostile.config);
  const sources = await makeSources({
    repositories: [
      {
        ...{ name: 'fleet', url: folder, ref: { branch: 'main' }, trust: 'fleet', driver },
        ...{ manifests: ['*.yaml', '*.yml'], intervalMs: INTERVAL },
      },
    ],
    folder: await tempFolder(owner, 'mirrors'),
    git: {
      program: 'git',
      environment: { PATH: process.env['PATH'], ...(settings === 'hostile' ? hostile.environment : {}) },
    },
    onHint: () => undefined,
  });
  atEnd(owner, () => sources.close());
  return { folder, commits, sources, started: hostile.started, now: INTERVAL };
}

async function runCase({ one, commits }: Prepared, rig: Rig): Promise<void> {
  const hub = makeMemoryHub(rig.sources);
  const passAt = async (commit: string) => {
    await setMain(rig.folder, commit);
    return hub.pass((rig.now += 2 * INTERVAL));
  };
  const [first = '', ...others] = commits;
  const begun = await passAt(first);
  assertVerdicts(verdictsOf(begun), one.first ?? everyStackIsNew(begun), 'the first commit');
  for (const [n, commit] of others.entries()) {
    const { then = {}, warns } = one.steps[n] ?? {};
    const end = await passAt(commit);
    assertVerdicts(verdictsOf(end), then, `commit ${n + 2}`);
    if (warns !== undefined) assertWarnings(end, warns);
  }
  const again = await hub.anew().pass((rig.now += 2 * INTERVAL));
  assert.deepEqual(ordersOf(again), [], 'the last commit, seen by a hub that knows nothing but the orders');
}
