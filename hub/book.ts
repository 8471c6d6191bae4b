/**
 * The order book: what every order stream says now, and the only way to write to it. It is read again after a start,
 * a lost connection and any conflict, so it is never ahead of the broker.
 */
import { canonical } from '../shared/canonical.ts';
import type { Jets } from '../shared/nats.ts';
import { token, untoken } from '../shared/subjects.ts';
import { WIRE_VERSION, type ClusterOrder, type ClusterPolicy, type Order } from '../shared/wire.ts';
import { placementKey } from './placement.ts';
import {
  clusterMessage,
  ensureAccount,
  ensureArtifactStream,
  listAccounts,
  orderMessage,
  publishOrders,
  readOrderStream,
  type OrderMessage,
  type OrderStream,
} from './streams.ts';

export interface ClusterWish {
  readonly name: string;
  readonly policy: ClusterPolicy;
}

export interface Book {
  /** By placement key; empty until the first load. */
  readonly inForce: ReadonlyMap<string, Order>;
  readonly loaded: boolean;
  /** Names of all clusters that have an order stream, also those that no manifest names any more. */
  readonly clusters: readonly string[];
  /** The term under which this hub writes; 0: it only reads. */
  readonly term: number;
  /** Reads every order stream to its end. Streams of `clusters`, and of those that have one, are made when missing. */
  load(clusters: readonly string[]): Promise<void>;
  /** Writes a new term to every stream, so that whoever led before is refused from now on. */
  lead(clusters: readonly ClusterWish[], now: number): Promise<Written>;
  /** Publishes cluster policies that changed, then the orders. After a conflict the book must be loaded again. */
  publish(wish: PublishWish): Promise<Written>;
  /** Forgets what was read: the connection was lost, or somebody else may have written. */
  invalidate(): void;
}

export interface PublishWish {
  readonly clusters: readonly ClusterWish[];
  readonly orders: readonly Order[];
  readonly now: number;
}

/** `conflict`: somebody else wrote in between. */
export type Written = 'stored' | 'conflict';

interface Pages {
  readonly jets: Jets;
  /** By account. */
  read: Map<string, OrderStream>;
  inForce: ReadonlyMap<string, Order>;
  loaded: boolean;
  term: number;
}

/** The book over a connection. */
export function makeBook(jets: Jets): Book {
  const pages: Pages = { jets, read: new Map(), inForce: new Map(), loaded: false, term: 0 };
  return {
    get inForce() {
      return pages.inForce;
    },
    get loaded() {
      return pages.loaded;
    },
    get clusters() {
      return [...pages.read.values()].map(clusterOf);
    },
    get term() {
      return pages.term;
    },
    load: (clusters) => load(pages, clusters),
    lead: (clusters, now) => lead(pages, clusters, now),
    publish: (wish) => publish(pages, wish),
    invalidate: () => {
      pages.loaded = false;
    },
  };
}

async function load(pages: Pages, clusters: readonly string[]): Promise<void> {
  const { jets } = pages;
  await ensureArtifactStream(jets);
  // also of clusters that no manifest names: without its state stream, a cluster keeps the board from being complete
  for (const account of new Set([...clusters.map(token), ...(await listAccounts(jets))]))
    await ensureAccount(jets, account);
  const accounts = await listAccounts(jets);
  const all = await Promise.all(accounts.map((account) => readOrderStream(jets, account)));
  pages.read = new Map(all.map((stream) => [stream.account, stream]));
  index(pages);
  pages.loaded = true;
}

function index(pages: Pages): void {
  pages.inForce = new Map([...pages.read.values()].flatMap((stream) => [...stream.orders]));
}

async function lead(pages: Pages, clusters: readonly ClusterWish[], now: number): Promise<Written> {
  pages.term = Math.max(now, ...[...pages.read.values()].map((stream) => stream.cluster?.term ?? 0)) + 1;
  return settle(pages, await writeClusters(pages, clusters, { now, always: true }));
}

async function publish(pages: Pages, { clusters, orders, now }: PublishWish): Promise<Written> {
  if (!(await writeClusters(pages, clusters, { now, always: false }))) return settle(pages, false);
  for (const [cluster, group] of Map.groupBy(orders, (order) => order.cluster)) {
    const account = token(cluster);
    const messages = group.map((order) => orderMessage(account, order));
    if (!(await write(pages, account, messages))) return settle(pages, false);
    const stream = pages.read.get(account)!;
    const merged = new Map([
      ...stream.orders,
      ...group.map((order) => [placementKey(order), order] as const),
    ]);
    pages.read.set(account, { ...stream, orders: merged });
  }
  index(pages);
  return 'stored';
}

function settle(pages: Pages, stored: boolean): Written {
  if (!stored) pages.loaded = false;
  return stored ? 'stored' : 'conflict';
}

/** False: somebody else wrote in between. */
async function write(pages: Pages, account: string, messages: readonly OrderMessage[]): Promise<boolean> {
  const stream = pages.read.get(account);
  if (stream === undefined) return false;
  const done = await publishOrders(pages.jets, stream.lastSequence, messages);
  if (done.kind === 'conflict') return false;
  pages.read.set(account, { ...stream, lastSequence: done.lastSequence });
  return true;
}

interface ClusterWriting {
  readonly now: number;
  /** Also where the policy is the one of before: the term is what counts. */
  readonly always: boolean;
}

async function writeClusters(
  pages: Pages,
  wishes: readonly ClusterWish[],
  writing: ClusterWriting,
): Promise<boolean> {
  for (const order of clusterOrders(pages, wishes, writing)) {
    const account = token(order.cluster);
    if (!(await write(pages, account, [clusterMessage(account, order)]))) return false;
    pages.read.set(account, { ...pages.read.get(account)!, cluster: order });
  }
  return true;
}

/** From what the stream says itself; a stream that says nothing yet bears the name as its account. */
const clusterOf = ({ account, cluster, orders }: OrderStream): string =>
  cluster?.cluster ?? [...orders.values()][0]?.cluster ?? untoken(account);

/**
 * The cluster messages that are due. A stream whose cluster no manifest names gets the new term as well, with the
 * policy that it had; one that never had a policy cannot hold orders.
 */
function clusterOrders(
  { read, term }: Pages,
  wishes: readonly ClusterWish[],
  { now, always }: ClusterWriting,
): readonly ClusterOrder[] {
  const wished = new Map(wishes.map((wish) => [token(wish.name), wish]));
  return [...read.values()].flatMap(({ account, cluster }) => {
    const wish = wished.get(account);
    const policy = wish?.policy ?? cluster?.policy;
    const name = wish?.name ?? cluster?.cluster;
    if (policy === undefined || name === undefined) return [];
    if (!always && cluster !== undefined && canonical(cluster.policy) === canonical(policy)) return [];
    const gen = Math.max(now, cluster?.gen ?? 0) + 1;
    return [{ v: WIRE_VERSION, gen, term, cluster: name, policy }];
  });
}
