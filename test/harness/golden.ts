/** Texts that are part of what a user sees, compared with the committed ones. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * Compares with `test/golden/<name>`. With UPDATE_GOLDEN=1 the file is written instead: read the difference before you
 * commit it.
 */
export async function golden(name: string, actual: string): Promise<void> {
  const path = fileURLToPath(new URL(`../golden/${name}`, import.meta.url));
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(path, actual);
  assert.equal(actual, await readFile(path, 'utf8').catch(() => '(missing; run once with UPDATE_GOLDEN=1)'));
}
