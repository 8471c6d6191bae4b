import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeTree } from '../../../hub/git/rawtree.ts';

const entry = (mode: string, name: string, bytes = 20): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.alloc(bytes, 0xab)]);

test('a tree object is read in its order, with ids of either length', () => {
  const content = Buffer.concat([entry('100644', 'a-b'), entry('40000', 'a'), entry('100755', 'a0')]);
  const read = decodeTree(content, 20);
  const id = 'ab'.repeat(20);
  assert.deepEqual(read, {
    kind: 'entries',
    entries: [
      { name: 'a-b', mode: '100644', id },
      { name: 'a', mode: '40000', id },
      { name: 'a0', mode: '100755', id },
    ],
  });
  assert.equal(decodeTree(entry('040000', 'a', 32), 32).kind, 'entries');
  assert.deepEqual(decodeTree(Buffer.alloc(0), 20), { kind: 'entries', entries: [] });
});

test('a tree object that is cut off or means nothing is refused', () => {
  const whole = entry('100644', 'a');
  for (let end = 1; end < whole.length; end++)
    assert.equal(decodeTree(whole.subarray(0, end), 20).kind, 'refused', String(end));
  for (const bad of [entry('100644', ''), entry('9', 'a'), entry('20000', 'a'), entry('100644', '.')])
    assert.equal(decodeTree(bad, 20).kind, 'refused');
});
