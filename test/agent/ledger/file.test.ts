import assert from 'node:assert/strict';
import { readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { fileOf, openFileLedger } from '../../../agent/ledger/file.ts';
import type { Ledger } from '../../../agent/ledger/ledger.ts';
import type { Damage } from '../../../shared/durable.ts';
import { atEnd } from '../../harness/owned.ts';
import { tempFolder } from '../../harness/temp.ts';
import { entryOf, stack } from '../samples.ts';
import { ledgerContract } from './contract.ts';

interface Opened {
  readonly ledger: Ledger;
  readonly damages: readonly Damage[];
}

async function openIn(context: TestContext, folder: string): Promise<Opened> {
  const damages: Damage[] = [];
  const onDamage = (damage: Damage): void => void damages.push(damage);
  const ledger = await openFileLedger({ folder, incarnation: 'cluster-1', onDamage });
  atEnd(context, () => ledger.close());
  return { ledger, damages };
}

ledgerContract('file ledger', async (context) => {
  const folder = await tempFolder(context);
  return async () => (await openIn(context, folder)).ledger;
});

const fileIn = (folder: string): string => join(folder, 'placements', fileOf(stack));

test('file ledger: a second agent on the same folder is refused until the first has ended', async (context) => {
  const folder = await tempFolder(context);
  const { ledger } = await openIn(context, folder);
  await assert.rejects(openIn(context, folder), /in use by another agent/);
  await ledger.close();
  await openIn(context, folder);
});

test('file ledger: no write without a change', async (context) => {
  const folder = await tempFolder(context);
  const { ledger } = await openIn(context, folder);
  await ledger.update(stack, () => entryOf());
  const before = await stat(fileIn(folder), { bigint: true });
  await ledger.update(stack, () => entryOf());
  assert.equal((await stat(fileIn(folder), { bigint: true })).mtimeNs, before.mtimeNs);
});

test('file ledger: files are for the agent alone', async (context) => {
  const folder = await tempFolder(context);
  const { ledger } = await openIn(context, folder);
  await ledger.update(stack, () => entryOf());
  assert.equal((await stat(fileIn(folder))).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder, 'placements'))).mode & 0o777, 0o700);
});

test('file ledger: whatever is cut off or changed in the newest file, the generation before is taken and told', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.boolean(), async (share, cut) => {
      const folder = await tempFolder(context);
      const first = await openIn(context, folder);
      await first.ledger.update(stack, () => entryOf({ gen: 1 }));
      await first.ledger.update(stack, () => entryOf({ gen: 2 }));
      await first.ledger.close();
      const bytes = await readFile(fileIn(folder));
      const place = Math.floor(share * bytes.length);
      if (cut) await truncate(fileIn(folder), place);
      else {
        bytes.writeUInt8((bytes.readUInt8(place) + 1) % 256, place);
        await writeFile(fileIn(folder), bytes);
      }
      const second = await openIn(context, folder);
      const gen = second.ledger.entries.get('apps/web')?.gen;
      // The last byte is a line feed after the checked content.
      const isHarmless = cut ? place === bytes.length - 1 : false;
      assert.equal(gen, isHarmless ? 2 : 1);
      assert.equal(second.damages.length, isHarmless ? 0 : 1);
      await second.ledger.close();
    }),
    { numRuns: 30 },
  );
});

test('file ledger: a half written new generation does no harm', async (context) => {
  const folder = await tempFolder(context);
  const first = await openIn(context, folder);
  await first.ledger.update(stack, () => entryOf({ gen: 1 }));
  await first.ledger.close();
  await writeFile(`${fileIn(folder)}.tmp`, '{"half":');
  const second = await openIn(context, folder);
  assert.equal(second.ledger.entries.get('apps/web')?.gen, 1);
  await second.ledger.update(stack, () => entryOf({ gen: 2 }));
  assert.deepEqual(
    (await readdir(join(folder, 'placements'))).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test('file ledger: a crash between the two renames leaves the generation before', async (context) => {
  const folder = await tempFolder(context);
  const first = await openIn(context, folder);
  await first.ledger.update(stack, () => entryOf({ gen: 1 }));
  await first.ledger.close();
  const content = await readFile(fileIn(folder));
  await rename(fileIn(folder), `${fileIn(folder)}.bak`);
  await writeFile(`${fileIn(folder)}.tmp`, content);
  assert.equal((await openIn(context, folder)).ledger.entries.get('apps/web')?.gen, 1);
});

test('file ledger: names of any length and shape have files of their own', () => {
  const names = ['a', 'a.b', 'a-b', 'x'.repeat(253), `${'x'.repeat(252)}y`];
  const files = names.flatMap((name) => [
    fileOf({ namespace: 'n', name }),
    fileOf({ namespace: 'n-a', name }),
  ]);
  assert.equal(new Set(files).size, files.length);
  assert.ok(files.every((file) => /^[a-z0-9_-]+\.json$/.test(file) && file.length < 200));
});
