import assert from 'node:assert/strict';
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { limits } from '../../shared/limits.ts';
import { chunksOf, open, seal } from '../../shared/seal.ts';
import { artifactRefSchema, type ArtifactRef } from '../../shared/wire.ts';

const SECRET = Buffer.from('the secret of the hub, 32 bytes.');
const TAG_BYTES = 16;
const DAMAGED = /artifact damaged|authenticate data|tag length/;

const hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** An order that names these bytes, so that the name alone does not give the change away. */
const named = (ref: ArtifactRef, stored: Uint8Array): ArtifactRef => ({ ...ref, name: hex(stored) });

function flipped(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

test('what is sealed opens to the same bytes, by an order that the wire accepts', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4_096 }), (tar) => {
      const { ref, stored } = seal(tar, SECRET);
      assert.deepEqual(artifactRefSchema.parse(ref), ref);
      assert.equal(ref.size, stored.length);
      assert.deepEqual(new Uint8Array(open(stored, ref)), tar);
    }),
  );
});

test('equal content gives equal bytes; another content or another hub gives others, and another key', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (one, other) => {
      const sealed = seal(one, SECRET);
      assert.deepEqual(seal(Uint8Array.from(one), SECRET), sealed);
      const foreign = seal(one, Buffer.from('the secret of another hub, also.'));
      assert.notEqual(foreign.ref.name, sealed.ref.name);
      assert.notEqual(foreign.ref.key, sealed.ref.key);
      if (hex(one) === hex(other)) return;
      assert.notEqual(seal(other, SECRET).ref.key, sealed.ref.key);
    }),
  );
});

test('nothing of the content can be read from what is stored', () => {
  const text = 'resources: {bucket: {type: aws:s3:Bucket}}';
  assert.equal(seal(Buffer.from(text), SECRET).stored.includes('bucket'), false);
});

test('every single flipped bit is refused, even when the order names the changed bytes', () => {
  const { ref, stored } = seal(Buffer.from('a small tar'), SECRET);
  for (let bit = 0; bit < stored.length * 8; bit += 1) {
    const changed = flipped(stored, bit);
    assert.throws(() => open(changed, ref), /artifact damaged/, `bit ${bit}`);
    assert.throws(() => open(changed, named(ref, changed)), DAMAGED, `bit ${bit}, renamed`);
  }
});

test('every flipped bit of the key is refused', () => {
  const { ref, stored } = seal(Buffer.from('a small tar'), SECRET);
  const key = Buffer.from(ref.key, 'base64');
  for (let bit = 0; bit < key.length * 8; bit += 1) {
    const wrong = { ...ref, key: flipped(key, bit).toString('base64') };
    assert.throws(() => open(stored, wrong), DAMAGED, `bit ${bit}`);
  }
});

test('every shorter part is refused, even when the order names it', () => {
  const { ref, stored } = seal(randomBytes(40), SECRET);
  for (let length = 0; length < stored.length; length += 1) {
    const part = stored.subarray(0, length);
    assert.throws(() => open(part, ref), /artifact damaged/, `${length} bytes`);
    const expected = length <= TAG_BYTES ? /too short/ : DAMAGED;
    assert.throws(() => open(part, named(ref, part)), expected, `${length} bytes, renamed`);
  }
});

test('another artifact of the same hub is refused, whatever part of the order was taken from it', () => {
  const [one, other] = [seal(Buffer.from('one'), SECRET), seal(Buffer.from('other'), SECRET)];
  const swaps: readonly ArtifactRef[] = [
    one.ref,
    { ...one.ref, name: other.ref.name },
    { ...one.ref, name: other.ref.name, key: other.ref.key },
  ];
  for (const ref of swaps) assert.throws(() => open(other.stored, ref), DAMAGED);
});

/** Sealed as {@link seal} does it, with gzip, which an order may name as well. */
function sealedWithGzip(tar: Uint8Array): { ref: ArtifactRef; stored: Buffer } {
  const key = randomBytes(32);
  const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12));
  const stored = Buffer.concat([cipher.update(gzipSync(tar)), cipher.final(), cipher.getAuthTag()]);
  const { ref } = seal(tar, SECRET);
  return { stored, ref: { ...named(ref, stored), key: key.toString('base64'), compression: 'gzip' } };
}

test('gzip is opened as well', () => {
  const { ref, stored } = sealedWithGzip(Buffer.from('a tar'));
  assert.equal(open(stored, ref).toString(), 'a tar');
});

test('a few bytes that expand beyond the limit of an artifact are refused', () => {
  const { ref, stored } = seal(Buffer.alloc(limits.artifactBytes + 1), SECRET);
  assert.ok(stored.length < 1024 * 1024);
  assert.throws(() => open(stored, ref), { code: 'ERR_BUFFER_TOO_LARGE' });
});

const edges = [0, 1, limits.chunkBytes - 1, limits.chunkBytes, limits.chunkBytes + 1, 3 * limits.chunkBytes];

for (const length of edges) {
  test(`content of ${length} random bytes is cut into as many chunks as the order says, and joins again`, () => {
    const { ref, stored } = seal(randomBytes(length), SECRET);
    const chunks = chunksOf(stored);
    assert.equal(chunks.length, ref.chunks);
    assert.ok(chunks.every((chunk) => chunk.length > 0 && chunk.length <= limits.chunkBytes));
    assert.deepEqual(Buffer.concat(chunks), stored);
  });
}
