/** A Python file → what it imports, and the paths that it names. */
import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import { isOutward } from '../literals.ts';
import { textParser } from '../parsers.ts';
import {
  argumentsOf,
  calleeOf,
  childrenOf,
  evaluate,
  makeScope,
  ownerOf,
  SELF,
  textOf,
  type PyPath,
  type Scope,
} from './evaluate.ts';
import { readImport, type PyImport } from './imports.ts';

/** A path that a program names. */
export interface PyLiteral extends PyPath {
  readonly lists: boolean;
  readonly line: number;
}

export interface PyProgram {
  readonly imports: readonly PyImport[];
  readonly paths: readonly PyLiteral[];
  /** Folders that it adds to those in which modules are looked for. */
  readonly roots: readonly PyLiteral[];
  /** Line of the first text that is not understood. */
  readonly brokenAt?: number;
}

/** Calls whose first argument is a folder, or a pattern, that is listed. */
const LISTS: ReadonlySet<string> = new Set([
  'listdir',
  'scandir',
  'walk',
  'glob',
  'iglob',
  'copytree',
  'FileArchive',
]);
/** Methods of paths that list. */
const LIST_METHODS: ReadonlySet<string> = new Set(['iterdir', 'glob', 'rglob', 'walk']);
const ROOT_METHODS: ReadonlySet<string> = new Set(['append', 'insert', 'extend', 'addsitedir']);

/** Reads one file. */
export const programParser = textParser('python', readProgram);

interface Walk {
  readonly scope: Scope;
  readonly lines: readonly number[];
  readonly imports: PyImport[];
  readonly paths: PyLiteral[];
  readonly roots: PyLiteral[];
  /** Nodes still to be looked at. */
  readonly open: SyntaxNode[];
}

function readProgram(text: string): PyProgram {
  const tree = parser.parse(text);
  const names = new Map<string, SyntaxNode[]>();
  let brokenAt: number | undefined;
  const lines = lineStarts(text);
  tree.iterate({
    enter({ node, type, from }) {
      if (type.isError) brokenAt ??= lineAt(lines, from);
      if (type.name === 'AssignStatement') noteAssigned(node, text, names);
    },
  });
  const scope = makeScope(text, names);
  const walk: Walk = { scope, lines, imports: [], paths: [], roots: [], open: [tree.topNode] };
  for (let node = walk.open.pop(); node !== undefined; node = walk.open.pop()) visit(walk, node);
  const { imports, paths, roots } = walk;
  if (scope.left.file < 0) brokenAt ??= 1;
  return { imports, paths, roots, ...(brokenAt === undefined ? {} : { brokenAt }) };
}

/** `NAME = value`, with or without a type; several names at once say nothing of each. */
function noteAssigned(node: SyntaxNode, text: string, names: Map<string, SyntaxNode[]>): void {
  const [target, next] = childrenOf(node);
  const value = node.lastChild;
  if (target?.name !== 'VariableName' || value === null || next?.name === ',') return;
  const name = text.slice(target.from, target.to);
  const known = names.get(name);
  if (known === undefined) names.set(name, [value]);
  else known.push(value);
}

function visit(walk: Walk, node: SyntaxNode): void {
  const { scope } = walk;
  if (node.name === 'ImportStatement') {
    walk.imports.push(...readImport(node, scope));
    return;
  }
  if (node.name === 'CallExpression' && visitCall(walk, node)) return;
  if (node.name === 'UpdateStatement' || node.name === 'AssignStatement') {
    const [target] = childrenOf(node);
    if (target !== undefined && /^sys\.path\b/.test(textOf(target, scope))) addRoots(walk, node);
  }
  const values = evaluate(node, scope);
  note(walk, node, { values, lists: false });
  walk.open.push(...unknownParts(node, values, scope));
}

/** Parts of an expression that nothing is known of: they may hold paths of their own. */
function unknownParts(node: SyntaxNode, values: readonly PyPath[], scope: Scope): SyntaxNode[] {
  if (values.length === 0) return childrenOf(node);
  const unknown: SyntaxNode[] = [];
  const open = values.some((value) => value.open) ? childrenOf(node) : [];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const known = evaluate(part, scope);
    if (known.length === 0) unknown.push(part);
    else if (known.some((value) => value.open)) open.push(...childrenOf(part));
  }
  return unknown;
}

/** Calls that say more than the paths in them. True: there is nothing else to be seen in it. */
function visitCall(walk: Walk, call: SyntaxNode): boolean {
  const { scope } = walk;
  const name = calleeOf(call, scope);
  const owner = ownerOf(call);
  const given = argumentsOf(call);
  const [first] = given;
  if (ROOT_METHODS.has(name) && owner !== undefined && /^(?:sys\.path|site)$/.test(textOf(owner, scope))) {
    addRoots(walk, call);
    return true;
  }
  if ((name === 'import_module' || name === '__import__') && first !== undefined) {
    for (const { path, open } of evaluate(first, scope)) {
      const [, dots = '', module = ''] = /^(\.*)(.*)$/.exec(path) ?? [];
      if (!open)
        walk.imports.push({ module: module.split('.').filter(Boolean), level: dots.length, names: [] });
    }
  }
  const listed = LIST_METHODS.has(name) && owner !== undefined ? evaluate(owner, scope) : [];
  if (listed.length > 0) {
    const patterns = first === undefined ? [] : evaluate(first, scope);
    const joined =
      patterns.length === 0 ? listed : listed.flatMap((path) => patterns.map((rest) => below(path, rest)));
    note(walk, call, { values: joined, lists: true });
    return true;
  }
  if (!LISTS.has(name) || first === undefined) return false;
  const values = evaluate(first, scope);
  note(walk, call, { values, lists: true });
  walk.open.push(...(values.length === 0 ? given : given.slice(1)));
  return true;
}

const below = (path: PyPath, rest: PyPath): PyPath =>
  path.open
    ? path
    : { from: path.from, path: `${path.path}/${rest.path}`.replace(/^\//, ''), open: rest.open };

/** Paths among what a statement or call holds, as folders for modules. */
function addRoots(walk: Walk, node: SyntaxNode): void {
  const open = [node];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const values = at === node ? [] : evaluate(at, walk.scope);
    if (values.length === 0) open.push(...childrenOf(at));
    for (const value of values)
      walk.roots.push({ ...value, lists: false, line: lineAt(walk.lines, at.from) });
  }
}

interface Noted {
  readonly values: readonly PyPath[];
  readonly lists: boolean;
}

/** Texts count only where they leave a folder; what starts at a file or at the working folder always does. */
function note({ paths, lines }: Walk, node: SyntaxNode, { values, lists }: Noted): void {
  for (const value of values)
    if ((lists || value.from !== 'text' || isOutward(value.path)) && !value.path.endsWith(SELF))
      paths.push({ ...value, ...(lists ? fixedPart(value) : {}), lists, line: lineAt(lines, node.from) });
}

const WILDCARD = /[*?[]/;

/** A pattern counts as the folder before its first wildcard. */
function fixedPart({ path }: PyPath): Partial<PyPath> {
  const parts = path.split('/');
  const wild = parts.findIndex((part) => WILDCARD.test(part));
  return wild < 0 ? {} : { path: parts.slice(0, wild).join('/'), open: false };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
