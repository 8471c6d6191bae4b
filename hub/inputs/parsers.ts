/** Parsers of files that people write: bounded, and what is wrong with a file is an answer with its line. */
import { loadAll, YAMLException } from 'js-yaml';
import type { Parser } from './view.ts';

/** What a parser of a file says: its value, or the line at which it broke. */
export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'broken'; readonly line: number; readonly text: string };

/** Bytes of a file that is looked into; what is larger was generated, or is meant to hurt. */
const MAX_BYTES = 4 * 1024 * 1024;

/** A parser of text whose errors are answers. `lineOf` finds the line of what `read` throws. */
export const textParser = <T>(
  name: string,
  read: (text: string) => T,
  lineOf: (error: unknown) => number = () => 1,
): Parser<Read<T>> => ({
  name,
  parse(content) {
    if (content.length > MAX_BYTES)
      return { kind: 'broken', line: 1, text: `it has more than ${MAX_BYTES / 1_048_576} MiB` };
    try {
      return { kind: 'read', value: read(content.toString('utf8').replace(/^\uFEFF/, '')) };
    } catch (error) {
      const [text = ''] = (error as Error).message.split('\n');
      return { kind: 'broken', line: lineOf(error), text };
    }
  },
});

/** A parser of YAML documents, JSON among them. Aliases share what they stand for: whoever walks them keeps count. */
export const yamlParser = <T>(
  name: string,
  read: (documents: readonly unknown[], text: string) => T,
): Parser<Read<T>> =>
  textParser(
    name,
    // a key that comes twice is for the program's own parser to judge
    (text) => read(loadAll(text, { json: true }), text),
    (error) => (error instanceof YAMLException ? (error.mark?.line ?? 0) + 1 : 1),
  );
