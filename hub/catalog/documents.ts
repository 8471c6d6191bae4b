/** The text of a file → its YAML documents with line numbers, or what keeps them from being read. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Document as YamlDocument, Node } from 'yaml';
import { limits } from '../../shared/limits.ts';
import { structureFault, TOO_DEEP } from './structure.ts';

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

/** One schema for every document: an older one, which a file may ask for, knows dates, sets and bytes as well. */
const PARSING = { prettyErrors: false, merge: true, schema: 'core', uniqueKeys: false } as const;

function parseAll(text: string, lineCounter: LineCounter): YamlDocument.Parsed[] | undefined {
  try {
    const documents = parseAllDocuments(text, { ...PARSING, lineCounter });
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
  const wrong = structureFault(root);
  if (wrong !== undefined) return { kind: 'broken', fault: { line: lineOf(wrong.offset), text: wrong.text } };
  const value = valueOf(document);
  if ('fault' in value) return { kind: 'broken', fault: { line, text: value.fault } };
  const lineAt = (path: Path): number => lineOf(offsetAt(document, path) ?? root.range?.[0] ?? 0);
  const faults = numberFaults(document, lineOf);
  return { kind: 'document', document: { line, text, value: value.value, lineAt, faults } };
}

/** The library throws where merge keys or aliases mean nothing; whoever reads the file must not end by it. */
function valueOf(document: YamlDocument.Parsed): { value: unknown } | { fault: string } {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return isCircular(value) ? { fault: 'an alias in it stands for what holds it: write it out' } : { value };
  } catch (error) {
    const { message } = error as Error;
    if (!(error instanceof ReferenceError)) return { fault: `does not parse: ${message}` };
    return { fault: `its aliases stand for too much (${message}): write it out` };
  }
}

function isCircular(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return false;
  } catch {
    return true;
  }
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
