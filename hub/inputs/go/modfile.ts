/** go.mod and go.work: lines of words, some of them in blocks. */
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
  readonly statements: readonly Statement[];
}

/** One line, with the verb of the block that it stands in. */
export interface Statement {
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
    statements,
  };
}

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

/** Words of a line without its comment; one in quotes is one word, and stays in them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/\/\/.*|"(?:[^"\\]|\\.)*"|`[^`]*`|[()]|[^\s()"`]+/g)]
    .map(([word]) => word)
    .filter((word) => !word.startsWith('//'));

const unquoted = (word: string): string =>
  /^".*"$/.test(word) ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word.replace(/^`(.*)`$/, '$1');

/** `module [version] => folder`; what is replaced by another module has a version after it. */
export function replaceOf(words: readonly string[]): Replace[] {
  const arrow = words.indexOf('=>');
  const [module] = words;
  const path = words[arrow + 1];
  if (arrow < 1 || module === undefined || path === undefined || !/^\.{1,2}(?:\/|$)/.test(path)) return [];
  return [{ module, path }];
}

/** A go.work with only some of its uses and of its folders in place of modules. */
export function cutWorkfile(
  { statements }: Modfile,
  keeps: { readonly use: (path: string) => boolean; readonly replace: (path: string) => boolean },
): string {
  const lines = statements
    .filter(({ verb, words }) => {
      const plain = words.map(unquoted);
      if (verb === 'use') return keeps.use(plain[0] ?? '');
      const [local] = verb === 'replace' ? replaceOf(plain) : [];
      return local === undefined || keeps.replace(local.path);
    })
    .map(({ verb, words }) => [verb, ...words].join(' '));
  const isUse = (line: string): boolean => line.startsWith('use ');
  return `${[...lines.filter((line) => !isUse(line)), ...lines.filter(isUse).sort()].join('\n')}\n`;
}
