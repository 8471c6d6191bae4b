/** What keeps a parsed document from being read in time that follows its size: nesting, aliases, keys that come twice. */
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Node } from 'yaml';

/** Nested collections of a document; real manifests stay far below. */
const MAX_DEPTH = 50;
/** Aliases of a document: each one is looked up from the start of it (20,000 of them took 43 s). */
const MAX_ALIASES = 200;

/** What is said of a document that is nested too deep. */
export const TOO_DEEP = `nested more than ${MAX_DEPTH} deep: make it flatter`;

export interface StructureFault {
  /** Where the fault is, in characters from the start of the file. */
  readonly offset: number;
  readonly text: string;
}

/** The first such fault. Keys are compared here since the YAML library compares each with each (50,000 took 150 s). */
export function structureFault(root: Node): StructureFault | undefined {
  const start = root.range?.[0] ?? 0;
  let aliases = 0;
  let level: Node[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return { offset: start, text: TOO_DEEP };
    for (const node of level) {
      const twice = keyTwice(node);
      if (twice !== undefined)
        return { offset: twice.range?.[0] ?? start, text: 'does not parse: Map keys must be unique' };
      if (isAlias(node) && ++aliases > MAX_ALIASES)
        return { offset: start, text: `it has more than ${MAX_ALIASES} aliases: write them out` };
    }
    level = level.flatMap(childrenOf);
  }
  return undefined;
}

function keyTwice(node: Node): Node | undefined {
  if (!isMap(node)) return undefined;
  const seen = new Set<unknown>();
  for (const { key } of node.items) {
    if (!isScalar(key) || key.value === '<<') continue;
    if (seen.has(key.value)) return key;
    seen.add(key.value);
  }
  return undefined;
}

function childrenOf(node: Node): Node[] {
  if (isMap(node))
    return node.items.flatMap(({ key, value }) => [key as Node, ...(value === null ? [] : [value as Node])]);
  return isSeq(node) ? (node.items as Node[]) : [];
}
