/** What is reached in the graph of a lockfile's packages, and over which kinds of edges. */

/** Kinds of edges, as bits. No bit: a plain dependency. */
export const DEV = 1;
export const OPTIONAL = 2;
export const PEER = 4;
/** To a workspace: the root depends on each of them, so it does not matter how else one is reached. */
export const WORKSPACE = 8;

/** How a package is reached, as bits: for each kind, whether there is a way without an edge of it. */
export const NOT_DEV = DEV;
export const NOT_OPTIONAL = OPTIONAL;
export const NOT_PEER = PEER;
/** There is a way without dev edges and without optional ones. */
export const PLAIN = 8;
/** There is a way over a dev edge. */
export const OVER_DEV = 16;
const REACHED = 32;
/** Reached as the root is. */
const AS_ROOT = REACHED | NOT_DEV | NOT_OPTIONAL | NOT_PEER | PLAIN;

export interface Graph {
  /** Nodes are the numbers below. */
  readonly size: number;
  /** Target and kind in turns: `[3, DEV, 5, 0]`. */
  edges(node: number): readonly number[];
}

/** Calls back for each node that is reached, in rising order, with how it is reached. */
export function eachReached(
  graph: Graph,
  starts: readonly number[],
  found: (node: number, state: number) => void,
): void {
  const states = new Uint8Array(graph.size);
  const touched: number[] = [];
  const work: number[] = [];
  const reach = (node: number, state: number): void => {
    const before = states[node] ?? 0;
    if ((before | state) === before) return;
    if (before === 0) touched.push(node);
    states[node] = before | state;
    work.push(node);
  };
  for (const node of starts) reach(node, AS_ROOT);
  for (let node = work.pop(); node !== undefined; node = work.pop()) {
    const edges = graph.edges(node);
    const state = states[node] ?? 0;
    for (let at = 0; at < edges.length; at += 2) reach(edges[at] ?? 0, over(state, edges[at + 1] ?? 0));
  }
  for (const node of touched.sort((a, b) => a - b)) found(node, states[node] ?? 0);
}

/** How the target of an edge is reached over it. */
function over(state: number, kind: number): number {
  if ((kind & WORKSPACE) !== 0) return AS_ROOT;
  const plain = (kind & (DEV | OPTIONAL)) === 0 ? 0 : PLAIN;
  return (state & ~(kind | plain)) | ((kind & DEV) === 0 ? 0 : OVER_DEV);
}
