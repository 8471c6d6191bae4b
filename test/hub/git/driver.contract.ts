/** What every Git driver must do. Repositories are written by plumbing where a porcelain command would refuse. */
import assert from 'node:assert/strict';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { GitProgram } from '../../../hub/git/command.ts';
import type { GitDriver } from '../../../hub/git/driver.ts';
import type { Tree } from '../../../hub/git/source.ts';
import { makeRepository, type Repository } from '../../harness/git.ts';
import type { Owner } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { commitTree, type PlumbedFile, writeTree } from './plumbing.ts';

export const MAIN = 'refs/heads/main';

export type MakeDriver = (owner: Owner, repository: Repository, git: GitProgram) => Promise<GitDriver>;

/** Settings of a person that change what git prints to people. */
const HOSTILE_CONFIG = `
[diff]
  renames = copies
  ignoreSubmodules = all
  noprefix = true
  external = /bin/false
[core]
  quotePath = true
  ignoreCase = true
  precomposeUnicode = true
  abbrev = 4
[color]
  ui = always
[submodule]
  recurse = true
[fetch]
  prune = true
  recurseSubmodules = true
`;

export async function plainProgram(owner: Owner): Promise<GitProgram> {
  return {
    program: 'git',
    environment: { PATH: process.env['PATH'], HOME: await tempFolder(owner, 'home') },
  };
}

async function hostileProgram(owner: Owner): Promise<GitProgram> {
  const home = await tempFolder(owner, 'home');
  await writeFile(join(home, '.gitconfig'), HOSTILE_CONFIG);
  const injected = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'diff.renames', GIT_CONFIG_VALUE_0: 'copies' };
  const environment = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_DIR: '/nowhere',
    ...injected,
  };
  return { program: 'git', environment };
}

/** Fetches and opens the newest commit. */
export async function newest(driver: GitDriver, ref = MAIN): Promise<Tree> {
  const tip = await driver.fetch(ref, { anew: false });
  assert.equal(tip.kind, 'tip', JSON.stringify(tip));
  const opened = await driver.open((tip as { id: string }).id, ref);
  assert.equal(opened.kind, 'opened', JSON.stringify(opened));
  return (opened as { tree: Tree }).tree;
}

const pathsOf = async (tree: Tree): Promise<string[]> => (await tree.entries()).map((entry) => entry.path);

/** What two listings differ in: `D path`, `A path`, `M path`, with the modes where they differ. */
async function differences(from: Tree, to: Tree): Promise<string[]> {
  const before = new Map((await from.entries()).map((entry) => [entry.path, entry]));
  const after = new Map((await to.entries()).map((entry) => [entry.path, entry]));
  return [...new Set([...before.keys(), ...after.keys()])]
    .flatMap((path) => {
      const [old, now] = [before.get(path), after.get(path)];
      if (old === undefined) return [`A ${path}`];
      if (now === undefined) return [`D ${path}`];
      if (old.mode !== now.mode) return [`M ${path} ${old.mode} ${now.mode}`];
      return old.id === now.id ? [] : [`M ${path}`];
    })
    .sort();
}

interface Step {
  readonly name: string;
  readonly from: readonly PlumbedFile[];
  readonly to: readonly PlumbedFile[];
  readonly expected: readonly string[];
}

const text = (path: string, content = path): PlumbedFile => ({ path, mode: '100644', content });
const SUBMODULE_1 = '1'.repeat(40);
const SUBMODULE_2 = '2'.repeat(40);

