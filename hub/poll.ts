/**
 * One pass: sources → catalog → resolve → inputs → digest → detect → plan → artifact → publish.
 *
 * A pass takes no input: it reads again what is wanted and what is. Messages, webhooks and timers only start one. A pass
 * that dies at any step leaves nothing to repair, since the next one starts from the same two facts.
 */
import type { Reason } from '../shared/outcome.ts';
import type { Sealed } from '../shared/seal.ts';
import type { ArtifactRef, Order } from '../shared/wire.ts';
import { UnbuildableError } from './artifact.ts';
import type { Book } from './book.ts';
import { readCatalog } from './catalog/read.ts';
import type { Catalog, CatalogFile, Problem } from './catalog/catalog.ts';
import { detectAll, type KnownFiles } from './detect.ts';
import { changesAt } from './expiry.ts';
import { gateOf, type Gate } from './gate.ts';
import type { SourceView, Tree } from './git/source.ts';
import { makeOrder } from './order.ts';
import { placementKey, type Placement, type Refused, type Resolution, type Wanted } from './placement.ts';
import { plan, withoutFailed } from './plan.ts';
import { locatedReason, reasonOf } from './problem.ts';
import { resolve } from './resolve.ts';
import type { Plan, Step } from './step.ts';

/** Points of a pass at which a hub may die; the crash tests stop at every one of them. */
export const HUB_STEPS = [
  'read',
  'loaded',
  'leading',
  'measured',
  'planned',
  'uploaded',
  'published',
  'remembered',
] as const;
export type HubStep = (typeof HUB_STEPS)[number];

/** What a pass needs of the world. */
export interface PollEdges {
  refresh(now: number): Promise<readonly SourceView[]>;
  /** When the next poll is due, ms. */
  nextDue(): number;
  observe(views: readonly SourceView[]): void;
  /** Whether this hub holds the lease at this moment. */
  leads(): boolean;
  /** The clusters whose reports are followed from now on. */
  follow(clusters: readonly string[]): void;
  /** What keeps the board from being complete; undefined when every state stream was read to its end. */
  boardGap(): string | undefined;
  /** Manifests and project files of every readable tree. */
  gather(views: readonly SourceView[]): Promise<readonly CatalogFile[]>;
  /** Files and digest of every placement; those that have none, with the reason. */
  measure(
    placements: readonly Placement[],
    catalog: Catalog,
    trees: ReadonlyMap<string, Tree>,
  ): Promise<Measured>;
  book: Book;
  /** Placements whose artifact the broker lacks; `all`: the broker may be another one, so each is looked for. */
  missingArtifacts(all: boolean): Promise<readonly string[]>;
  build(tree: Tree, wanted: Wanted): Promise<Sealed>;
  upload(sealed: Sealed): Promise<void>;
  /** Generations and requests that agents named since the last pass. */
  asked(): Asked;
  readonly knownFiles: (key: string, inputDigest: string) => KnownFiles | undefined;
  /** What a pass that led did, for later passes and for those who look. */
  remember(done: Done): void;
  /** What a pass that does not lead saw: nothing of it was decided. */
  show(seen: Done): void;
  /** Called between steps with the name of the one that is over; tests stop the process there. */
  at(step: HubStep): void;
}

export interface Measured {
  readonly wanted: readonly Wanted[];
  readonly refused: readonly Refused[];
  /** What is probably not meant, with file and line. */
  readonly warnings: readonly Problem[];
}

export interface Asked {
  readonly seenGen: ReadonlyMap<string, number>;
  readonly republish: ReadonlyMap<string, string>;
}

/** What a pass found out and did, for those who show it. */
export interface Done {
  readonly now: number;
  readonly views: readonly SourceView[];
  readonly catalog: Catalog;
  readonly resolution: Resolution;
  readonly measured: Measured;
  readonly plan: Plan;
  readonly orders: readonly Order[];
}

export type PassEnd =
  | { readonly kind: 'planned'; readonly done: Done }
  | { readonly kind: 'idle' | 'following' | 'conflict' }
  | { readonly kind: 'waiting'; readonly reason: string };

/** What one pass leaves to the next: only what saves work. */
export interface PassMemory {
  /** Repository to commit of the last planned pass. */
  commits: ReadonlyMap<string, string>;
  states: string;
  /** When a suspension or removal ends by itself, ms. */
  changesAt: number;
}

/** Nothing was planned yet. */
export const freshMemory = (): PassMemory => ({ commits: new Map(), states: '', changesAt: 0 });

