/** Repositories made to do harm: an exact listing or a clear refusal, in bounded time and memory, by every driver. */
import assert from 'node:assert/strict';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { GitDriver } from '../../../hub/git/driver.ts';
import { makeRepository, type Repository } from '../../harness/git.ts';
import { MAIN, newest, plainProgram, type MakeDriver } from './driver.contract.ts';
import { commitTree, writeBlob, writeRawTree, type RawTreeEntry } from './plumbing.ts';

/** What a driver says about the newest commit: its paths, or why it is not taken. */
async function heard(driver: GitDriver): Promise<readonly string[] | string> {
  const tip = await driver.fetch(MAIN, { anew: false });
  const found = tip.kind === 'tip' ? await driver.open(tip.id, MAIN) : tip;
  if (found.kind === 'failed') return `${found.state}: ${found.message}`;
  return (await found.tree.entries()).map(({ path, mode }) => `${mode} ${path}`);
}

/** A chain of folders with one file at its end. */
async function deepTree(repository: Repository, levels: number): Promise<string> {
  let entry: RawTreeEntry = { mode: '100644', name: 'f', id: await writeBlob(repository, 'x') };
  for (let level = 0; level < levels; level++)
    entry = { mode: '40000', name: 'd', id: await writeRawTree(repository, [entry]) };
  return writeRawTree(repository, [entry]);
}

/** Ten entries that are all the same tree, nine times over: a thousand million files in ten objects. */
async function bomb(repository: Repository): Promise<string> {
  let id = await writeBlob(repository, 'x');
  for (let level = 0; level < 9; level++) {
    const mode = level === 0 ? '100644' : '40000';
    id = await writeRawTree(
      repository,
      Array.from({ length: 10 }, (_, n) => ({ mode, name: `e${n}`, id })),
    );
  }
  return id;
}

const BAD_TREES: readonly (readonly [string, readonly Omit<RawTreeEntry, 'id'>[], RegExp])[] = [
  [
    'a name twice',
    [
      { mode: '100644', name: 'a' },
      { mode: '100644', name: 'a' },
    ],
    /“a” stands in it twice/,
  ],
  [
    'a file and a folder of one name',
    [
      { mode: '100644', name: 'a' },
      { mode: '100644', name: 'a-' },
      { mode: '40000', name: 'a' },
    ],
    /twice/,
  ],
  [
    'another order',
    [
      { mode: '100644', name: 'b' },
      { mode: '100644', name: 'a' },
    ],
    /not sorted/,
  ],
  ['..', [{ mode: '100644', name: '..' }], /called “\.\.”/],
  ['.git', [{ mode: '40000', name: '.GIT' }], /called “\.GIT”/],
  ['a slash in a name', [{ mode: '100644', name: 'a/b' }], /holds a slash/],
  ['the mode of a device', [{ mode: '20000', name: 'a' }], /mode 20000/],
];

/** `make` opens a driver over a repository that tests write to. */
export function hostileContract(title: string, make: MakeDriver): void {
  test(`${title}: trees that nobody could unpack are refused, with what is wrong`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    const blob = await writeBlob(repository, 'x');
    const folder = await writeRawTree(repository, [{ mode: '100644', name: 'f', id: blob }]);
    for (const [what, entries, problem] of BAD_TREES) {
      const whole = entries.map((entry) => ({ ...entry, id: entry.mode === '40000' ? folder : blob }));
      await commitTree(repository, await writeRawTree(repository, whole));
      const said = await heard(driver);
      assert.ok(typeof said === 'string' && said.startsWith('Refused: '), `${what}: ${String(said)}`);
      assert.match(said, problem, what);
    }
  });

  test(`${title}: odd modes of old repositories count as Git counts them`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    const id = await writeBlob(repository, 'x');
    const modes = ['100600', '100664', '100700', '100775', '120777', '160001'];
    await commitTree(
      repository,
      await writeRawTree(
        repository,
        modes.map((mode) => ({ mode, name: mode, id })),
      ),
    );
    assert.deepEqual(await heard(driver), [
      '100644 100600',
      '100644 100664',
      '100755 100700',
      '100755 100775',
      '120000 120777',
      '160000 160001',
    ]);
  });

  test(`${title}: a tree of 1,500 levels is listed, one of 3,000 is refused`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    await commitTree(repository, await deepTree(repository, 1_500));
    assert.deepEqual(await heard(driver), [`100644 ${'d/'.repeat(1_500)}f`]);
    await commitTree(repository, await deepTree(repository, 3_000));
    assert.match(String(await heard(driver)), /^Refused: a path is longer than 4096 bytes/);
  });

  test(`${title}: a thousand million files in ten objects are refused`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    await commitTree(repository, await bomb(repository));
    assert.match(String(await heard(driver)), /^Refused: it holds more than 1000000 files/);
  });

  test(`${title}: settings and hooks of the repository itself decide nothing`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    const old = await repository.commit('Old', { a: '1' });
    const id = await repository.commit('New', { a: '2', 'b/c': '3' });
    await repository.git('replace', id, old);
    const dot = join(repository.folder, '.git');
    await mkdir(join(dot, 'info'), { recursive: true });
    await writeFile(join(dot, 'info/grafts'), `${id}\n`);
    await appendFile(
      join(dot, 'config'),
      `[core]\n fsmonitor = "touch ${dot}/ran; false"\n hooksPath = ${dot}/evil\n[protocol]\n allow = never\n[fsck]\n skipList = /nowhere\n`,
    );
    const tree = await newest(driver);
    assert.equal(tree.commit.subject, 'New');
    assert.deepEqual(
      (await tree.entries()).map(({ path }) => path),
      ['a', 'b/c'],
    );
  });
}