const STEPS: readonly Step[] = [
  { name: 'nothing', from: [text('a')], to: [text('a')], expected: [] },
  {
    name: 'a move between stacks',
    from: [text('a/x', 'same'), text('k')],
    to: [text('b/x', 'same'), text('k')],
    expected: ['A b/x', 'D a/x'],
  },
  {
    name: 'a copy',
    from: [text('a/x', 'same')],
    to: [text('a/x', 'same'), text('b/x', 'same')],
    expected: ['A b/x'],
  },
  {
    name: 'a deletion of the only file',
    from: [text('a/x'), text('k')],
    to: [text('k')],
    expected: ['D a/x'],
  },
  {
    name: 'only the mode',
    from: [text('run.sh')],
    to: [{ ...text('run.sh'), mode: '100755' }],
    expected: ['M run.sh 100644 100755'],
  },
  {
    name: 'a retargeted symlink',
    from: [{ path: 'l', mode: '120000', content: 'a' }],
    to: [{ path: 'l', mode: '120000', content: 'b' }],
    expected: ['M l'],
  },
  {
    name: 'a file that becomes a symlink',
    from: [text('l')],
    to: [{ path: 'l', mode: '120000', content: 'b' }],
    expected: ['M l 100644 120000'],
  },
  {
    name: 'a bumped submodule',
    from: [{ path: 'v', mode: '160000', content: SUBMODULE_1 }],
    to: [{ path: 'v', mode: '160000', content: SUBMODULE_2 }],
    expected: ['M v'],
  },
  {
    name: 'a removed submodule',
    from: [text('k'), { path: 'v', mode: '160000', content: SUBMODULE_1 }],
    to: [text('k')],
    expected: ['D v'],
  },
  { name: 'an empty file', from: [text('k')], to: [text('k'), text('empty', '')], expected: ['A empty'] },
  {
    name: 'a file that becomes a folder',
    from: [text('swap')],
    to: [text('swap/inner')],
    expected: ['A swap/inner', 'D swap'],
  },
  {
    name: 'only the case of a name',
    from: [text('Readme')],
    to: [text('readme', 'Readme')],
    expected: ['A readme', 'D Readme'],
  },
  { name: 'only line ends', from: [text('a', 'x\n')], to: [text('a', 'x\r\n')], expected: ['M a'] },
];

/** Names that a parser of lines or of quoted text gets wrong. */
const NAMES = [
  'a-b/x',
  'a.b/x',
  'a/x',
  'aa/x',
  'emoji 🚀.ts',
  'ends with a space ',
  'line\nbreak',
  'nfc é',
  'nfd é',
  'quote"d',
  'tab\tbed',
  'back\\slash',
  'ü/ö.ts',
];

/** The contract. `make` opens a driver over a repository that tests write to. */
export function driverContract(title: string, make: MakeDriver): void {
  treesContract(title, make);
  refsContract(title, make);
  readsContract(title, make);
}

function treesContract(title: string, make: MakeDriver): void {
  for (const [settings, programOf, ownConfig] of [
    ['plain', plainProgram, ''],
    ['hostile', hostileProgram, HOSTILE_CONFIG],
  ] as const) {
    const named = (what: string): string => `${title}, ${settings} settings: ${what}`;

    const configured = async (owner: Owner): Promise<Repository> => {
      const repository = await makeRepository(owner);
      await appendFile(join(repository.folder, '.git/config'), ownConfig);
      return repository;
    };

    test(named('differences between two trees, whatever their history'), async (t) => {
      const repository = await configured(t);
      const driver = await make(t, repository, await programOf(t));
      for (const step of STEPS) {
        await commitTree(repository, await writeTree(repository, step.from));
        const from = await newest(driver);
        await commitTree(repository, await writeTree(repository, step.to));
        const to = await newest(driver);
        assert.deepEqual(await differences(from, to), step.expected, step.name);
      }
    });

    test(named('every name comes through, byte for byte'), async (t) => {
      const repository = await configured(t);
      const driver = await make(t, repository, await programOf(t));
      await commitTree(repository, await writeTree(repository, []));
      const empty = await newest(driver);
      assert.deepEqual(await empty.entries(), []);
      await commitTree(
        repository,
        await writeTree(
          repository,
          NAMES.map((name) => text(name)),
        ),
      );
      const full = await newest(driver);
      const sorted = [...NAMES].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(await pathsOf(full), sorted);
      assert.deepEqual(await differences(empty, full), NAMES.map((name) => `A ${name}`).sort());
      for (const entry of await full.entries())
        assert.equal((await full.blob(entry.id)).toString(), entry.path);
    });

    test(named('names that are not UTF-8 stay apart'), async (t) => {
      const repository = await configured(t);
      const driver = await make(t, repository, await programOf(t));
      const bytes = [[0xfe], [0xff], [0xc3, 0xa9], [0xc3], [0xef, 0xbf, 0xbd]].map((tail) =>
        Buffer.from([0x64, 0x2f, ...tail]),
      );
      await commitTree(
        repository,
        await writeTree(
          repository,
          bytes.map((path) => ({ path, mode: '100644', content: 'x' })),
        ),
      );
      const paths = await pathsOf(await newest(driver));
      assert.equal(new Set(paths).size, bytes.length);
      assert.deepEqual(paths.filter((path) => !path.isWellFormed()).length, 3);
      assert.ok(paths.every((path) => path.startsWith('d/')));
      assert.ok(paths.includes('d/é'));
    });
  }
}

