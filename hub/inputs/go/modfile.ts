/** go.mod and go.work: lines of words, some of them in blocks. */
import { posix } from 'node:path';
import { textParser } from '../parsers.ts';

export interface Replace {
  readonly module: string;
  /** From the folder of the file. */
  readonly path: string;
}

export interface Modfile {
  readonly module?: string;
  readonly requires: readonly string[];
  /** Only those that lead to a folder. */
  readonly replaces: readonly Replace[];
  readonly uses: readonly string[];
  /** Lines that say nothing of a folder, as one line each. */
  readonly plain: readonly string[];
  /** The others, by folder. A workspace may have ten thousand, and be cut as often. */
  readonly byFolder: ReadonlyMap<string, readonly string[]>;
}

/** One line, with the verb of the block that it stands in. */
interface Statement {
  readonly verb: string;
  readonly words: readonly string[];
}

/** Reads either file. */
export const modfileParser = textParser('go.mod', readModfile);

function readModfile(text: string): Modfile {
  const statements = statementsOf(text);
  const of = (verb: string): (readonly string[])[] =>
    statements.filter((one) => one.verb === verb).map(({ words }) => words.map(unquoted));
  const [module] = of('module');
  return {
    ...(module?.[0] === undefined ? {} : { module: module[0] }),
    requires: of('require').flatMap(([name]) => name ?? []),
    replaces: of('replace').flatMap(replaceOf),
    uses: of('use').flatMap(([path]) => path ?? []),
    ...linesOf(statements),
  };
}

function linesOf(statements: readonly Statement[]): Pick<Modfile, 'plain' | 'byFolder'> {
  const plain: string[] = [];
  const byFolder = new Map<string, string[]>();
  for (const { verb, words } of statements) {
    const line = [verb, ...words].join(' ');
    const said = words.map(unquoted);
    const path = verb === 'use' ? said[0] : verb === 'replace' ? replaceOf(said)[0]?.path : undefined;
    if (path === undefined) plain.push(line);
    else byFolder.set(normal(path), [...(byFolder.get(normal(path)) ?? []), line]);
  }
  return { plain, byFolder };
}

const normal = (path: string): string => posix.normalize(path).replace(/\/$/, '');

function statementsOf(text: string): Statement[] {
  const found: Statement[] = [];
  let block: string | undefined;
  for (const line of text.split('\n')) {
    const words = wordsOf(line);
    const [first] = words;
    if (first === undefined) continue;
    if (first === ')') block = undefined;
    else if (block !== undefined) found.push({ verb: block, words });
    else if (words[1] === '(') block = first;
    else found.push({ verb: first, words: words.slice(1) });
  }
  return found;
}

/** Words of a line without its comment; one in quotes is one word, and stays in them. Quotes need not end. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/\/\/.*|"(?:[^"\\]|\\.)*"?|`[^`]*`?|[()]|[^\s()"`]+/g)]
    .map(([word]) => word)
    .filter((word) => !word.startsWith('//'));

const unquoted = (word: string): string =>
  /^".*"$/.test(word) ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word.replace(/^`(.*)`$/, '$1');

/** `module [version] => folder`; what is replaced by another module has a version after it. */
function replaceOf(words: readonly string[]): Replace[] {
  const arrow = words.indexOf('=>');
  const [module] = words;
  const path = words[arrow + 1];
  if (arrow < 1 || module === undefined || path === undefined || !/^\.{1,2}(?:\/|$)/.test(path)) return [];
  return [{ module, path }];
}

/** A go.work with only some of its folders, from its own; what is used and what replaces a module. */
export const cutWorkfile = ({ plain, byFolder }: Modfile, folders: Iterable<string>): string =>
  `${[...plain, ...[...folders].flatMap((folder) => byFolder.get(folder) ?? []).sort()].join('\n')}\n`;
