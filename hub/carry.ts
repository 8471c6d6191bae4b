/**
 * A plan becomes orders, each with its artifact on the broker. What cannot become one keeps its order in force and gets
 * its reason: one placement never keeps the others from theirs.
 */
import { canonical, sha256 } from '../shared/canonical.ts';
import { limits } from '../shared/limits.ts';
import type { Reason } from '../shared/outcome.ts';
import type { Sealed } from '../shared/seal.ts';
import type { Surroundings } from '../shared/surroundings.ts';
import type { Order } from '../shared/wire.ts';
import { UnbuildableError } from './artifact.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { Tree, TreeEntry } from './git/source.ts';
import { withInputs } from './large.ts';
import { makeOrder, unfit, type OrderContext } from './order.ts';
import { placementKey, type Wanted } from './placement.ts';
import { withoutFailed } from './plan.ts';
import { locatedReason } from './problem.ts';
import type { Plan, Step } from './step.ts';
import { surroundingsOf } from './surroundings.ts';

export interface CarryEdges {
  /** Rejects with UnbuildableError when the files make no artifact, with any other error when they cannot be read. */
  build(tree: Tree, wanted: Wanted, files: readonly TreeEntry[]): Promise<Sealed>;
  /** Rejects when the broker does not take it: then nothing can be published either. */
  upload(sealed: Sealed): Promise<void>;
  readonly trees: ReadonlyMap<string, Tree>;
  readonly documents: Catalog['documents'];
  /** Of the hub that leads. */
  readonly term: number;
  readonly now: number;
}

export interface Carried {
  /** Without the steps that could not be carried out. */
  readonly plan: Plan;
  readonly orders: readonly Order[];
  /** Files of some of them could not be read. */
  readonly unread: boolean;
}

/** Builds and stores what the steps need, and makes their orders. */
export async function carryOut(edges: CarryEdges, planned: Plan): Promise<Carried> {
  const failed = new Map<string, Reason>();
  const orders: Order[] = [];
  const built: Built = new Map();
  for (const step of planned.steps) {
    const made = await orderOf(edges, built, step);
    if ('gen' in made) orders.push(made);
    else failed.set(placementKey(step), made);
  }
  const unread = [...failed.values()].some(({ code }) => code === 'SourceUnavailable');
  return { plan: withoutFailed(planned, failed), orders, unread };
}

/** Artifacts of this plan by their files: a stack on a thousand clusters is packed once. */
type Built = Map<string, Promise<Packed>>;

interface Packed {
  readonly sealed: Sealed;
  /** Undefined: it is the whole tree. */
  readonly surroundings: Surroundings | undefined;
}

async function orderOf(edges: CarryEdges, built: Built, step: Step): Promise<Order | Reason> {
  const { term, now } = edges;
  const files = step.wanted === undefined ? NO_FILES : await filesOf(edges, built, step.wanted);
  if (files.kind === 'failed') return files.reason;
  const order = makeOrder(step, { term, now, ...files.parts });
  return unfit(order) ?? order;
}

type Files =
  | { readonly kind: 'files'; readonly parts: Omit<OrderContext, 'term' | 'now'> }
  | { readonly kind: 'failed'; readonly reason: Reason };

/** A step without a manifest repeats an order, artifact and all. */
const NO_FILES: Files = { kind: 'files', parts: {} };

async function filesOf(edges: CarryEdges, built: Built, wanted: Wanted): Promise<Files> {
  const { source, origin } = wanted.placement;
  const tree = edges.trees.get(source.repository);
  if (tree === undefined) throw new Error(`no tree for ${placementKey(wanted.placement)}`);
  const shared =
    source.hermetic === false
      ? [tree.commit.id, [...wanted.large.keys()].sort()]
      : [source.project, wanted.files];
  const key = sha256(canonical([source.repository, shared]));
  let packed: Packed;
  try {
    const building = built.get(key) ?? pack(edges, tree, wanted);
    built.set(key, building);
    packed = await building;
  } catch (error) {
    const code = error instanceof UnbuildableError ? 'Invalid' : 'SourceUnavailable';
    return { kind: 'failed', reason: locatedReason(origin, { code, text: (error as Error).message }) };
  }
  await edges.upload(packed.sealed);
  const { sealed, surroundings } = packed;
  return {
    kind: 'files',
    parts: { tree, artifact: sealed.ref, ...(surroundings === undefined ? {} : { surroundings }) },
  };
}

/** Where only a part of the tree is shipped, the agent is told what lies around it. */
async function pack({ build, documents }: CarryEdges, tree: Tree, wanted: Wanted): Promise<Packed> {
  const { source } = wanted.placement;
  const entries = await tree.entries();
  if (source.hermetic === false)
    return { sealed: await build(tree, wanted, withInputs(entries, wanted)), surroundings: undefined };
  const manifests = documents.get(source.repository);
  const surroundings = surroundingsOf(
    entries,
    wanted.files.map(({ path }) => path),
    { project: source.project, isManifest: (path) => manifests?.get(path) === 'only' },
  );
  if (Buffer.byteLength(JSON.stringify(surroundings)) > limits.surroundingsBytes)
    throw new UnbuildableError(tooScattered(Object.keys(surroundings).length));
  return { sealed: await build(tree, wanted, wanted.files), surroundings };
}

const tooScattered = (folders: number): string =>
  `the inputs are parts of ${folders} folders, more than an order can tell an agent; include whole folders, or set source.hermetic: false`;
