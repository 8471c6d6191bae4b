/** What every driver of a remote must do besides: history, damage, hanging servers, and room on the disk. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeAccess, type Access } from '../../../hub/git/access.ts';
import type { GitDriver } from '../../../hub/git/driver.ts';
import type { Quota } from '../../../hub/git/folder.ts';
import type { Patience } from '../../../hub/git/gitfetch.ts';
import { readRemote } from '../../../hub/git/remote.ts';
import type { Remote } from '../../../hub/git/remote.ts';
import { makeRepository, type Repository } from '../../harness/git.ts';
import { watchLeaks } from '../../harness/leaks.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { serveGit, type GitServer } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { MAIN, newest } from './driver.contract.ts';

export interface MirrorWish {
  readonly remote: Extract<Remote, { readonly kind: 'http' }>;
  readonly access: Access;
  readonly folder: string;
  readonly quota?: Quota;
  readonly patience?: Patience;
}

export type OpenMirror = (owner: Owner, wish: MirrorWish) => Promise<GitDriver>;

const MIB = 1024 * 1024;

interface Rig {
  readonly repository: Repository;
  readonly server: GitServer;
  readonly folder: string;
  open(more?: Partial<MirrorWish>): Promise<GitDriver>;
}

async function rigOf(owner: Owner, make: OpenMirror): Promise<Rig> {
  const repository = await makeRepository(owner);
  const server = await serveGit(owner, repository);
  const remote = readRemote(server.url);
  assert.ok(remote.kind === 'http');
  const folder = join(await tempFolder(owner, 'mirror'), 'r');
  const access = makeAccess({ credentials: { kind: 'none' }, environment: {}, folder: '/nowhere' });
  const open = async (more: Partial<MirrorWish> = {}): Promise<GitDriver> => {
    const driver = await make(owner, { remote, access, folder, ...more });
    atEnd(owner, () => driver.close());
    return driver;
  };
  return { repository, server, folder, open };
}

/** Fetches, and after damage once more anew, as a poll does. */
async function healed(driver: GitDriver): Promise<readonly string[]> {
  const states: string[] = [];
  for (const anew of [false, true]) {
    const tip = await driver.fetch(MAIN, { anew: anew || driver.damaged() });
    const found = tip.kind === 'tip' ? await driver.open(tip.id, MAIN) : tip;
    states.push(found.kind === 'opened' ? 'Ready' : found.state);
    if (found.kind === 'failed' && found.state !== 'Corrupt') break;
    if (found.kind !== 'opened') continue;
    const reads = (await found.tree.entries()).map(({ id }) => found.tree.blob(id).then(() => true));
    if ((await Promise.allSettled(reads)).every(({ status }) => status === 'fulfilled')) break;
    states.push('damaged');
  }
  return states;
}

async function flip(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  const n = at < 0 ? bytes.length + at : at;
  bytes[n] = (bytes[n] ?? 0) ^ 0x10;
  await rm(file);
  await writeFile(file, bytes);
}

/** Each object is looked for where the next one is: everything decompresses, and nothing is what it should be. */
async function rotate(file: string): Promise<void> {
  const bytes = await readFile(file);
  const objects = bytes.readUInt32BE(8 + 255 * 4);
  const places = 8 + 1_024 + objects * 24;
  const moved = Buffer.from(bytes.subarray(places, places + objects * 4));
  bytes.set(moved.subarray(4), places);
  bytes.set(moved.subarray(0, 4), places + (objects - 1) * 4);
  await rm(file);
  await writeFile(file, bytes);
}

type Harm = (packs: string, names: readonly string[]) => Promise<unknown>;
const named = (names: readonly string[], end: string): string =>
  names.find((name) => name.endsWith(end)) ?? '';

const HARMS: Readonly<Record<string, Harm>> = {
  'a truncated pack': (packs, names) => truncate(join(packs, named(names, '.pack')), 40),
  'a bit of a pack': (packs, names) => flip(join(packs, named(names, '.pack')), 30),
  'a bit at the end of a pack': (packs, names) => flip(join(packs, named(names, '.pack')), -30),
  'a bit of an index': (packs, names) => flip(join(packs, named(names, '.idx')), 1_040),
  'a bit of an index’s places': (packs, names) => flip(join(packs, named(names, '.idx')), -45),
  'an index whose places are mixed up': (packs, names) => rotate(join(packs, named(names, '.idx'))),
  'an empty index': (packs, names) => truncate(join(packs, named(names, '.idx')), 0),
  'half an index': (packs, names) => truncate(join(packs, named(names, '.idx')), 1_100),
  'no index': (packs, names) => rm(join(packs, named(names, '.idx'))),
  'no pack': (packs, names) => rm(join(packs, named(names, '.pack'))),
};

/** `make` opens a driver of a remote. */
export function mirrorContract(title: string, make: OpenMirror): void {
  historyContract(title, make);
  for (const [what, harm] of Object.entries(HARMS))
    test(`${title}: ${what} is found and healed, and nothing wrong is read meanwhile`, async (t) => {
      const { repository, folder, open } = await rigOf(t, make);
      await repository.commit('One', { a: 'one\n', 'b/c': 'two\n', 'b/d': 'three\n' });
      const first = await open();
      const wanted = await (await newest(first)).entries();
      await first.close();
      const packs = join(folder, 'objects/pack');
      await harm(packs, await readdir(packs));
      const driver = await open();
      const states = await healed(driver);
      assert.ok(states.length <= 4, states.join());
      const tree = await newest(driver);
      assert.deepEqual(await tree.entries(), wanted);
      for (const { path, id } of await tree.entries())
        assert.equal(
          (await tree.blob(id)).toString(),
          { a: 'one\n', 'b/c': 'two\n', 'b/d': 'three\n' }[path],
          states.join(),
        );
    });
  boundsContract(title, make);
}

