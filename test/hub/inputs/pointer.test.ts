import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsePointer, pointerText } from '../../../hub/inputs/pointer.ts';

const OID = 'ab'.repeat(32);
const V1 = 'version https://git-lfs.github.com/spec/v1\n';
const GOOD = { kind: 'pointer', oid: OID, size: 7 };

const ROWS: readonly (readonly [string, string, unknown])[] = [
  ['a pointer', `${V1}oid sha256:${OID}\nsize 7\n`, GOOD],
  ['without the last line end', `${V1}oid sha256:${OID}\nsize 7`, GOOD],
  ['with line ends of Windows', `${V1}oid sha256:${OID}\nsize 7\n`.replaceAll('\n', '\r\n'), GOOD],
  ['of an old version', `version https://hawser.github.com/spec/v1\noid sha256:${OID}\nsize 7\n`, GOOD],
  ['of an empty content', `${V1}oid sha256:${OID}\nsize 0\n`, { ...GOOD, size: 0 }],
  ['nothing', '', undefined],
  ['other content', 'version: 3\nservices: {}\n', undefined],
  ['a version of something else', 'version https://example.com/v1\noid x\n', undefined],
  ['a text that goes on', `${V1}oid sha256:${OID}\nsize 7\n${'x\n'.repeat(600)}`, undefined],
];

for (const [name, text, expected] of ROWS)
  test(`pointers: ${name}`, () => assert.deepEqual(parsePointer(Buffer.from(text)), expected));

const UNREADABLE: readonly (readonly [string, string, RegExp])[] = [
  ['no oid', V1, /oid/],
  ['a short oid', `${V1}oid sha256:ab\nsize 7\n`, /oid/],
  ['another hash', `${V1}oid sha512:${OID}\nsize 7\n`, /oid/],
  ['an oid that is a path', `${V1}oid sha256:${'../'.repeat(21)}a\nsize 7\n`, /oid/],
  ['no size', `${V1}oid sha256:${OID}\n`, /size/],
  ['a negative size', `${V1}oid sha256:${OID}\nsize -1\n`, /size/],
  ['a size beyond all numbers', `${V1}oid sha256:${OID}\nsize 9999999999999999999\n`, /size/],
  ['one line more', `${V1}oid sha256:${OID}\nsize 7\nx y\n`, /beyond/],
  ['an extension', `${V1}ext-0-crypt sha256:${OID}\noid sha256:${OID}\nsize 7\n`, /extensions/],
];

for (const [name, text, why] of UNREADABLE)
  test(`pointers: ${name} cannot be followed`, () => {
    const pointer = parsePointer(Buffer.from(text));
    assert.equal(pointer?.kind, 'unreadable');
    assert.match(pointer.kind === 'unreadable' ? pointer.text : '', why);
  });

test('pointers: what is written is read back', () => {
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
  fc.assert(
    fc.property(hex, fc.nat(), (oid, size) =>
      assert.deepEqual(parsePointer(Buffer.from(pointerText({ oid, size }))), { kind: 'pointer', oid, size }),
    ),
  );
});
