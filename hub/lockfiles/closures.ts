/**
 * Hashes of closures: two nodes have equal hashes if and only if equal entries are reached from them.
 *
 * Each strongly connected part of the graph is hashed once, from the texts of its entries and the hashes of the parts
 * that it leads to. So the keys of ten thousand slices cost one walk over the graph, not one each. The walk is Tarjan's,
 * with a stack of its own, since a chain of dependencies may be longer than the stack of calls.
 */
import { createHash } from 'node:crypto';
import type { Graph } from './reach.ts';

export interface Closures {
  /** Of everything that a node reaches, with itself. */
  hash(node: number): string;
  /** The marked nodes that some nodes reach, in rising order. */
  marked(nodes: readonly number[]): number[];
}

export interface ClosureInput extends Graph {
  /** All that makes an entry differ from others, its place included. */
  text(node: number): string;
  /** Whether a node is looked for by `marked`. */
  isMarked(node: number): boolean;
}

/** Walks the whole graph once. */
export function makeClosures(input: ClosureInput): Closures {
  const { part, parts } = partsOf(input);
  const partAt = (node: number): Part | undefined => parts[part[node] ?? -1];
  return {
    hash: (node) => partAt(node)?.hash ?? '',
    marked: (nodes) => {
      const seen = new Set<number>(nodes);
      const found: number[] = [];
      for (const node of seen) {
        if (partAt(node)?.leads !== true) continue;
        if (input.isMarked(node)) found.push(node);
        const edges = input.edges(node);
        for (let at = 0; at < edges.length; at += 2) seen.add(edges[at] ?? 0);
      }
      return found.sort((a, b) => a - b);
    },
  };
}

/** A strongly connected part. */
interface Part {
  readonly hash: string;
  /** Whether it reaches a marked node. */
  readonly leads: boolean;
}

interface Parts {
  /** Index of each node's part. */
  readonly part: Int32Array;
  /** Each after those that it leads to. */
  readonly parts: readonly Part[];
}

function partsOf(input: ClosureInput): Parts {
  const parts: Part[] = [];
  const part = new Int32Array(input.size).fill(-1);
  const order = new Int32Array(input.size).fill(-1);
  const low = new Int32Array(input.size);
  const next = new Int32Array(input.size);
  const open: number[] = [];
  let count = 0;
  const enter = (node: number, calls: number[]): void => {
    order[node] = low[node] = count++;
    open.push(node);
    calls.push(node);
  };
  const lower = (node: number, value: number): void => {
    low[node] = Math.min(low[node] ?? 0, value);
  };
  const close = (node: number): void => {
    const members = open.splice(open.lastIndexOf(node));
    for (const member of members) part[member] = parts.length;
    parts.push(partOf(input, members, (to) => parts[part[to] ?? -1]));
  };
  const calls: number[] = [];
  const step = (node: number): void => {
    const to = input.edges(node)[next[node] ?? 0];
    next[node] = (next[node] ?? 0) + 2;
    if (to !== undefined && order[to] === -1) return enter(to, calls);
    if (to !== undefined) return part[to] === -1 ? lower(node, order[to] ?? 0) : undefined;
    calls.pop();
    const caller = calls.at(-1);
    if (caller !== undefined) lower(caller, low[node] ?? 0);
    if (low[node] === order[node]) close(node);
  };
  for (let start = 0; start < input.size; start++) {
    if (order[start] === -1) enter(start, calls);
    for (let node = calls.at(-1); node !== undefined; node = calls.at(-1)) step(node);
  }
  return { part, parts };
}

/** `known`: the part of a node outside of this one. */
function partOf(
  input: ClosureInput,
  members: readonly number[],
  known: (node: number) => Part | undefined,
): Part {
  const inside = new Set(members);
  const targets = members.flatMap((member) => input.edges(member).filter((_, at) => at % 2 === 0));
  const below = new Set(targets.flatMap((to) => (inside.has(to) ? [] : (known(to) ?? []))));
  const hash = createHash('sha256');
  for (const text of members.map(input.text).sort()) hash.update(`${text.length}\n`).update(text);
  for (const other of [...below].map((leads) => leads.hash).sort()) hash.update(`\n${other}`);
  return {
    hash: hash.digest('hex'),
    leads: members.some(input.isMarked) || [...below].some(({ leads }) => leads),
  };
}