function historyContract(title: string, make: OpenMirror): void {
  test(`${title}: a push descends, a rewind, an amended and an orphan commit do not`, async (t) => {
    const { repository, open } = await rigOf(t, make);
    await repository.git('config', 'uploadpack.allowFilter', 'true');
    await repository.commit('Zero', { a: '0' });
    const first = await repository.commit('One', { a: '1' });
    const driver = await open();
    await newest(driver);
    const moved = async (from: string): Promise<string> => {
      const { commit } = await newest(driver);
      return driver.descends(from, commit.id, { thorough: true });
    };
    const second = await repository.commit('Two', { a: '2' });
    assert.equal(await moved(first), 'yes', 'one commit');
    await repository.commit('Three', { a: '3' });
    await repository.commit('Four', { a: '4' });
    const fifth = await repository.commit('Five', { a: '5' });
    assert.equal(await moved(second), 'yes', 'several commits');
    await repository.git('reset', '--quiet', '--hard', 'HEAD~2');
    assert.equal(await moved(fifth), 'no', 'a rewind');
    const third = await repository.git('rev-parse', 'HEAD');
    await repository.git('commit', '--quiet', '--amend', '--message', 'Other');
    assert.notEqual(await moved(third), 'yes', 'an amended commit');
    const amended = await repository.git('rev-parse', 'HEAD');
    await repository.git('checkout', '--quiet', '--orphan', 'new');
    await repository.commit('Orphan', { a: 'o' });
    await repository.git('branch', '--force', 'main', 'new');
    assert.notEqual(await moved(amended), 'yes', 'an orphan');
  });

  test(`${title}: an older commit is opened beside the newest, if the server gives it out`, async (t) => {
    const { repository, open } = await rigOf(t, make);
    await repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    const first = await repository.commit('One', { a: '1', only: 'first' });
    await repository.commit('Two', { a: '2', only: null });
    const driver = await open();
    const tree = await newest(driver);
    const older = await driver.older(first, MAIN);
    assert.ok(older.kind === 'opened', JSON.stringify(older));
    assert.deepEqual(
      (await older.tree.entries()).map(({ path }) => path),
      ['a', 'only'],
    );
    assert.equal((await older.tree.blob((await older.tree.entries())[1]?.id ?? '')).toString(), 'first');
    const gone = await driver.older('1'.repeat(40), MAIN);
    assert.ok(gone.kind === 'failed' && gone.state !== 'Corrupt', JSON.stringify(gone));
    await repository.commit('Three', { a: '3' });
    assert.equal((await newest(driver)).commit.subject, 'Three');
    assert.ok(!driver.damaged());
    assert.equal((await tree.blob((await tree.entries())[0]?.id ?? '')).toString(), '2');
  });
}

function boundsContract(title: string, make: OpenMirror): void {
  for (const kind of ['hang', 'trickle'] as const)
    test(`${title}: a fetch ends that meets a server that would ${kind}, and the next one works`, async (t) => {
      watchLeaks(t);
      const { repository, server, open } = await rigOf(t, make);
      await repository.commit('One', { a: '1' });
      const driver = await open({ patience: { totalMs: 20_000, stallMs: 1_000 } });
      await newest(driver);
      await repository.commit('Two', { a: '2' });
      const isPack = (path: string): boolean => path.endsWith('/git-upload-pack');
      let asked = 0;
      server.fail(({ path, protocol }) => {
        const refs = protocol === 'version=2' && isPack(path) && (asked += 1) <= 1;
        return isPack(path) && !refs ? { kind } : undefined;
      });
      const stopped = await driver.fetch(MAIN, { anew: false });
      assert.ok(stopped.kind === 'failed' && stopped.state === 'Unreachable', JSON.stringify(stopped));
      server.fail(undefined);
      assert.equal((await newest(driver)).commit.subject, 'Two');
    });

  test(`${title}: a mirror stays below its quota and leaves room on the disk`, async (t) => {
    const { repository, folder, open } = await rigOf(t, make);
    const noise = (): string =>
      Array.from({ length: 2 * MIB }, () => String.fromCharCode(32 + Math.random() * 90)).join('');
    await repository.commit('One', { a: '1' });
    const driver = await open({ quota: { mirrorBytes: MIB, freeBytes: 0 } });
    await newest(driver);
    await repository.commit('Two', { a: noise() });
    const over = await driver.fetch(MAIN, { anew: false });
    const state = over.kind === 'tip' ? 'tip' : over.state;
    assert.equal(state, 'QuotaExceeded', JSON.stringify(over));
    assert.ok(over.kind === 'failed' && over.final === true, JSON.stringify(over));
    assert.deepEqual(await readdir(join(folder, '..')), ['r']);
    await repository.commit('Three', { a: '3' });
    await repository.git('reset', '--quiet', '--soft', 'HEAD~2');
    await repository.commit('Small again', { a: '3' });
    assert.equal((await newest(driver)).commit.subject, 'Small again');
    await driver.close();
    const full = await open({ quota: { mirrorBytes: MIB, freeBytes: Number.MAX_SAFE_INTEGER } });
    const refused = await full.fetch(MAIN, { anew: false });
    assert.ok(refused.kind === 'failed' && refused.state === 'QuotaExceeded');
    assert.match(refused.message, /MiB left/);
  });
}
