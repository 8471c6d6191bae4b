/**
 * Expressions of a Python program that make paths, as far as their text tells: strings, joins, `__file__`, folders above.
 * What only the run knows is left open at the end, so that the folder before it still counts.
 */
import type { SyntaxNode } from '@lezer/common';
import { stringOf } from './strings.ts';

/** A path as it stands: from the folder of its file, from the working folder, or a text that may be a path. */
export interface PyPath {
  readonly from: 'file' | 'cwd' | 'text';
  readonly path: string;
  readonly open: boolean;
}

/** What names stand for where an expression is. */
export interface Scope {
  readonly text: string;
  /** Everything that is assigned to a name anywhere in the file. */
  readonly names: ReadonlyMap<string, readonly SyntaxNode[]>;
  /** Steps that may still be taken: of this expression, and of the whole file. */
  readonly left: { expression: number; file: number };
}

/** The file itself, as the last part of a path; no file can bear this name. */
export const SELF = '\0';

/** Expressions in expressions; real ones stay far below. */
const MAX_DEPTH = 40;
/** Steps for one expression, and for all of a file: names that stand for names could take any number. */
const MAX_STEPS = { expression: 500, file: 2_000_000 } as const;
/** Values of one expression, where names are assigned more than once. */
const MAX_VALUES = 8;

/** Names and their values, before anything was evaluated. */
export const makeScope = (text: string, names: Scope['names']): Scope => ({
  text,
  names,
  left: { ...MAX_STEPS },
});

/** What an expression may be; nothing where its text does not tell. */
export function evaluate(node: SyntaxNode, scope: Scope, depth = 0): readonly PyPath[] {
  const { left } = scope;
  if (depth === 0) left.expression = MAX_STEPS.expression;
  if (depth > MAX_DEPTH || --left.expression < 0 || --left.file < 0) return [];
  const inner = (child: SyntaxNode): readonly PyPath[] => evaluate(child, scope, depth + 1);
  return valuesOf(node, scope, inner).slice(0, MAX_VALUES);
}

type Inner = (child: SyntaxNode) => readonly PyPath[];

function valuesOf(node: SyntaxNode, scope: Scope, inner: Inner): readonly PyPath[] {
  switch (node.name) {
    case 'String':
      return [textPath(stringOf(textOf(node, scope)))];
    case 'FormatString':
      return formatted(node, scope, inner);
    case 'ContinuedString':
      return childrenOf(node)
        .map(inner)
        .reduce(concatAll, [textPath('')]);
    case 'ParenthesizedExpression':
    case 'FormatReplacement':
      return node.firstChild?.nextSibling ? inner(node.firstChild.nextSibling) : [];
    case 'VariableName': {
      const name = textOf(node, scope);
      if (name === '__file__') return [{ from: 'file', path: SELF, open: false }];
      return (scope.names.get(name) ?? []).slice(0, MAX_VALUES).flatMap(inner);
    }
    case 'MemberExpression':
      return member(node, scope, inner);
    case 'CallExpression':
      return called(node, scope, inner);
    case 'BinaryExpression':
      return operated(node, scope, inner);
    case 'ConditionalExpression':
      return childrenOf(node).flatMap(inner);
    default:
      return [];
  }
}

const textPath = (path: string): PyPath => ({ from: 'text', path, open: false });

/** The text of a node. */
export const textOf = (node: SyntaxNode, { text }: Scope): string => text.slice(node.from, node.to);

/** Children of a node, punctuation included. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** Arguments of a call that are given by position, and the values of those that are given by name. */
export function argumentsOf(call: SyntaxNode): SyntaxNode[] {
  const list = call.getChild('ArgList');
  if (list === null) return [];
  return childrenOf(list).filter(
    ({ name, nextSibling }) => !PUNCTUATION.has(name) && nextSibling?.name !== 'AssignOp',
  );
}

const PUNCTUATION: ReadonlySet<string> = new Set(['(', ')', ',', 'AssignOp', '*', '**', 'Comment']);

/** The last name of what a call calls. */
export function calleeOf(call: SyntaxNode, scope: Scope): string {
  const callee = call.firstChild;
  const last = callee?.name === 'MemberExpression' ? callee.lastChild : callee;
  return last === null || last === undefined ? '' : textOf(last, scope);
}

/** What the called method belongs to. */
export const ownerOf = (call: SyntaxNode): SyntaxNode | undefined =>
  call.firstChild?.name === 'MemberExpression' ? (call.firstChild.firstChild ?? undefined) : undefined;

