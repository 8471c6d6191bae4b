/** References in a syntax tree: specifiers of modules, and paths. */
import { posix } from 'node:path';
import type { File, Node } from '@babel/types';
import { calleeName, type Constants, hasOwnName, type Literal, literalOf } from './literal.ts';

/** A path in a program. */
export interface Spelled {
  readonly base: 'file' | 'cwd';
  readonly path: string;
  /** `asset` and `read`: it must be there; `look`: the program asks whether it is; `hint`: nothing says what it is for. */
  readonly use: 'asset' | 'read' | 'look' | 'hint';
  /** More follows that is not known: a folder to look in. */
  readonly open: boolean;
}

export interface Source {
  /** As written, each once, in order. */
  readonly imports: readonly string[];
  readonly paths: readonly Spelled[];
  /** Why it may be that not everything was found. */
  readonly broken?: string;
}

/** Functions whose first argument is a path, and what they do with it. */
const READERS: Readonly<Record<string, Spelled['use']>> = {
  FileAsset: 'asset',
  FileArchive: 'asset',
  readFile: 'read',
  readFileSync: 'read',
  createReadStream: 'read',
  readJson: 'read',
  readJsonSync: 'read',
  readdir: 'look',
  readdirSync: 'look',
  opendir: 'look',
  opendirSync: 'look',
  existsSync: 'look',
  exists: 'look',
  pathExists: 'look',
  pathExistsSync: 'look',
  stat: 'look',
  statSync: 'look',
  lstat: 'look',
  lstatSync: 'look',
  access: 'look',
  accessSync: 'look',
};

/** Its argument is an address, not a path. */
const NO_PATH = 'RemoteAsset';

interface Found {
  readonly constants: Constants;
  readonly imports: Set<string>;
  readonly paths: Map<string, Spelled>;
}

/** Reads a tree once for constants and once for references. */
export function referencesIn(tree: File): Pick<Source, 'imports' | 'paths'> {
  const found: Found = { constants: constantsIn(tree), imports: new Set(), paths: new Map() };
  walk(tree, (node) => visit(node, found));
  for (const comment of tree.comments ?? []) {
    const path = /^\/\s*<reference\s+path\s*=\s*(?:"([^"]+)"|'([^']+)')/.exec(comment.value);
    const specifier = path?.[1] ?? path?.[2];
    if (specifier !== undefined)
      found.imports.add(/^\.{1,2}\//.test(specifier) ? specifier : `./${specifier}`);
  }
  return { imports: [...found.imports], paths: usesOf([...found.paths.values()]) };
}

/** What a program asks for first may be missing when it reads it. */
function usesOf(paths: readonly Spelled[]): Spelled[] {
  const keyOf = ({ base, path }: Spelled): string => `${base} ${path}`;
  const looked = new Set(paths.filter(({ use }) => use === 'look').map(keyOf));
  return paths.map((path) => (looked.has(keyOf(path)) ? { ...path, use: 'look' } : path));
}

/** Names that are given a value once. */
function constantsIn(tree: File): Constants {
  const constants = new Map<string, Node | undefined>();
  walk(tree, (node) => {
    if (node.type !== 'VariableDeclarator' || node.id.type !== 'Identifier') return undefined;
    const { name } = node.id;
    constants.set(name, constants.has(name) ? undefined : (node.init ?? undefined));
    return undefined;
  });
  return constants;
}

/** Calls for each node, parents first, in the order of the text. */
function walk(tree: Node, enter: (node: Node) => Rest): void {
  const open: Node[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const rest = enter(node);
    if (rest === false) continue;
    const next = rest ?? childrenOf(node);
    // last in, first out
    for (let n = next.length - 1; n >= 0; n--) open.push(next[n] as Node);
  }
}

/** Written plainly: most of the time that a program takes goes here and into the parser. */
function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  const fields = node as unknown as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    const value = fields[name];
    if (value === null || typeof value !== 'object' || name === 'loc') continue;
    if (!Array.isArray(value)) addNode(children, value);
    else for (const one of value as unknown[]) addNode(children, one);
  }
  return children;
}

const addNode = (nodes: Node[], value: unknown): void => {
  if (isNode(value)) nodes.push(value);
};

