import assert from 'node:assert/strict';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeArtifactStore } from '../../agent/artifacts.ts';
import { seal, type Sealed } from '../../shared/seal.ts';
import { tempFolder } from '../harness/temp.ts';

const sealed = (text: string): Sealed => seal(Buffer.from(text), Buffer.alloc(32, 1));

test('an artifact is fetched once, and again when its copy on disk is damaged', async (t) => {
  const folder = await tempFolder(t);
  const { ref, stored } = sealed('tar');
  let fetched = 0;
  const store = makeArtifactStore(folder, async () => (fetched++, stored));
  for (const times of [1, 1]) {
    assert.deepEqual(await store.open(ref), { kind: 'opened', tar: Buffer.from('tar') });
    assert.equal(fetched, times);
  }
  await writeFile(join(folder, ref.name), 'damaged');
  assert.equal((await store.open(ref)).kind, 'opened');
  assert.equal(fetched, 2);
});

test('what cannot be fetched, or is not what the order says, is unavailable and not kept', async (t) => {
  const folder = await tempFolder(t);
  const { ref } = sealed('tar');
  const away = makeArtifactStore(folder, () => Promise.reject(new Error('no answer')));
  assert.deepEqual(await away.open(ref), { kind: 'unavailable', why: 'no answer' });
  const wrong = makeArtifactStore(folder, async () => sealed('another').stored);
  assert.equal((await wrong.open(ref)).kind, 'unavailable');
  assert.deepEqual(await readdir(folder), []);
});

test('above the budget the longest unused ones go, but none that is needed', async (t) => {
  const folder = await tempFolder(t);
  for (const [age, name] of ['d', 'c', 'b', 'a'].entries()) {
    await writeFile(join(folder, name), Buffer.alloc(100));
    await utimes(join(folder, name), 1_000 - age, 1_000 - age);
  }
  await makeArtifactStore(folder, () => Promise.reject(new Error('unused')), 250).trim(new Set(['a']));
  assert.deepEqual((await readdir(folder)).sort(), ['a', 'd']);
});
