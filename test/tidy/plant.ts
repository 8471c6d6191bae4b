/** Planted examples for the tests of the rules. */
import { textOf, type Finding } from './finding.ts';
import { parseSource, type Source } from './source.ts';

/** Files by path. */
export const plant = (files: Readonly<Record<string, string>>): readonly Source[] =>
  Object.entries(files).map(([path, text]) => parseSource(path, text));

/** Where something was found, without what is said about it. */
export const placesOf = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ path, line }) => textOf({ path, line, message: '' }).slice(0, -2));
