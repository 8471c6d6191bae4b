/** Canonical JSON and hashes: equal values give equal bytes, whatever the order of their keys. */
import { createHash } from 'node:crypto';

/** JSON with sorted keys and without undefined fields. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** sha256 as hex. */
export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** Hash over a set of rows, independent of their order. */
export const hashOfSet = (rows: Iterable<string>): string => sha256([...rows].sort().join('\n'));
