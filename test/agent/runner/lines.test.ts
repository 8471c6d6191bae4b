import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeLines } from '../../../agent/runner/lines.ts';

test('lines come whole, whatever the chunks', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\n', ' '), maxLength: 5 }));
  fc.assert(
    fc.property(pieces, (chunks) => {
      const lines = makeLines(1_000);
      const bytes = Buffer.from(chunks.join(''));
      const seen = [...bytes].flatMap((byte) => lines.push(Buffer.from([byte])));
      const whole = chunks.join('').split('\n');
      if (whole.at(-1) === '') whole.pop();
      assert.deepEqual([...seen, ...lines.end()], whole);
    }),
  );
});

test('a long line is cut with a mark, and the next one is whole again', () => {
  const lines = makeLines(4, '…');
  assert.deepEqual(lines.push(Buffer.from('123456')), []);
  assert.deepEqual(lines.push(Buffer.from('789\n1234\n12345')), ['1234…', '1234']);
  assert.deepEqual(lines.end(), ['1234…']);
});

test('the end of a line as other systems write it is no part of the line', () => {
  assert.deepEqual(makeLines(10).push(Buffer.from('a\r\nb\n')), ['a', 'b']);
});
