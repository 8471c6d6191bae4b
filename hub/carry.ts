/**
 * A plan becomes orders, each with its artifact on the broker. What cannot become one keeps its order in force and gets
 * its reason: one placement never keeps the others from theirs.
 */
import { canonical, sha256 } from '../shared/canonical.ts';
import type { Reason } from '../shared/outcome.ts';
import type { Sealed } from '../shared/seal.ts';
import type { ArtifactRef, Order } from '../shared/wire.ts';
import { UnbuildableError } from './artifact.ts';
import type { Tree } from './git/source.ts';
import { makeOrder, unfit } from './order.ts';
import { placementKey, type Wanted } from './placement.ts';
import { withoutFailed } from './plan.ts';
import { locatedReason } from './problem.ts';
import type { Plan, Step } from './step.ts';

export interface CarryEdges {
  /** Rejects with UnbuildableError when the files make no artifact, with any other error when they cannot be read. */
  build(tree: Tree, wanted: Wanted): Promise<Sealed>;
  /** Rejects when the broker does not take it: then nothing can be published either. */
  upload(sealed: Sealed): Promise<void>;
  readonly trees: ReadonlyMap<string, Tree>;
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
  const built = new Map<string, Promise<Sealed>>();
  for (const step of planned.steps) {
    const made = await orderOf(edges, built, step);
    if ('gen' in made) orders.push(made);
    else failed.set(placementKey(step), made);
  }
  const unread = [...failed.values()].some(({ code }) => code === 'SourceUnavailable');
  return { plan: withoutFailed(planned, failed), orders, unread };
}

/** Artifacts of this plan by their files: a stack on a thousand clusters is packed once. */
type Built = Map<string, Promise<Sealed>>;

async function orderOf(edges: CarryEdges, built: Built, step: Step): Promise<Order | Reason> {
  const { term, now } = edges;
  const files = step.wanted === undefined ? NO_FILES : await filesOf(edges, built, step.wanted);
  if (files.kind === 'failed') return files.reason;
  const order = makeOrder(step, { term, now, ...files.parts });
  return unfit(order) ?? order;
}

type Files =
  | { readonly kind: 'files'; readonly parts: { readonly tree?: Tree; readonly artifact?: ArtifactRef } }
  | { readonly kind: 'failed'; readonly reason: Reason };

/** A step without a manifest repeats an order, artifact and all. */
const NO_FILES: Files = { kind: 'files', parts: {} };

async function filesOf({ build, upload, trees }: CarryEdges, built: Built, wanted: Wanted): Promise<Files> {
  const { source, origin } = wanted.placement;
  const tree = trees.get(source.repository);
  if (tree === undefined) throw new Error(`no tree for ${placementKey(wanted.placement)}`);
  const key = sha256(canonical([source.repository, wanted.files]));
  let sealed: Sealed;
  try {
    const building = built.get(key) ?? build(tree, wanted);
    built.set(key, building);
    sealed = await building;
  } catch (error) {
    const code = error instanceof UnbuildableError ? 'Invalid' : 'SourceUnavailable';
    return { kind: 'failed', reason: locatedReason(origin, { code, text: (error as Error).message }) };
  }
  await upload(sealed);
  return { kind: 'files', parts: { tree, artifact: sealed.ref } };
}
