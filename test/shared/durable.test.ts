import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Low } from 'lowdb';
import { z } from 'zod';
import { durableFile, type Damage } from '../../shared/durable.ts';

const schema = { version: 1, data: z.object({ n: z.number() }) };

async function fileIn(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'durable-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'deep', 'state.json');
}

test('what was written is read again, by lowdb as well', async (context) => {
  const path = await fileIn(context);
  const low = new Low(durableFile(path, schema), { n: 0 });
  await low.read();
  assert.deepEqual(low.data, { n: 0 });
  await low.update((data) => {
    data.n = 7;
  });
  assert.deepEqual(await durableFile(path, schema).read(), { n: 7 });
  assert.equal((await stat(path)).mode & 0o077, 0);
});

test('the generation before is kept beside', async (context) => {
  const path = await fileIn(context);
  const file = durableFile(path, schema);
  await file.write({ n: 1 });
  await file.write({ n: 2 });
  assert.match(await readFile(`${path}.bak`, 'utf8'), /\{"n":1\}/);
});

const damages: readonly { name: string; damage: (text: string) => string; error: RegExp }[] = [
  { name: 'cut short', damage: (text) => text.slice(0, -4), error: /checksum/ },
  { name: 'empty', damage: () => '', error: /not readable/ },
  { name: 'zero bytes', damage: (text) => '\0'.repeat(text.length), error: /not readable/ },
  { name: 'a flipped digit', damage: (text) => text.replace('"n":2', '"n":3'), error: /checksum/ },
  {
    name: 'another schema version',
    damage: (text) => text.replace('"version":1', '"version":9'),
    error: /version 9/,
  },
];
for (const { name, damage, error } of damages) {
  test(`${name}: the generation before is taken and the bad file set aside`, async (context) => {
    const path = await fileIn(context);
    const file = durableFile(path, schema);
    await file.write({ n: 1 });
    await file.write({ n: 2 });
    await writeFile(path, damage(await readFile(path, 'utf8')));
    const seen: Damage[] = [];
    const again = durableFile(path, schema, (found) => seen.push(found));
    assert.deepEqual(await again.read(), { n: 1 });
    assert.equal(seen.length, 1);
    assert.match(seen[0]?.error ?? '', error);
    assert.equal(seen[0]?.movedTo, `${path}.damaged`);
    await again.write({ n: 3 });
    assert.match(
      await readFile(`${path}.bak`, 'utf8'),
      /\{"n":1\}/,
      'a damaged file never becomes the spare one',
    );
  });
}

test('content of another shape is refused even with a right checksum', async (context) => {
  const path = await fileIn(context);
  await durableFile(path, { version: 1, data: z.object({ m: z.string() }) }).write({ m: 'x' });
  const seen: Damage[] = [];
  assert.equal(await durableFile(path, schema, (found) => seen.push(found)).read(), null);
  assert.equal(seen.length, 1);
});

test('a crash between the two renames loses only the write that had not resolved', async (context) => {
  const path = await fileIn(context);
  const file = durableFile(path, schema);
  await file.write({ n: 1 });
  await rename(path, `${path}.bak`);
  const seen: Damage[] = [];
  assert.deepEqual(await durableFile(path, schema, (found) => seen.push(found)).read(), { n: 1 });
  assert.deepEqual(seen, []);
});

test('writes at once come to rest at the last one, each as it was when asked for', async (context) => {
  const path = await fileIn(context);
  const file = durableFile(path, schema);
  const data = { n: 0 };
  const writes = Array.from({ length: 20 }, (_, n) => {
    data.n = n;
    return file.write(data);
  });
  data.n = -1;
  await Promise.all(writes);
  assert.deepEqual(await file.read(), { n: 19 });
  assert.deepEqual((await readdir(join(path, '..'))).sort(), ['state.json', 'state.json.bak']);
});

test('a failed write rejects and the next one still works', async (context) => {
  const path = await fileIn(context);
  const file = durableFile(path, schema);
  await file.write({ n: 1 });
  const other = durableFile(join(path, 'below-a-file.json'), schema);
  await assert.rejects(other.write({ n: 2 }), /ENOTDIR|EEXIST/);
  await file.write({ n: 3 });
  assert.deepEqual(await file.read(), { n: 3 });
});