function formatted(node: SyntaxNode, scope: Scope, inner: Inner): readonly PyPath[] {
  const holes = childrenOf(node).filter(({ name }) => name === 'FormatReplacement');
  const text = textOf(node, scope);
  const start = /^[A-Za-z]*(?:"""|'''|"|')/.exec(text)?.[0].length ?? 0;
  let at = node.from + start;
  let values: readonly PyPath[] = [textPath('')];
  for (const hole of holes) {
    values = concatAll(values, [textPath(scope.text.slice(at, hole.from))]);
    const value = hole.firstChild?.nextSibling;
    values = concatAll(values, value ? inner(value) : []);
    at = hole.to;
  }
  const end = node.to - Math.max(1, start - (/^[A-Za-z]*/.exec(text)?.[0].length ?? 0));
  return concatAll(values, [textPath(scope.text.slice(at, Math.max(at, end)))]);
}

function member(node: SyntaxNode, scope: Scope, inner: Inner): readonly PyPath[] {
  const [owner] = childrenOf(node);
  const last = node.lastChild;
  if (owner === undefined || last === null) return [];
  if (last.name === ']') return above(node, scope, inner);
  switch (textOf(last, scope)) {
    case 'parent':
      return inner(owner).map(parentOf);
    case 'format':
      return inner(owner);
    case 'pardir':
      return [textPath('..')];
    case 'curdir':
      return [textPath('.')];
    case 'sep':
      return [textPath('/')];
    default:
      return [];
  }
}

/** `path.parents[2]`: two folders above the one that holds it. */
function above(node: SyntaxNode, scope: Scope, inner: Inner): readonly PyPath[] {
  const [owner, , index] = childrenOf(node);
  if (owner?.name !== 'MemberExpression' || owner.firstChild === null || owner.lastChild === null) return [];
  if (textOf(owner.lastChild, scope) !== 'parents' || index === undefined) return [];
  const count = Number(textOf(index, scope));
  if (!Number.isInteger(count) || count < 0 || count > MAX_DEPTH) return [];
  let values = inner(owner.firstChild);
  for (let step = 0; step <= count; step++) values = values.map(parentOf);
  return values;
}

/** Calls that give their first argument back as a path. */
const SAME: ReadonlySet<string> = new Set([
  'abspath',
  'realpath',
  'normpath',
  'relpath',
  'expanduser',
  'str',
  'fspath',
]);
const PATHS: ReadonlySet<string> = new Set(['Path', 'PosixPath', 'PurePath', 'PurePosixPath']);
/** Methods that give the path back that they belong to. */
const SAME_OWNER: ReadonlySet<string> = new Set(['resolve', 'absolute', 'as_posix', 'expanduser']);

function called(node: SyntaxNode, scope: Scope, inner: Inner): readonly PyPath[] {
  const name = calleeOf(node, scope);
  const owner = ownerOf(node);
  const given = argumentsOf(node);
  const [first] = given;
  if (name === 'getcwd' || name === 'cwd') return [{ from: 'cwd', path: '', open: false }];
  if (PATHS.has(name)) return joinAll(given.map(inner)).map(anchored);
  if (name === 'dirname' && first !== undefined) return inner(first).map(parentOf);
  if (SAME.has(name) && first !== undefined) return inner(first);
  if (owner === undefined) return name === 'join' ? joinAll(given.map(inner)) : [];
  // the join of a text puts it between others
  if (name === 'join') return /String$/.test(owner.name) ? [] : joinAll(given.map(inner));
  if (SAME_OWNER.has(name)) return inner(owner);
  if (name === 'joinpath') return joinAll([owner, ...given].map(inner));
  if (name === 'with_name' && first !== undefined) return joinAll([inner(owner).map(parentOf), inner(first)]);
  if (name === 'format') return inner(owner).map(({ from, path }) => ({ from, ...cutAt(path, '{') }));
  return [];
}

function operated(node: SyntaxNode, scope: Scope, inner: Inner): readonly PyPath[] {
  const [left, operator, right] = childrenOf(node);
  if (left === undefined || operator === undefined || right === undefined) return [];
  switch (textOf(operator, scope)) {
    case '/':
      return joinAll([inner(left), inner(right)]);
    case '+':
      return concatAll(inner(left), inner(right));
    case '%':
      return inner(left).map(({ from, path }) => ({ from, ...cutAt(path, '%') }));
    case 'or':
      return [...inner(left), ...inner(right)];
    default:
      return [];
  }
}

const cutAt = (path: string, mark: string): { path: string; open: boolean } =>
  path.includes(mark) ? { path: path.slice(0, path.indexOf(mark)), open: true } : { path, open: false };

const anchored = (value: PyPath): PyPath => (value.from === 'text' ? { ...value, from: 'cwd' } : value);

/** Each of the first before each of the second; nothing known of the second leaves the first open. */
function combine(
  first: readonly PyPath[],
  second: readonly PyPath[],
  { both, alone }: { both: (a: PyPath, b: PyPath) => readonly PyPath[]; alone: (a: PyPath) => PyPath },
): readonly PyPath[] {
  return first.flatMap((a) => {
    if (a.open) return [a];
    return second.length === 0 ? [alone(a)] : second.flatMap((b) => both(a, b));
  });
}

const concatAll = (first: readonly PyPath[], second: readonly PyPath[]): readonly PyPath[] =>
  combine(first, second, {
    both: (a, b) =>
      a.path === '' && b.from !== 'text' ? [b] : [{ from: a.from, path: a.path + b.path, open: b.open }],
    alone: (a) => ({ ...a, open: true }),
  });

const joinAll = (parts: readonly (readonly PyPath[])[]): readonly PyPath[] => {
  const [first = [textPath('')], ...rest] = parts;
  return rest.reduce(joinTwo, first);
};

const joinTwo = (first: readonly PyPath[], second: readonly PyPath[]): readonly PyPath[] =>
  combine(first, second, {
    both: (a, b) => {
      if (b.from !== 'text') return [b];
      if (b.path.startsWith('/')) return [];
      return [{ from: a.from, path: withSlash(a.path) + b.path, open: b.open }];
    },
    alone: (a) => ({ ...a, path: withSlash(a.path), open: true }),
  });

const withSlash = (path: string): string => (path === '' || path.endsWith('/') ? path : `${path}/`);

/** The folder above: of a name the one that holds it, of anything else one more. */
function parentOf(value: PyPath): PyPath {
  if (value.open) return value;
  const parts = value.path.split('/').filter((part) => part !== '' && part !== '.');
  const last = parts.at(-1);
  const shorter = last === undefined || last === '..' ? [...parts, '..'] : parts.slice(0, -1);
  return { ...value, path: shorter.join('/') };
}
