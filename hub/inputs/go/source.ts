/** A Go file → what it imports, what it embeds, and the paths that it names. */
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/go';
import { isOutward, type Literal } from '../literals.ts';
import { textParser } from '../parsers.ts';

export interface GoSource {
  readonly imports: readonly string[];
  /** Patterns of files that are compiled in, from the file's folder. */
  readonly embeds: readonly string[];
  readonly paths: readonly Literal[];
  /** Folders that a C compiler is told of, from the file's folder. */
  readonly native: readonly string[];
}

/** Reads one file. */
export const goParser = textParser('go', readSource);

function readSource(text: string): GoSource {
  const imports: string[] = [];
  const embeds: string[] = [];
  const paths: Literal[] = [];
  const native: string[] = [];
  parser.parse(text).iterate({
    enter({ node, name, from, to }) {
      const source = text.slice(from, to);
      if (name === 'ImportSpec') {
        const path = node.getChild('String');
        if (path !== null) imports.push(stringOf(text.slice(path.from, path.to)));
        return false;
      }
      if (name === 'LineComment' && source.startsWith('//go:embed '))
        embeds.push(...patternsOf(source.slice(11)));
      if (name === 'LineComment' || name === 'BlockComment') native.push(...nativeOf(source));
      const literal =
        name === 'String'
          ? literalOf(stringOf(source))
          : name === 'CallExpr'
            ? joinOf(node, text)
            : undefined;
      if (literal !== undefined) paths.push({ ...literal, line: lineOf(text, from) });
      return true;
    },
  });
  return { imports, embeds, paths, native };
}

const stringOf = (literal: string): string =>
  literal.startsWith('`') ? literal.slice(1, -1) : literal.slice(1, -1).replace(/\\(["\\])/g, '$1');

const patternsOf = (text: string): string[] =>
  [...text.matchAll(/"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s"`]+/g)].map(([word]) =>
    /^["`]/.test(word) ? stringOf(word) : word,
  );

const nativeOf = (comment: string): string[] =>
  comment.includes('#cgo')
    ? [...comment.matchAll(/\$\{SRCDIR\}\/?([^\s"'*]*)/g)].map(([, path = '']) => `./${path}`)
    : [];

/** A text that leaves a folder; what a format fills in is only known by the run. */
function literalOf(value: string): Omit<Literal, 'line'> | undefined {
  const cut = value.search(/%[^/%]*[a-zA-Z]/);
  return isOutward(value)
    ? { path: cut < 0 ? value : value.slice(0, cut), open: cut >= 0, lists: false }
    : undefined;
}

/** `filepath.Join("..", "x", name)`. */
function joinOf(call: SyntaxNode, text: string): Omit<Literal, 'line'> | undefined {
  const callee = call.firstChild;
  const last = callee?.lastChild ?? callee;
  if (last === null || last === undefined || text.slice(last.from, last.to) !== 'Join') return undefined;
  const parts: string[] = [];
  let open = false;
  for (let part = call.getChild('Arguments')?.firstChild ?? null; part !== null; part = part.nextSibling) {
    if (part.name === '(' || part.name === ',' || part.name === ')') continue;
    if (part.name === 'String') parts.push(stringOf(text.slice(part.from, part.to)));
    else open = true;
    if (open) break;
  }
  const path = `${parts.join('/')}${open ? '/' : ''}`;
  return isOutward(path) ? { path, open, lists: false } : undefined;
}

/** From 1. Asked for few places of a file. */
const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
