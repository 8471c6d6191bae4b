/**
 * A placement has an order in force, and no manifest asks for it. Why not decides what happens: only a committed removal
 * lets go of it; all else keeps or freezes it.
 */
import type { Reason } from '../shared/outcome.ts';
import type { Order } from '../shared/wire.ts';
import type { Origin, RemovalManifest } from './catalog/catalog.ts';
import type { Refused } from './placement.ts';
import type { Verdict } from './step.ts';

export interface Absence {
  /** Stacks and placements whose document is there but cannot be planned. */
  readonly refused: readonly Refused[];
  /** Files that could not be read as a whole. */
  readonly unreadable: readonly {
    readonly file: Origin;
    readonly text: string;
    /** Kinds that its text speaks of. */
    readonly mentions: readonly string[];
  }[];
  /** Clusters that a readable document names. */
  readonly clusters: ReadonlySet<string>;
  /** Clusters whose document is there but refused, with what is wrong. */
  readonly refusedClusters: ReadonlyMap<string, string>;
  /** Repositories that were not read completely since start, with what keeps them. */
  readonly unread: ReadonlyMap<string, string>;
  /** Names of all repositories that are configured. */
  readonly repositories: ReadonlySet<string>;
  /** Those of them that may decide about all others. */
  readonly fleetRepositories: ReadonlySet<string>;
  readonly removals: readonly RemovalManifest[];
  /** A document that decides about everything cannot be read: nothing new may start. */
  readonly frozen?: Reason;
  readonly now: number;
}

/** The verdict about an order in force that nothing asks for. */
export function absentVerdict(absence: Absence, order: Order): Verdict {
  const kept = keptBy(absence, order);
  if (kept !== undefined)
    return { keep: kept.code === 'SourceUnavailable' ? 'waiting' : 'refused', reasons: [kept] };
  const removal = absence.removals.find((candidate) => covers(absence, candidate, order));
  if (removal !== undefined) return forget(order, removal);
  if (order.action === 'forget') return { keep: 'forget', reasons: order.reasons };
  return orphan(order);
}

/** Something that is there but cannot be read or planned keeps the order in force. */
function keptBy(absence: Absence, order: Order): Reason | undefined {
  const manifest = order.source.manifest;
  const unread = absence.unread.get(manifest.repository);
  if (unread !== undefined) {
    return {
      code: 'SourceUnavailable',
      text: `repository ${manifest.repository} was not read since start: ${unread}`,
    };
  }
  const [other] = absence.unread.keys();
  if (other !== undefined && !absence.repositories.has(manifest.repository)) {
    const text = `repository ${manifest.repository} is not configured any more, and ${other}, from which it may come now, was not read since start`;
    return { code: 'SourceUnavailable', text };
  }
  const refused = absence.refused.find((candidate) => concerns(candidate, order));
  if (refused !== undefined) return refused.reason;
  const file = absence.unreadable.find(
    ({ file: { repository, path } }) => repository === manifest.repository && path === manifest.path,
  );
  if (file !== undefined) return { code: 'Invalid', text: file.text };
  const cluster = brokenCluster(absence, order.cluster);
  return cluster === undefined ? absence.frozen : { code: 'Invalid', text: cluster };
}

/** A cluster that is missing may be in a file that cannot be read. */
function brokenCluster({ clusters, refusedClusters, unreadable }: Absence, name: string): string | undefined {
  if (clusters.has(name)) return undefined;
  return refusedClusters.get(name) ?? unreadable.find((file) => file.mentions.includes('Cluster'))?.text;
}

const concerns = (refused: Refused, order: Order): boolean =>
  refused.stack.namespace === order.stack.namespace &&
  refused.stack.name === order.stack.name &&
  (refused.cluster === undefined || refused.cluster === order.cluster);

/** A repository lets go of what came from it; only one of the fleet's, of what came from another. */
function covers({ fleetRepositories, now }: Absence, removal: RemovalManifest, order: Order): boolean {
  const { repository } = removal.origin;
  if (!fleetRepositories.has(repository) && repository !== order.source.manifest.repository) return false;
  const { stacks, clusters, expires } = removal.spec;
  const name = `${order.stack.namespace}/${order.stack.name}`;
  const expired = expires !== undefined && expires !== null && Date.parse(expires) <= now;
  const anyCluster = clusters === undefined || clusters.length === 0 || clusters.includes(order.cluster);
  return !expired && (stacks ?? []).includes(name) && anyCluster;
}

function forget(order: Order, removal: RemovalManifest): Verdict {
  const { repository, path, line } = removal.origin;
  const text = `Removal ${removal.name} (${repository}:${path}:${line}) lets go of it and keeps its resources`;
  if (order.action === 'forget') return { keep: 'forget', reasons: [{ code: 'Removed', text }] };
  return { action: 'forget', base: order, reasons: [{ code: 'Removed', text }] };
}

function orphan(order: Order): Verdict {
  const { repository, path } = order.source.manifest;
  const text =
    `nothing asks for it any more (it came from ${repository}:${path}); it stays as it is until its manifest returns ` +
    `or a Removal names it`;
  const reasons: Reason[] = [{ code: 'Orphaned', text }];
  const already = order.action === 'hold' && order.reasons[0]?.code === 'Orphaned';
  return already ? { keep: 'hold', reasons } : { action: 'hold', base: order, reasons };
}