function refsContract(title: string, make: MakeDriver): void {
  test(`${title}: a commit is described, and found again after the branch moved or was rewritten`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    await repository.commit('First\n\nLong text.', { 'a.txt': 'one' });
    const first = await newest(driver);
    assert.equal(first.commit.subject, 'First');
    assert.equal(first.commit.author, 'Author <author@example.com>');
    assert.equal(first.commit.time, Date.UTC(2026, 0, 1, 0, 1));
    assert.equal(first.ref, MAIN);
    await repository.git('checkout', '--quiet', '--orphan', 'other');
    await repository.commit('Unrelated', { 'a.txt': 'two' });
    await repository.git('branch', '--force', 'main', 'other');
    const second = await newest(driver);
    assert.deepEqual(await differences(first, second), ['M a.txt']);
    assert.equal((await first.blob((await first.entries())[0]?.id ?? '')).toString(), 'one');
  });

  test(`${title}: tags lead to their commit, HEAD to the branch in use`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    const id = await repository.commit('One', { a: '1' });
    await repository.git('tag', '--annotate', '--message', 'm', 'v1');
    await repository.git('tag', 'light');
    await repository.commit('Two', { a: '2' });
    assert.equal((await newest(driver, 'refs/tags/v1')).commit.id, id);
    assert.equal((await newest(driver, 'refs/tags/light')).commit.id, id);
    assert.equal((await newest(driver, 'HEAD')).commit.subject, 'Two');
    assert.equal((await newest(driver, id)).commit.id, id);
  });
}

function readsContract(title: string, make: MakeDriver): void {
  test(`${title}: what is not there is never an empty tree`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    const unborn = await driver.fetch(MAIN, { anew: false });
    assert.deepEqual([unborn.kind, unborn.kind === 'failed' && unborn.state], ['failed', 'RefMissing']);
    await repository.commit('One', { a: '1' });
    await newest(driver);
    const missing = await driver.fetch('refs/heads/gone', { anew: false });
    assert.deepEqual([missing.kind, missing.kind === 'failed' && missing.state], ['failed', 'RefMissing']);
    const nowhere = await driver.open('0'.repeat(39) + '1', MAIN);
    assert.equal(nowhere.kind, 'failed');
  });

  test(`${title}: a blob that is not there is an error`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    await repository.commit('One', { a: '1' });
    const tree = await newest(driver);
    await assert.rejects(tree.blob('1'.repeat(40)), /is missing/);
    assert.ok(driver.damaged());
  });

  test(`${title}: many reads at once, large and empty ones among them`, async (t) => {
    const repository = await makeRepository(t);
    const driver = await make(t, repository, await plainProgram(t));
    const large = Buffer.alloc(3_000_000, 'x\n');
    const small = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f/${n}`, `content ${n}\n`]));
    await repository.commit('Many', { ...small, large, empty: '' });
    const tree = await newest(driver);
    const contents = await Promise.all(
      (await tree.entries()).map(async ({ path, id }) => [path, await tree.blob(id)] as const),
    );
    const byPath = new Map(contents);
    assert.equal(byPath.size, 302);
    for (const [path, content] of Object.entries(small)) assert.equal(byPath.get(path)?.toString(), content);
    assert.ok(byPath.get('large')?.equals(large));
    assert.equal(byPath.get('empty')?.length, 0);
  });
}
