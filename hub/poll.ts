/**
 * One pass: sources → catalog → resolve → inputs → digest → detect → plan → artifact → publish.
 *
 * A pass takes no input: it reads again what is wanted and what is. Messages, webhooks and timers only start one. A pass
 * that dies at any step leaves nothing to repair, since the next one starts from the same two facts.
 */
import type { Sealed } from '../shared/seal.ts';
import type { Order } from '../shared/wire.ts';
import type { Book } from './book.ts';
import { carryOut } from './carry.ts';
import { withCommits } from './causes.ts';
import { readCatalog } from './catalog/read.ts';
import type { Catalog, CatalogFile } from './catalog/catalog.ts';
import { releasesContested } from './claims.ts';
import { detectAll, type KnownFiles } from './detect.ts';
import { changesAt } from './expiry.ts';
import { gateOf } from './gate.ts';
import type { AskedSource, SourceView, Tree, TreeEntry } from './git/source.ts';
import type { History } from './history.ts';
import { placementKey, type Placement, type Refused, type Resolution, type Wanted } from './placement.ts';
import { plan } from './plan.ts';
import { resolve } from './resolve.ts';
import type { Plan } from './step.ts';
import { absenceOf, type Measured, type Surveyed } from './survey.ts';

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
  /** Refs that stacks ask for: later calls of `refresh` answer with these as well, and with no others. */
  want(asked: readonly AskedSource[]): void;
  /** When the next poll is due, ms. */
  nextDue(): number;
  observe(views: readonly SourceView[]): void;
  /** Whether this hub holds the lease at this moment. */
  leads(): boolean;
  /** The clusters whose reports are followed from now on. */
  follow(clusters: readonly string[]): void;
  /** What keeps the board from being complete; undefined when every state stream was read to its end. */
  boardGap(): string | undefined;
  /** Manifests and project files of every tree that can be read. */
  gather(views: readonly SourceView[]): Promise<Gathered>;
  /** Files and digest of every placement; those that have none, with the reason. */
  measure(
    placements: readonly Placement[],
    catalog: Catalog,
    trees: ReadonlyMap<string, Tree>,
  ): Promise<Measured>;
  /** The wanted placements; those of which an order under an older version of the digest means the same say so. */
  withEquals(wanted: readonly Wanted[], at: Seen): Promise<readonly Wanted[]>;
  book: Book;
  /** Placements whose artifact the broker lacks; `all`: the broker may be another one, so each is looked for. */
  missingArtifacts(all: boolean): Promise<readonly string[]>;
  build(tree: Tree, wanted: Wanted, files: readonly TreeEntry[]): Promise<Sealed>;
  upload(sealed: Sealed): Promise<void>;
  /** Generations and requests that agents named since the last pass. */
  asked(): Asked;
  readonly knownFiles: (key: string, inputDigest: string) => KnownFiles | undefined;
  /** What earlier passes decided. */
  history(): History;
  /** What a pass that led did, for later passes and for those who look. */
  remember(done: Done): void;
  /** What a pass that does not lead saw: nothing of it was decided. */
  show(seen: Done): void;
  /** Called between steps with the name of the one that is over; tests stop the process there. */
  at(step: HubStep): void;
}

/** What a pass has read. */
export interface Seen {
  readonly views: readonly SourceView[];
  readonly catalog: Catalog;
}

export interface Gathered {
  readonly files: readonly CatalogFile[];
  /** Repositories of which a file could not be read, with what was met: nothing of them is among the files. */
  readonly broken: ReadonlyMap<string, string>;
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
  /** Repository to commit of the last planned pass; empty when the next poll has to plan again, whatever it brings. */
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
  const first = gateOf(views);
  if (first.kind === 'closed') return { kind: 'waiting', reason: first.reason };
  if (!dirty && now < memory.changesAt && !differs(memory, views)) return { kind: 'idle' };
  edges.at('read');

  const gathered = await edges.gather(views);
  const gate = gateOf(views, gathered.broken);
  if (gate.kind === 'closed') return { kind: 'waiting', reason: gate.reason };
  const catalog = readCatalog(gathered.files, now);
  const resolution = resolve(catalog, now, { read: gate.trees, unread: gate.unread });
  edges.want(resolution.asked);
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
  const chosen = await edges.measure(resolution.placements, catalog, gate.trees);
  const measured = { ...chosen, wanted: await edges.withEquals(chosen.wanted, { views, catalog }) };
  edges.at('measured');

  const planned = await planOf(edges, { views, gate, catalog, resolution, measured, now, fresh });
  edges.at('planned');
  if (!leading) return follow(edges, { now, views, catalog, resolution, measured, plan: planned });
  const { inForce } = edges.book;
  const { documents } = catalog;
  const leader = { trees: gate.trees, documents, term: edges.book.term, now };
  const carried = await carryOut({ ...edges, ...leader }, planned);
  edges.at('uploaded');
  const { orders } = carried;
  if ((await edges.book.publish({ clusters, orders, now })) === 'conflict') return { kind: 'conflict' };
  edges.at('published');

  const done = { now, views, catalog, resolution, measured, plan: carried.plan, orders };
  edges.remember(done);
  const { decisions, steps } = carried.plan;
  const unread = gathered.broken.size > 0 || measured.refused.some(isUnread) || carried.unread;
  const again = unread || releasesContested({ decisions, steps, inForce });
  memory.commits = again ? new Map() : commitsOf(views);
  memory.states = statesOf(views);
  memory.changesAt = changesAt(catalog, now);
  edges.at('remembered');
  return { kind: 'planned', done };
}

const isUnread = ({ reason }: Refused): boolean => reason.code === 'SourceUnavailable';

/** A hub that does not lead shows what it would plan, and publishes nothing. */
function follow(edges: PollEdges, seen: Omit<Done, 'orders'>): PassEnd {
  edges.show({ ...seen, orders: [] });
  edges.book.invalidate();
  return { kind: 'following' };
}

interface PlanContext extends Surveyed {
  /** The order book was read in this pass. */
  readonly fresh: boolean;
}

async function planOf(edges: PollEdges, context: PlanContext): Promise<Plan> {
  const { measured, gate, resolution } = context;
  const asked = edges.asked();
  const missing = await edges.missingArtifacts(context.fresh);
  // without a manifest at hand there is nothing to make it from, and an order without it asks for it again at once
  const known = new Set(measured.wanted.map(({ placement }) => placementKey(placement)));
  const lost = missing.filter((key) => known.has(key)).map((key) => [key, 'its artifact was gone'] as const);
  const changes = detectAll(measured.wanted, edges.book.inForce, edges.knownFiles);
  const { wanted } = measured;
  const { clusters } = resolution;
  return plan({
    ...absenceOf(context),
    wanted,
    inForce: edges.book.inForce,
    seenGen: asked.seenGen,
    republish: new Map([...asked.republish, ...lost]),
    changes: withCommits(changes, { wanted, clusters, trees: gate.trees, history: edges.history() }),
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
