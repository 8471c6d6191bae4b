import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeCommit, decodePath } from '../../../hub/git/decode.ts';

test('two different names never decode to one', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const equal = Buffer.compare(one, other) === 0;
      assert.equal(decodePath(Buffer.from(one)) === decodePath(Buffer.from(other)), equal);
    }),
    { numRuns: 2_000, examples: [[Uint8Array.of(0xff), Uint8Array.of(0xef, 0xbf, 0xbd)]] },
  );
});

test('a name is well-formed exactly if it is UTF-8, and then stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => assert.equal(decodePath(Buffer.from(name)), name)),
  );
  assert.ok(!decodePath(Buffer.from([0x61, 0xff])).isWellFormed());
});

test('a commit is read with odd messages, encodings and times', () => {
  const commitOf = (message: Buffer | string, head = ''): ReturnType<typeof decodeCommit>['commit'] => {
    const fields = `tree ${'b'.repeat(40)}\nauthor A B <a@b> 1 +0100\ncommitter C <c@d> 1700000000 -0200\n${head}\n`;
    return decodeCommit('id', Buffer.concat([Buffer.from(fields), Buffer.from(message)])).commit;
  };
  assert.deepEqual(commitOf('\n\nOne\ntwo\n\nthree\n'), {
    id: 'id',
    subject: 'One two',
    author: 'A B <a@b>',
    time: 1_700_000_000_000,
  });
  assert.equal(commitOf('').subject, '');
  assert.equal(commitOf('\x1b[31mred\u202eder').subject, '[31mred der');
  assert.equal(commitOf(Buffer.from([0xe9]), 'encoding ISO-8859-1\n').subject, 'é');
  assert.equal(commitOf(Buffer.from([0xe9]), 'encoding nonsense\n').subject, 'é');
  assert.equal(commitOf('x'.repeat(1_000)).subject.length, 200);
});

test('a time that no message could carry is the latest there is', () => {
  const text = `tree ${'b'.repeat(40)}\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 99999999999999999999 +0000\n\nOne\n`;
  const { time } = decodeCommit('id', Buffer.from(text)).commit;
  assert.ok(Number.isSafeInteger(time));
  assert.ok(Number.isFinite(new Date(time).getTime()));
});
