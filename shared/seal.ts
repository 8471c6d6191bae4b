/**
 * Artifacts are sealed by the hub and opened by the agent.
 *
 * stored bytes = AES-256-GCM(key, compressed tar) with the tag behind it. The key is derived from the hub's secret and
 * the plaintext, so one key seals one plaintext and the zero nonce is safe; equal content gives equal bytes.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { gunzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { sha256 } from './canonical.ts';
import { limits } from './limits.ts';
import type { ArtifactRef } from './wire.ts';

const NONCE = Buffer.alloc(12);
const TAG_BYTES = 16;

export interface Sealed {
  readonly ref: ArtifactRef;
  readonly stored: Buffer;
}

/** Compresses and encrypts a tar. `hubSecret` is never part of the hub's data folder. */
export function seal(tar: Uint8Array, hubSecret: Uint8Array): Sealed {
  const compressed = zstdCompressSync(tar);
  const salt = createHash('sha256').update(compressed).digest();
  const key = Buffer.from(hkdfSync('sha256', hubSecret, salt, 'towline artifact v1', 32));
  const cipher = createCipheriv('aes-256-gcm', key, NONCE);
  const stored = Buffer.concat([cipher.update(compressed), cipher.final(), cipher.getAuthTag()]);
  const ref: ArtifactRef = {
    name: sha256(stored),
    key: key.toString('base64'),
    size: stored.length,
    chunks: Math.max(1, Math.ceil(stored.length / limits.chunkBytes)),
    sha256: sha256(tar),
    compression: 'zstd',
  };
  return { ref, stored };
}

/** Returns the tar. Throws when a single bit of what was stored, or the key, is not what the order says. */
export function open(stored: Uint8Array, ref: ArtifactRef): Buffer {
  if (sha256(stored) !== ref.name)
    throw new Error('artifact damaged: stored bytes do not have the name of the order');
  if (stored.length <= TAG_BYTES) throw new Error('artifact damaged: too short to hold anything');
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(ref.key, 'base64'), NONCE, {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES));
  const compressed = Buffer.concat([
    decipher.update(stored.subarray(0, stored.length - TAG_BYTES)),
    decipher.final(),
  ]);
  const expand = ref.compression === 'zstd' ? zstdDecompressSync : gunzipSync;
  const tar = expand(compressed, { maxOutputLength: limits.artifactBytes });
  if (sha256(tar) !== ref.sha256) throw new Error('artifact damaged: its tar is not the one of the order');
  return tar;
}

/** Cuts stored bytes for the artifact stream; the last chunk is written last and so marks the whole. */
export function chunksOf(stored: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(stored.length / limits.chunkBytes));
  return Array.from({ length: count }, (_, n) =>
    stored.subarray(n * limits.chunkBytes, (n + 1) * limits.chunkBytes),
  );
}
