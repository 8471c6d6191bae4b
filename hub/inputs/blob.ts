/** Object ids of contents that no repository holds. */
import { createHash } from 'node:crypto';

/** The id that Git gives a file's content in a repository of SHA-1 ids, hex. */
export const blobId = (content: Uint8Array): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
