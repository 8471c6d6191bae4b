/**
 * The order book: what every order stream says now, and the only way to write to it. It is read again after a start,
 * a lost connection and any conflict, so it is never ahead of the broker.
 */
import type { Jets } from '../shared/nats.ts';
import { token } from '../shared/subjects.ts';
import { WIRE_VERSION, type ClusterOrder, type ClusterPolicy, type Order } from '../shared/wire.ts';
import { canonical } from '../shared/canonical.ts';
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
  /** The term under which this hub writes; 0: it only reads. */
  readonly term: number;
  /** Reads every order stream to its end, those of `clusters` are made when missing. */
  load(clusters: readonly string[]): Promise<void>;
  /** Writes a new term to every stream, so that whoever led before is refused from now on. */
  lead(clusters: readonly ClusterWish[], now: number): Promise<'stored' | 'conflict'>;
  /** Publishes cluster policies that changed, then the orders. On a conflict the book must be loaded again. */
  publish(
    clusters: readonly ClusterWish[],
    orders: readonly Order[],
    now: number,
  ): Promise<'stored' | 'conflict'>;
  /** Forgets what was read: the connection was lost, or somebody else may have written. */
  invalidate(): void;
}

/** The book over a connection. */
export function makeBook(jets: Jets): Book {
  let read = new Map<string, OrderStream>();
  let inForce: ReadonlyMap<string, Order> = new Map();
  let loaded = false;
  let term = 0;

  const index = (): void => {
    inForce = new Map([...read.values()].flatMap((stream) => [...stream.orders]));
  };

  const load = async (clusters: readonly string[]): Promise<void> => {
    await ensureArtifactStream(jets);
    for (const cluster of clusters) await ensureAccount(jets, token(cluster));
    const accounts = await listAccounts(jets);
    const all = await Promise.all(accounts.map((account) => readOrderStream(jets, account)));
    read = new Map(all.map((stream) => [stream.account, stream]));
    index();
    loaded = true;
  };

  const write = async (account: string, messages: readonly OrderMessage[]): Promise<boolean> => {
    const stream = read.get(account);
    if (stream === undefined || messages.length === 0) return stream !== undefined;
    const done = await publishOrders(jets, stream.lastSequence, messages);
    if (done.kind === 'conflict') return false;
    read.set(account, { ...stream, lastSequence: done.lastSequence });
    return true;
  };

  const writeClusters = async (
    wishes: readonly ClusterWish[],
    now: number,
    always: boolean,
  ): Promise<boolean> => {
    for (const order of clusterOrders(read, wishes, { term, now, always })) {
      const account = token(order.cluster);
      if (!(await write(account, [clusterMessage(account, order)]))) return false;
      read.set(account, { ...read.get(account)!, cluster: order });
    }
    return true;
  };

  const settle = (stored: boolean): 'stored' | 'conflict' => {
    if (!stored) loaded = false;
    return stored ? 'stored' : 'conflict';
  };

  return {
    get inForce() {
      return inForce;
    },
    get loaded() {
      return loaded;
    },
    get term() {
      return term;
    },
    load,
    lead: async (clusters, now) => {
      term = Math.max(now, ...[...read.values()].map((stream) => stream.cluster?.term ?? 0)) + 1;
      return settle(await writeClusters(clusters, now, true));
    },
    publish: async (clusters, orders, now) => {
      if (!(await writeClusters(clusters, now, false))) return settle(false);
      for (const [cluster, group] of Map.groupBy(orders, (order) => order.cluster)) {
        const account = token(cluster);
        if (
          !(await write(
            account,
            group.map((order) => orderMessage(account, order)),
          ))
        )
          return settle(false);
        const stream = read.get(account)!;
        const merged = new Map([
          ...stream.orders,
          ...group.map((order) => [placementKey(order), order] as const),
        ]);
        read.set(account, { ...stream, orders: merged });
      }
      index();
      return 'stored';
    },
    invalidate: () => {
      loaded = false;
    },
  };
}

/**
 * The cluster messages that are due. A stream whose cluster no manifest names gets the new term as well, with the
 * policy that it had; one that never had a policy cannot hold orders.
 */
function clusterOrders(
  read: ReadonlyMap<string, OrderStream>,
  wishes: readonly ClusterWish[],
  { term, now, always }: { readonly term: number; readonly now: number; readonly always: boolean },
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
