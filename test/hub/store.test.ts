import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PlannedCommit } from '../../hub/decision.ts';
import type { TreeEntry } from '../../hub/git/source.ts';
import { openStore, type Store } from '../../hub/store.ts';
import { limits } from '../../shared/limits.ts';
import { makeLog } from '../../shared/log.ts';
import { tempFolder } from '../harness/temp.ts';

interface Opened {
  readonly store: Store;
  readonly lines: string[];
}

async function open(folder: string): Promise<Opened> {
  const lines: string[] = [];
  const log = makeLog({ name: 'test', level: 'info', destination: { write: (line) => lines.push(line) } });
  const opened = await openStore(folder, log);
  assert.ok(opened.kind === 'open');
  return { store: opened.store, lines };
}

function planned(id: string, clusters: readonly string[]): PlannedCommit {
  return {
    repository: 'fleet',
    ref: 'refs/heads/main',
    commit: { id, subject: `commit ${id}`, author: 'someone', time: 1 },
    plannedAt: 2,
    decisions: clusters.map((cluster) => ({
      cluster,
      stack: { namespace: 'shop', name: 'web' },
      verdict: 'run',
      reasons: [{ code: 'InputChanged', text: id }],
      gen: 7,
    })),
    orders: clusters.length,
  };
}

const files: readonly TreeEntry[] = [
  { path: 'stacks/web/Pulumi.yaml', mode: '100644', id: 'a'.repeat(40) },
  { path: 'stacks/web/with space\nand line', mode: '120000', id: 'b'.repeat(40) },
];

async function fill(store: Store): Promise<void> {
  store.addPlanned(planned('aaaa', ['harbour', 'island.one']));
  store.addPlanned(planned('bbbb', ['harbour']));
  store.recordFiles('harbour/shop/web', 'v1:d', files);
  await store.close();
}

test('what was recorded is there again after a start', async (context) => {
  const folder = await tempFolder(context);
  const first = await open(folder);
  await fill(first.store);
  const { store, lines } = await open(folder);
  assert.deepEqual(store.history, first.store.history);
  assert.deepEqual(
    [...(store.knownFiles('harbour/shop/web', 'v1:d') ?? [])],
    files.map(({ path, mode, id }) => [path, `${mode} ${id}`]),
  );
  assert.equal(store.knownFiles('harbour/shop/web', 'v1:other'), undefined);
  assert.deepEqual(lines, []);
  await store.close();
});

test('nobody else opens the folder meanwhile', async (context) => {
  const folder = await tempFolder(context);
  const { store } = await open(folder);
  const log = makeLog({ name: 'test', level: 'info', destination: { write: () => undefined } });
  assert.deepEqual(await openStore(folder, log), { kind: 'taken', pid: process.pid });
  await store.close();
  await (await open(folder)).store.close();
});

test('only shards with news are written', async (context) => {
  const folder = await tempFolder(context);
  const { store } = await open(folder);
  store.addPlanned(planned('aaaa', ['harbour', 'island']));
  await store.flush();
  const island = join(folder, 'clusters', 'island.0.json');
  const before = await stat(island);
  store.addPlanned(planned('bbbb', ['harbour']));
  await store.close();
  assert.equal((await stat(island)).ino, before.ino);
  assert.match(await readFile(join(folder, 'clusters', 'harbour.0.json'), 'utf8'), /bbbb/);
});

test('of a cluster with several shards only those with news are written', async (context) => {
  const folder = await tempFolder(context);
  const { store } = await open(folder);
  for (let n = 0; n < 600; n += 1) store.recordFiles(`harbour/shop/${n}`, 'v1:d', files);
  await store.flush();
  const inodes = async (): Promise<readonly number[]> =>
    Promise.all([0, 1].map(async (n) => (await stat(join(folder, 'clusters', `harbour.${n}.json`))).ino));
  const before = await inodes();
  store.recordFiles('harbour/shop/0', 'v1:e', files);
  await store.close();
  const after = await inodes();
  assert.equal(after.filter((inode, n) => inode !== before[n]).length, 1);
});

for (const victim of ['index.json', 'clusters/harbour.0.json']) {
  test(`a damaged ${victim} is a gap with a line in the log`, async (context) => {
    const folder = await tempFolder(context);
    await fill((await open(folder)).store);
    await writeFile(join(folder, victim), 'not whole');
    await rm(join(folder, `${victim}.bak`), { force: true });
    const { store, lines } = await open(folder);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /damaged/);
    assert.equal(store.knownFiles('island.one/shop/web', 'v1:d'), undefined);
    store.addPlanned(planned('cccc', ['harbour']));
    await store.close();
    assert.equal((await open(folder)).store.history.commits[0]?.commit.id, 'cccc');
  });
}

test('a deleted folder is an empty store, also while it is open', async (context) => {
  const folder = join(await tempFolder(context), 'data');
  const { store } = await open(folder);
  await rm(folder, { recursive: true });
  await fill(store);
  assert.equal((await open(folder)).store.history.commits.length, 2);
});

test('a cluster that outgrows a file is spread, and the files of before go', async (context) => {
  const folder = await tempFolder(context);
  const { store } = await open(folder);
  store.recordFiles('harbour/shop/0', 'v1:d', files);
  await store.flush();
  for (let n = 0; n < 2_000; n += 1) store.recordFiles(`harbour/shop/${n}`, 'v1:d', files);
  await store.flush();
  const spread = (await readdir(join(folder, 'clusters'))).filter((name) => name.endsWith('.json'));
  assert.equal(spread.length, 4);
  store.keepOnly(new Set(['harbour/shop/1999']));
  await store.close();
  const left = (await readdir(join(folder, 'clusters'))).filter((name) => name.endsWith('.json'));
  assert.deepEqual(left, ['harbour.0.json']);
  const again = (await open(folder)).store;
  assert.equal(again.knownFiles('harbour/shop/1998', 'v1:d'), undefined);
  assert.equal(again.knownFiles('harbour/shop/1999', 'v1:d')?.size, 2);
});

test('what is gone for good is forgotten, also what kept commits bring back', async (context) => {
  const folder = await tempFolder(context);
  const { store } = await open(folder);
  store.addPlanned(planned('aaaa', ['harbour', 'island.one']));
  store.recordFiles('island.one/shop/web', 'v1:d', files);
  const keys = new Set(['harbour/shop/web']);
  store.keepOnly(keys);
  assert.equal(store.knownFiles('island.one/shop/web', 'v1:d'), undefined);
  assert.deepEqual([...store.history.standing.keys()], [...keys]);
  for (let n = 0; n < limits.keptCommits; n += 1) store.addPlanned(planned(`later-${n}`, ['harbour']));
  await store.flush();
  store.keepOnly(keys);
  assert.deepEqual([...store.history.base.keys()], [...keys]);
  await store.close();
  assert.deepEqual(
    (await readdir(join(folder, 'clusters'))).filter((name) => name.startsWith('island')),
    [],
  );
});
