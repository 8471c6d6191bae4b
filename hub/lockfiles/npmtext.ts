/** The text of a cut npm lockfile, in npm's own shape. */
import type { Fields } from './json.ts';
import { NOT_DEV, NOT_OPTIONAL, NOT_PEER, PLAIN } from './reach.ts';

/** Fields that say how an entry is reached. They depend on the other workspaces, so they are made anew. */
const FLAGS = ['dev', 'optional', 'peer', 'devOptional'];

/** An entry without its flags. */
export const withoutFlags = (value: Fields): Fields =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !FLAGS.includes(name)));

/** The flags of an entry as one number: dev 1, optional 2, peer 4, devOptional 8. */
export function flagsOf(state: number): number {
  const dev = (state & NOT_DEV) === 0;
  const optional = (state & NOT_OPTIONAL) === 0;
  const both = (state & PLAIN) === 0 && !dev && !optional;
  return (dev ? 1 : 0) | (optional ? 2 : 0) | ((state & NOT_PEER) === 0 ? 4 : 0) | (both ? 8 : 0);
}

/** An object as it stands among the packages. */
export const indented = (value: Fields): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n    ');

/** The text of an entry with its flags. */
export function withFlags(text: string, flags: number): string {
  if (flags === 0) return text;
  const lines = FLAGS.filter((_, bit) => (flags & (1 << bit)) !== 0).map((name) => `      "${name}": true`);
  const fields = text === '{}' ? '' : `${text.slice(1, -'\n    }'.length)},`;
  return `{${fields}\n${lines.join(',\n')}\n    }`;
}

/** The whole file. */
export function npmText(head: Fields, packages: Iterable<readonly [location: string, text: string]>): string {
  const lines = [...packages].map(([location, text]) => `    ${JSON.stringify(location)}: ${text}`);
  const fields = Object.entries(head).map(
    ([name, value]) =>
      `  ${JSON.stringify(name)}: ${JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')}`,
  );
  return `{\n${[...fields, `  "packages": {\n${lines.join(',\n')}\n  }`].join(',\n')}\n}\n`;
}