/** Runs one pass. `dirty`: something besides Git may have changed. */
export async function pass(
  edges: PollEdges,
  memory: PassMemory,
  { now, dirty }: { now: number; dirty: boolean },
): Promise<PassEnd> {
  const views = await edges.refresh(now);
  edges.observe(views);
  const gate = gateOf(views);
  if (gate.kind === 'closed') return { kind: 'waiting', reason: gate.reason };
  if (!dirty && now < memory.changesAt && !differs(memory, views)) return { kind: 'idle' };
  edges.at('read');

  const catalog = readCatalog(await edges.gather(views), now);
  const resolution = resolve(catalog, now);
  const clusters = resolution.clusters.map(({ name, policy }) => ({ name, policy }));
  const newcomer = clusters.some(({ name }) => !edges.book.clusters.includes(name));
  const fresh = !edges.book.loaded || !edges.leads() || newcomer;
  if (fresh) await edges.book.load(clusters.map((cluster) => cluster.name));
  edges.at('loaded');
  // asked after the streams were read: what another leader has written since makes every write of ours a conflict
  const leading = edges.leads();
  if (fresh && leading && (await edges.book.lead(clusters, now)) === 'conflict') return { kind: 'conflict' };
  edges.at('leading');
  edges.follow(edges.book.clusters);
  const gap = edges.boardGap();
  if (gap !== undefined) return { kind: 'waiting', reason: gap };
  const measured = await edges.measure(resolution.placements, catalog, gate.trees);
  edges.at('measured');

  const planned = await planOf(edges, { gate, catalog, resolution, measured, now, fresh });
  edges.at('planned');
  if (!leading) return follow(edges, { now, views, catalog, resolution, measured, plan: planned });
  const artifacts = await buildAll(edges, planned, gate.trees);
  edges.at('uploaded');
  const carried = withoutFailed(planned, artifacts.failed);
  const orders = carried.steps.map((step) => orderOf(step, { edges, artifacts, trees: gate.trees, now }));
  if ((await edges.book.publish({ clusters, orders, now })) === 'conflict') return { kind: 'conflict' };
  edges.at('published');

  const done = { now, views, catalog, resolution, measured, plan: carried, orders };
  edges.remember(done);
  memory.commits = commitsOf(views);
  memory.states = statesOf(views);
  memory.changesAt = changesAt(catalog, now);
  edges.at('remembered');
  return { kind: 'planned', done };
}

/** A hub that does not lead shows what it would plan, and publishes nothing. */
function follow(edges: PollEdges, seen: Omit<Done, 'orders'>): PassEnd {
  edges.show({ ...seen, orders: [] });
  edges.book.invalidate();
  return { kind: 'following' };
}

interface PlanContext {
  readonly gate: Gate & { readonly kind: 'open' };
  readonly catalog: Catalog;
  readonly resolution: Resolution;
  readonly measured: Measured;
  readonly now: number;
  /** The order book was read in this pass. */
  readonly fresh: boolean;
}

async function planOf(edges: PollEdges, context: PlanContext): Promise<Plan> {
  const { gate, catalog, resolution, measured, now } = context;
  const asked = edges.asked();
  const missing = await edges.missingArtifacts(context.fresh);
  const lost = missing.map((key) => [key, 'its artifact was gone'] as const);
  return plan({
    wanted: measured.wanted,
    refused: [...resolution.refused, ...measured.refused],
    unreadable: catalog.unreadable.map(({ file, problem, mentions }) => ({
      file,
      text: reasonOf(problem).text,
      mentions,
    })),
    clusters: new Set(resolution.clusters.map(({ name }) => name)),
    refusedClusters: new Map(
      catalog.refusedClusters.map(({ name, problem }) => [name, reasonOf(problem).text]),
    ),
    unread: gate.unread,
    removals: catalog.removals,
    ...(resolution.frozen === undefined ? {} : { frozen: resolution.frozen }),
    inForce: edges.book.inForce,
    seenGen: asked.seenGen,
    republish: new Map([...asked.republish, ...lost]),
    changes: detectAll(measured.wanted, edges.book.inForce, edges.knownFiles),
    now,
  });
}

interface Artifacts {
  readonly refs: ReadonlyMap<string, ArtifactRef>;
  readonly failed: ReadonlyMap<string, Reason>;
}

/** Builds and stores the artifact of every step that has files; equal digests of one stack share one. */
async function buildAll(
  edges: PollEdges,
  { steps }: Plan,
  trees: ReadonlyMap<string, Tree>,
): Promise<Artifacts> {
  const refs = new Map<string, ArtifactRef>();
  const failed = new Map<string, Reason>();
  for (const step of steps) {
    if (step.wanted === undefined) continue;
    const key = placementKey(step);
    const tree = trees.get(step.wanted.placement.source.repository);
    if (tree === undefined) throw new Error(`no tree for ${key}`);
    try {
      const sealed = await edges.build(tree, step.wanted);
      await edges.upload(sealed);
      refs.set(key, sealed.ref);
    } catch (error) {
      if (!(error instanceof UnbuildableError)) throw error;
      const { origin } = step.wanted.placement;
      failed.set(key, locatedReason(origin, { code: 'Invalid', text: error.message }));
    }
  }
  return { refs, failed };
}

interface OrderEdges {
  readonly edges: PollEdges;
  readonly artifacts: Artifacts;
  readonly trees: ReadonlyMap<string, Tree>;
  readonly now: number;
}

function orderOf(step: Step, { edges, artifacts, trees, now }: OrderEdges): Order {
  const tree = step.wanted && trees.get(step.wanted.placement.source.repository);
  const artifact = artifacts.refs.get(placementKey(step));
  return makeOrder(step, {
    term: edges.book.term,
    now,
    ...(tree === undefined ? {} : { tree }),
    ...(artifact === undefined ? {} : { artifact }),
  });
}

const commitsOf = (views: readonly SourceView[]): ReadonlyMap<string, string> =>
  new Map(views.map((view) => [view.name, view.tree?.commit.id ?? '']));

/** A source that fails or recovers changes reasons, not orders; it is planned all the same. */
const statesOf = (views: readonly SourceView[]): string =>
  views.map((view) => `${view.name}=${view.state}`).join();

const differs = (memory: PassMemory, views: readonly SourceView[]): boolean =>
  statesOf(views) !== memory.states ||
  [...commitsOf(views)].some(([name, commit]) => memory.commits.get(name) !== commit);
