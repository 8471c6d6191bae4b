import assert from 'node:assert/strict';
import { access, constants } from 'node:fs/promises';
import test from 'node:test';
import { testTools } from './tools.ts';

test('the tools are there and looked up once', async () => {
  const first = testTools();
  assert.equal(testTools(), first);
  for (const path of Object.values(await first)) await access(path as string, constants.X_OK);
});
