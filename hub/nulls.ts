/** Nulls in a document take a field away; for checking and reading, such a field is not there. */
import type { Json } from '../shared/wire.ts';

/**
 * The value without the fields that are null. List elements that are null stay, and so does the `value: null` of an
 * `env` entry, which takes that one variable away.
 */
export function withoutNulls(value: Json): Json {
  return strip(value, '');
}

function strip(value: Json, within: string): Json {
  if (Array.isArray(value)) return value.map((item) => strip(item, within === 'env' ? 'env entry' : ''));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const kept = inner !== null || (within === 'env entry' && key === 'value');
      return kept ? [[key, strip(inner, key)]] : [];
    }),
  );
}
