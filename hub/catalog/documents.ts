/** The text of a file → its YAML documents with line numbers, or what keeps them from being read. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Document as YamlDocument, Node } from 'yaml';
import { limits } from '../../shared/limits.ts';

/** Nested collections of a document; real manifests stay far below. */
const MAX_DEPTH = 50;
/** Nodes that aliases may stand for, as the YAML library counts them. */
const MAX_ALIASES = 100;

/** Something wrong at a line of a file. */
export interface Fault {
  readonly line: number;
  readonly text: string;
}

export type Path = readonly (string | number)[];

/** A document that parses. */
export interface Document {
  /** Line of its first character, from 1. */
  readonly line: number;
  readonly text: string;
  readonly value: unknown;
  /** Line of the field, or of the nearest one around it that is written there. */
  lineAt(path: Path): number;
  /** What parses, yet would not mean what it says. */
  readonly faults: readonly Fault[];
}

export interface Documents {
  readonly documents: readonly Document[];
  /** Documents that do not parse, each with its source for a decision whether it matters. */
  readonly broken: readonly (Fault & { readonly source: string })[];
}

export type Decoded =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'fault'; readonly text: string };

/** Bytes → text, unless there are too many or they are no UTF-8. */
export function decodeText(content: Buffer): Decoded {
  if (content.length > limits.manifestBytes) {
    const bound = limits.manifestBytes / 1_048_576;
    return {
      kind: 'fault',
      text: `the file has ${content.length} bytes, more than the ${bound} MiB that a manifest file may have: split it`,
    };
  }
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(content) };
  } catch {
    return { kind: 'fault', text: 'the file is not valid UTF-8: save it as UTF-8' };
  }
}

/** Every document of a text. JSON is read the same way. */
export function readDocuments(text: string): Documents {
  const lines = new LineCounter();
  const parsed = parseAll(text, lines);
  if (parsed === undefined) {
    return { documents: [], broken: [{ line: 1, text: TOO_DEEP, source: text }] };
  }
  const documents: Document[] = [];
  const broken: (Fault & { source: string })[] = [];
  for (const document of parsed) {
    const source = text.slice(document.range[0], document.range[2]);
    const read = readDocument(document, lines, source);
    if (read.kind === 'document') documents.push(read.document);
    else if (read.kind === 'broken') broken.push({ ...read.fault, source });
  }
  return { documents, broken };
}

const TOO_DEEP = `nested more than ${MAX_DEPTH} deep: make it flatter`;

function parseAll(text: string, lineCounter: LineCounter): YamlDocument.Parsed[] | undefined {
  try {
    const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, merge: true });
    return Array.isArray(documents) ? [...documents] : [];
  } catch (error) {
    // The parser descends into collections; only ones without any end exhaust its stack.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type Read =
  | { readonly kind: 'document'; readonly document: Document }
  | { readonly kind: 'broken'; readonly fault: Fault }
  | { readonly kind: 'empty' };

function readDocument(document: YamlDocument.Parsed, lines: LineCounter, text: string): Read {
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const first = document.errors[0] ?? document.warnings[0];
  if (first !== undefined) {
    return {
      kind: 'broken',
      fault: { line: lineOf(first.pos[0]), text: `does not parse: ${first.message}` },
    };
  }
  const root = document.contents as Node | null;
  if (root === null || (isScalar(root) && root.value === null)) return { kind: 'empty' };
  const line = lineOf(root.range?.[0] ?? document.range[0]);
  if (deeperThan(root, MAX_DEPTH)) return { kind: 'broken', fault: { line, text: TOO_DEEP } };
  const value = valueOf(document);
  if ('fault' in value) return { kind: 'broken', fault: { line, text: value.fault } };
  const lineAt = (path: Path): number => lineOf(offsetAt(document, path) ?? root.range?.[0] ?? 0);
  const faults = numberFaults(document, lineOf);
  return { kind: 'document', document: { line, text, value: value.value, lineAt, faults } };
}

function valueOf(document: YamlDocument.Parsed): { value: unknown } | { fault: string } {
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { fault: `its aliases stand for too much (${error.message}): write it out` };
  }
}

function deeperThan(root: Node, bound: number): boolean {
  let level: Node[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > bound) return true;
    level = level.flatMap(childrenOf);
  }
  return false;
}

function childrenOf(node: Node): Node[] {
  if (isMap(node))
    return node.items.flatMap(({ key, value }) => [key as Node, ...(value === null ? [] : [value as Node])]);
  return isSeq(node) ? (node.items as Node[]) : [];
}

/** Where a field stands: its key in a map, its first character in a list. */
function offsetAt(document: YamlDocument.Parsed, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const step of path) {
    const target = isAlias(node) ? node.resolve(document) : node;
    const next = childAt(target, step);
    if (next === undefined) return offset;
    offset = next.offset ?? offset;
    node = next.node;
  }
  return offset;
}

function childAt(
  node: unknown,
  step: string | number,
): { node: unknown; offset: number | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
    return pair === undefined ? undefined : { node: pair.value, offset: (pair.key as Node).range?.[0] };
  }
  if (!isSeq(node)) return undefined;
  const item = node.items[Number(step)] as Node | undefined;
  return item === undefined ? undefined : { node: item, offset: item.range?.[0] };
}

/** Numbers whose text is lost when they are read: an account number's leading zero, a version's last one. */
function numberFaults(document: YamlDocument.Parsed, lineOf: (offset: number) => number): Fault[] {
  const faults: Fault[] = [];
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'number' || node.source === undefined || node.source === String(node.value))
        return;
      const text = `the number ${node.source} would be read as ${String(node.value)}: put it in quotes`;
      faults.push({ line: lineOf(node.range?.[0] ?? 0), text });
    },
  });
  return faults;
}
