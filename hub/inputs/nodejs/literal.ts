/**
 * Paths that a program's text spells out: literals, what is joined from them, and constants that hold such. Nothing is
 * run; what is not known ends a path, and what stands before it is the folder that the rest is looked for in.
 */
import { posix } from 'node:path';
import type { Node } from '@babel/types';

export interface Literal {
  /** `text`: as it stands there; `file`: from the folder of the source file; `cwd`: from the working directory. */
  readonly base: 'text' | 'file' | 'cwd';
  readonly path: string;
  /** More follows that is not known. */
  readonly open: boolean;
}

/** Values of constants of a file by name; undefined: several have that name. */
export type Constants = ReadonlyMap<string, Node | undefined>;

/** Stands for the name of the source file, which its text does not know. */
const OWN_NAME = '\0';
/** Constants that lead to constants, and expressions in each other: deeper ones are not paths that people write. */
const MAX_DEPTH = 24;
/** Characters. */
const MAX_PATH = 1024;

/** What an expression says of a path; undefined when it is not one, or nothing is known of it. */
export function literalOf(
  node: Node | null | undefined,
  constants: Constants,
  depth = 0,
): Literal | undefined {
  if (node === null || node === undefined || depth > MAX_DEPTH) return undefined;
  const of = (inner: Node | null | undefined): Literal | undefined => literalOf(inner, constants, depth + 1);
  const known = found(node, of, constants);
  return known !== undefined && known.path.length > MAX_PATH ? undefined : known;
}

type Evaluate = (node: Node | null | undefined) => Literal | undefined;

type Readers = {
  readonly [Type in Node['type']]?: (
    node: Extract<Node, { type: Type }>,
    of: Evaluate,
    constants: Constants,
  ) => Literal | undefined;
};

const READERS: Readers = {
  StringLiteral: ({ value }) => text(value),
  TemplateLiteral: ({ quasis, expressions }, of) =>
    template(
      quasis.map(({ value }) => value.cooked ?? ''),
      expressions,
      of,
    ),
  BinaryExpression: ({ operator, left, right }, of) =>
    operator === '+' ? concat(of(left), of(right)) : undefined,
  Identifier: ({ name }, of, constants) => named(name) ?? of(constants.get(name)),
  TSAsExpression: ({ expression }, of) => of(expression),
  TSSatisfiesExpression: ({ expression }, of) => of(expression),
  TSNonNullExpression: ({ expression }, of) => of(expression),
  ParenthesizedExpression: ({ expression }, of) => of(expression),
  MemberExpression: (node, of) => member(node.object, nameOf(node), of),
  CallExpression: (node, of) => call(calleeName(node.callee), node, of),
  NewExpression: (node, of) => call(calleeName(node.callee), node, of),
};

function found(node: Node, of: Evaluate, constants: Constants): Literal | undefined {
  const reader = READERS[node.type] as
    ((node: Node, of: Evaluate, constants: Constants) => Literal | undefined) | undefined;
  return reader?.(node, of, constants);
}

const text = (path: string): Literal => ({ base: 'text', path, open: false });
const file = (path: string): Literal => ({ base: 'file', path, open: false });

function named(name: string): Literal | undefined {
  if (name === '__dirname') return file('.');
  return name === '__filename' ? file(OWN_NAME) : undefined;
}

/** `import.meta.dirname`, `.filename`, `.url`; and `.href` or `.pathname` of a URL that is known. */
function member(object: Node, name: string | undefined, of: Evaluate): Literal | undefined {
  if (object.type === 'MetaProperty') {
    if (name === 'dirname') return file('.');
    return name === 'url' || name === 'filename' ? file(OWN_NAME) : undefined;
  }
  return name === 'href' || name === 'pathname' ? of(object) : undefined;
}

/** Functions of Node's `path` and `url`, however they were imported. */
function call(
  name: string | undefined,
  { arguments: args }: { readonly arguments: readonly Node[] },
  of: Evaluate,
): Literal | undefined {
  if (name === 'cwd') return args.length === 0 ? { base: 'cwd', path: '.', open: false } : undefined;
  if (name === 'join' || name === 'resolve') return joined(args.map(of));
  if (name === 'dirname') return dirname(of(args[0]));
  if (name === 'normalize' || name === 'fileURLToPath' || name === 'pathToFileURL' || name === 'toString')
    return of(args[0]);
  if (name !== 'URL') return undefined;
  const [path, base] = [of(args[0]), of(args[1])];
  const isRelative = path?.base === 'text' && !/^[a-z][a-z0-9+.-]*:|^\//i.test(path.path);
  return isRelative && base?.base === 'file'
    ? { ...base, path: posix.join(posix.dirname(base.path), path.path) }
    : undefined;
}

const dirname = (literal: Literal | undefined): Literal | undefined =>
  literal === undefined || literal.open ? literal : { ...literal, path: posix.dirname(literal.path) };

/** What follows the first part that is not known is left out. */
function joined(parts: readonly (Literal | undefined)[]): Literal | undefined {
  let whole: Literal | undefined;
  for (const part of parts) {
    if (whole?.open === true) return whole;
    if (part === undefined) return whole && { ...whole, open: true };
    const starts = whole === undefined || part.base !== 'text' || part.path.startsWith('/');
    whole = starts
      ? part
      : { ...part, base: whole?.base ?? part.base, path: posix.join(whole?.path ?? '.', part.path) };
  }
  return whole;
}

function concat(left: Literal | undefined, right: Literal | undefined): Literal | undefined {
  if (left === undefined || left.open) return left;
  if (right === undefined) return { ...left, open: true, path: folderPart(left.path) };
  return right.base === 'text' ? { ...right, base: left.base, path: left.path + right.path } : undefined;
}

function template(texts: readonly string[], holes: readonly Node[], of: Evaluate): Literal | undefined {
  let whole: Literal | undefined = texts[0] === '' && holes.length > 0 ? undefined : text(texts[0] ?? '');
  for (const [n, hole] of holes.entries()) {
    const value = of(hole);
    whole = whole === undefined ? value : concat(whole, value);
    if (whole === undefined || whole.open) return whole;
    whole = concat(whole, text(texts[n + 1] ?? ''));
  }
  return whole;
}

/** Up to the last slash: the name behind it is only begun. */
const folderPart = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1) || '.';

/** Name of a property that is not computed, or is by a literal. */
function nameOf(node: Extract<Node, { type: 'MemberExpression' }>): string | undefined {
  if (!node.computed && node.property.type === 'Identifier') return node.property.name;
  return node.property.type === 'StringLiteral' ? node.property.value : undefined;
}

/** Last name of what is called: `fs.promises.readFile` is `readFile`. */
export function calleeName(callee: Node): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  return callee.type === 'MemberExpression' ? nameOf(callee) : undefined;
}

/** Whether the name of the source file, which is not known, is a part of the path. */
export const hasOwnName = ({ path }: Literal): boolean => path.includes(OWN_NAME);
