/**
 * Encrypts settings for Pulumi's passphrase provider, in its own format. The CLI takes plain secrets only as arguments,
 * which every process of the machine can read, or one process a value.
 *
 * Format (CLI 3.274.1): the state is `v1:<salt>:<test>`, where the test is the word `pulumi`, encrypted; a value is
 * `v1:<nonce>:<ciphertext and tag>`; all in base64. The key is PBKDF2 of the passphrase, AES-256-GCM.
 */
import { createCipheriv, createDecipheriv, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const ITERATIONS = 1_000_000;
const KEY_BYTES = 32;
const SALT_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TEST_WORD = 'pulumi';

/** A key for one passphrase and salt. Making it takes 0.2 s on purpose. */
export async function passphraseKey(passphrase: string, state: string): Promise<Buffer> {
  const salt = Buffer.from(state.split(':')[1] ?? '', 'base64');
  return promisify(pbkdf2)(passphrase, salt, ITERATIONS, KEY_BYTES, 'sha256');
}

/** Whether the passphrase is the one of this stack. */
export function isKeyOf(key: Buffer, state: string): boolean {
  const [, , version, nonce, text] = state.split(':');
  if (version !== 'v1' || nonce === undefined || text === undefined) return false;
  const bytes = Buffer.from(text, 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const word = Buffer.concat([
      decipher.update(bytes.subarray(0, bytes.length - TAG_BYTES)),
      decipher.final(),
    ]);
    return word.toString() === TEST_WORD;
  } catch {
    return false;
  }
}

/** A value as it stands behind `secure:`. */
export function encryptValue(key: Buffer, value: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const bytes = Buffer.concat([cipher.update(value), cipher.final(), cipher.getAuthTag()]);
  return `v1:${nonce.toString('base64')}:${bytes.toString('base64')}`;
}

/** A state for a stack that has none yet. */
export async function freshState(passphrase: string): Promise<string> {
  const salt = `v1:${randomBytes(SALT_BYTES).toString('base64')}`;
  return `${salt}:${encryptValue(await passphraseKey(passphrase, salt), TEST_WORD)}`;
}
