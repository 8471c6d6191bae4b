/** Import statements of Python. */
import type { SyntaxNode } from '@lezer/common';
import { childrenOf, textOf, type Scope } from './evaluate.ts';

export interface PyImport {
  /** Parts of the module's name; none for `from . import x`. */
  readonly module: readonly string[];
  /** Dots before it: 0 for one that is looked for, 1 for the file's own package. */
  readonly level: number;
  /** What is taken from the module, which may be modules as well; `*` for all. */
  readonly names: readonly string[];
}

/** The imports of one statement. */
export function readImport(node: SyntaxNode, scope: Scope): readonly PyImport[] {
  const tokens = childrenOf(node).filter(({ name }) => name !== '(' && name !== ')' && name !== 'Comment');
  const words = tokens.map((token) => textOf(token, scope));
  if (words[0] === 'from') return [fromImport(words.slice(1))];
  return splitAt(words.slice(1), ',').map((part) => ({
    module: namesOf(untilAs(part)),
    level: 0,
    names: [],
  }));
}

function fromImport(words: readonly string[]): PyImport {
  const cut = words.indexOf('import');
  const before = (cut < 0 ? words : words.slice(0, cut)).join('');
  const [dots = ''] = /^\.*/.exec(before) ?? [];
  const names = cut < 0 ? [] : splitAt(words.slice(cut + 1), ',').flatMap((part) => part.slice(0, 1));
  return { module: namesOf([before.slice(dots.length)]), level: dots.length, names };
}

const untilAs = (words: readonly string[]): readonly string[] => {
  const cut = words.indexOf('as');
  return cut < 0 ? words : words.slice(0, cut);
};

const namesOf = (words: readonly string[]): string[] => words.join('').split('.').filter(Boolean);

function splitAt(words: readonly string[], separator: string): string[][] {
  const parts: string[][] = [[]];
  for (const word of words) {
    if (word === separator) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.filter((part) => part.length > 0);
}
