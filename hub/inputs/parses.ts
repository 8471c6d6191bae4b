/** What files said when they were parsed, by parser and object id: the same content is parsed once. */
import type { Parser } from './view.ts';

export interface Parses {
  get<T>(parser: Parser<T>, id: string): { readonly value: T } | undefined;
  /** Parses and keeps. */
  parse<T>(parser: Parser<T>, id: string, content: Buffer): T;
}

/** A parse with its strings and lists weighs more than its text; this is added for each, in bytes. */
const PARSE_BYTES = 500;

interface Kept {
  readonly value: unknown;
  readonly bytes: number;
}

/** Keeps what was asked for last, up to so many bytes of content. */
export function makeParses(maxBytes: number): Parses {
  const kept = new Map<string, Kept>();
  let total = 0;
  const keyOf = (parser: Parser<unknown>, id: string): string => `${parser.name} ${id}`;
  const trim = (): void => {
    for (const [key, { bytes }] of kept) {
      if (total <= maxBytes || kept.size === 1) return;
      kept.delete(key);
      total -= bytes;
    }
  };
  return {
    get<T>(parser: Parser<T>, id: string) {
      const key = keyOf(parser, id);
      const found = kept.get(key);
      if (found === undefined) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return { value: found.value as T };
    },
    parse(parser, id, content) {
      const value = parser.parse(content);
      const bytes = content.length + PARSE_BYTES;
      kept.set(keyOf(parser, id), { value, bytes });
      total += bytes;
      trim();
      return value;
    },
  };
}
