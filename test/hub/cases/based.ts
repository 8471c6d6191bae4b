/** A repository with a history, read by a hub over its path or over HTTP, while settings are hostile. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeSources } from '../../../hub/git/poller.ts';
import { DRIVER_NAMES, type DriverName, type RepositorySettings } from '../../../hub/git/source.ts';
import type { PassEnd } from '../../../hub/poll.ts';
import { makeRepository, type Repository } from '../../harness/git.ts';
import { makeMemoryHub, type MemoryHub } from '../../harness/hub.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { serveGit } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { hostileSettings } from './hostile.ts';
import { assertVerdicts, everyStackIsNew, verdictsOf, type Expected } from './verdicts.ts';

/** How a hub comes to the repository. */
export interface Way {
  readonly driver: DriverName;
  readonly over: 'path' | 'HTTP';
}

export interface Based extends Way {
  readonly repository: Repository;
  /** Another repository, which holds programs only; the hub calls it `programs`. */
  readonly programs: Repository;
  readonly hub: MemoryHub;
  /** One poll, by this hub or another one. */
  poll(hub?: MemoryHub): Promise<PassEnd>;
  /** One poll that brings exactly this. */
  expect(expected: Expected, hub?: MemoryHub): Promise<void>;
  /** The first poll, which brings orders for all stacks. */
  begin(): Promise<void>;
}

type Run = (based: Based) => Promise<void>;

/** Declares a test for each driver, over the repository's path. */
export function testBased(name: string, run: Run, overs: readonly Way['over'][] = ['path']): void {
  for (const driver of DRIVER_NAMES)
    for (const over of overs)
      test(`${driver} driver over ${over}: ${name}`, async (t) => run(await basedOn(t, { driver, over })));
}

/** The same over HTTP as well: for what depends on what a server gives out. */
export const testFetched = (name: string, run: Run): void => testBased(name, run, ['path', 'HTTP']);

const INTERVAL = 1_000;

async function basedOn(owner: Owner, way: Way): Promise<Based> {
  const hostile = await hostileSettings(owner);
  const [repository, programs] = [await makeRepository(owner), await makeRepository(owner, 'programs')];
  await programs.commit('Nothing');
  const settings = async (name: string, { folder }: Repository): Promise<RepositorySettings> => ({
    ...{ name, trust: name === 'fleet' ? 'fleet' : 'sources', driver: way.driver, ref: { branch: 'main' } },
    url: way.over === 'path' ? folder : (await serveGit(owner, { folder })).url,
    ...{ manifests: ['*.yaml'], intervalMs: INTERVAL },
  });
  const sources = await makeSources({
    repositories: [await settings('fleet', repository), await settings('programs', programs)],
    folder: await tempFolder(owner, 'mirrors'),
    git: { program: 'git', environment: { PATH: process.env['PATH'], ...hostile.environment } },
    onHint: () => undefined,
    graceMs: 60_000,
  });
  atEnd(owner, () => sources.close());
  const hub = makeMemoryHub(sources);
  let now = INTERVAL;
  const poll: Based['poll'] = (by = hub) =>
    underSettings(repository, hostile.config, () => by.pass((now += 2 * INTERVAL)));
  return {
    ...way,
    repository,
    programs,
    hub,
    poll,
    expect: async (expected, by) => assertVerdicts(verdictsOf(await poll(by)), expected, 'the poll'),
    async begin() {
      const end = await poll();
      assertVerdicts(verdictsOf(end), everyStackIsNew(end), 'the first poll');
    },
  };
}

/** The settings are there while the hub reads, and not while tests write. */
async function underSettings<T>({ folder }: Repository, config: string, work: () => Promise<T>): Promise<T> {
  const file = join(folder, '.git/config');
  const own = await readFile(file, 'utf8');
  await writeFile(file, own + config);
  try {
    return await work();
  } finally {
    await writeFile(file, own);
  }
}

/** The digest that is in force for a stack of the only cluster. */
export function digestOf({ inForce }: MemoryHub, stack: string): string {
  const order = inForce.get(`c/apps/${stack}`);
  assert.ok(order !== undefined, `there is an order for ${stack}`);
  return order.inputDigest;
}
