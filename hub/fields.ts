/** Maps, as documents, specs and metadata are. */
import type { Json } from '../shared/wire.ts';

/** The fields of a map. */
export type Fields = Readonly<Record<string, Json>>;

/** Whether a value of a document is a map. */
export const isFields = (value: unknown): value is { [key: string]: Json } =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