const isNode = (value: unknown): value is Node =>
  value !== null &&
  typeof value === 'object' &&
  typeof (value as { type?: unknown }).type === 'string' &&
  'start' in value;

/** What to look at below a node; undefined: all of it. */
type Rest = false | readonly Node[] | undefined;

type Visitors = {
  readonly [Type in Node['type']]?: (node: Extract<Node, { type: Type }>, found: Found) => Rest;
};

const VISITORS: Visitors = {
  ImportDeclaration: ({ source }, found) => addImport(found, source.value),
  ExportAllDeclaration: ({ source }, found) => addImport(found, source.value),
  ExportNamedDeclaration: ({ source }, found) => (source ? addImport(found, source.value) : undefined),
  TSExternalModuleReference: ({ expression }, found) => addImport(found, expression.value),
  TSImportType: ({ argument, typeParameters }, found) => {
    if (argument.type === 'StringLiteral') addImport(found, argument.value);
    return typeParameters ? [typeParameters] : false;
  },
  CallExpression: visitCall,
  OptionalCallExpression: visitCall,
  NewExpression: visitCall,
  StringLiteral: visitPath,
  TemplateLiteral: visitPath,
  BinaryExpression: visitPath,
  MemberExpression: visitPath,
};

function visit(node: Node, found: Found): Rest {
  const visitor = VISITORS[node.type] as ((node: Node, found: Found) => Rest) | undefined;
  return visitor?.(node, found);
}

function addImport({ imports }: Found, specifier: string): false {
  imports.add(specifier);
  return false;
}

type Call = Extract<Node, { type: 'CallExpression' | 'OptionalCallExpression' | 'NewExpression' }>;

function visitCall(node: Call, found: Found): Rest {
  const [first, ...rest] = node.arguments as readonly Node[];
  const name = calleeName(node.callee);
  if (name === NO_PATH) return rest;
  if (isImport(node, name)) {
    const literal = literalOf(first, found.constants);
    if (literal?.base === 'text' && !literal.open) found.imports.add(literal.path);
    else if (literal !== undefined)
      addPath(found, { ...literal, base: literal.base === 'text' ? 'file' : literal.base }, 'hint');
    return literal === undefined ? undefined : rest;
  }
  const use = name !== undefined && Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  const literal = use === undefined ? undefined : literalOf(first, found.constants);
  if (use === undefined || literal === undefined) return visitPath(node, found);
  addPath(found, literal, literal.open ? 'hint' : use);
  return [node.callee, ...rest];
}

/** `import(…)`, `require(…)`, `require.resolve(…)`, `module.require(…)`, `import.meta.resolve(…)`. */
function isImport({ callee }: Call, name: string | undefined): boolean {
  if (callee.type === 'Import' || isNamed(callee, 'require')) return true;
  if (callee.type !== 'MemberExpression') return false;
  // Pulumi's settings have a `require` as well
  if (name === 'require') return isNamed(callee.object, 'module');
  return name === 'resolve' && (callee.object.type === 'MetaProperty' || isNamed(callee.object, 'require'));
}

const isNamed = (node: Node, name: string): boolean => node.type === 'Identifier' && node.name === name;

/** An expression that is a path by itself: from the file, or a text that leads upwards. */
function visitPath(node: Node, found: Found): Rest {
  const literal = literalOf(node, found.constants);
  if (literal === undefined) return undefined;
  const leadsUp = posix.normalize(literal.path).startsWith('..');
  if (literal.base === 'text' && !leadsUp) return node.type === 'StringLiteral' ? false : undefined;
  addPath(found, literal, 'hint');
  return false;
}

function addPath({ paths }: Found, literal: Literal, use: Spelled['use']): void {
  const { path, open } = literal;
  if (
    hasOwnName(literal) ||
    /^(?:\/|[a-z][a-z0-9+.-]*:\/\/)/i.test(path) ||
    path === '' ||
    /[\0\n]/.test(path)
  )
    return;
  const spelled: Spelled = {
    base: literal.base === 'file' ? 'file' : 'cwd',
    path: posix.normalize(path),
    use,
    open,
  };
  const key = `${spelled.base} ${spelled.path} ${use} ${open}`;
  if (!paths.has(key)) paths.set(key, spelled);
}
