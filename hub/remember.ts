/** What a pass leaves to those who ask why, and to the passes after it. */
import type { Order } from '../shared/wire.ts';
import type { Decision } from './decision.ts';
import type { SourceView, Tree } from './git/source.ts';
import { sameSource, type History, type SourceId } from './history.ts';
import { placementKey } from './placement.ts';
import type { Done } from './poll.ts';
import type { Store } from './store.ts';

/** What of the store is written to here. */
export type Memory = Pick<Store, 'history' | 'addPlanned' | 'recordFiles' | 'keepOnly'>;

/** Records the pass with each commit that it saw; every decision belongs to one of them. */
export function remember(store: Memory, done: Done): void {
  const { plan, orders, measured, now } = done;
  const published = new Set(orders.map(placementKey));
  for (const { placement, inputDigest, files } of measured.wanted) {
    const key = placementKey(placement);
    if (published.has(key)) store.recordFiles(key, inputDigest, files);
  }
  const seen = done.views.flatMap((view) => (view.tree === undefined ? [] : [{ ...view, tree: view.tree }]));
  const owner = ownersIn(done, seen, store.history);
  const owned = new Map(plan.decisions.map((decision) => [decision, owner(decision)]));
  for (const view of seen) {
    const { name, ref, tree } = view;
    const started = orders.filter((order) => order.action === 'run' && repositoriesOf(order).includes(name));
    const pass = { repository: name, ref, commit: tree.commit, plannedAt: now };
    store.addPlanned(
      { ...pass, decisions: plan.decisions, orders: started.length },
      (decision) => owned.get(decision) === view,
    );
  }
  store.keepOnly(new Set(plan.decisions.map(placementKey)));
}

type Seen = SourceView & { readonly tree: Tree };

const repositoriesOf = ({ source }: Pick<Order, 'source'>): readonly string[] => [
  source.repository,
  source.manifest.repository,
];

/**
 * The commit that a decision belongs to. Only what moved can have changed anything, so it is one of those if there are
 * any: the one that the reasons name, else that of the program, else that of the manifest, else any. Where nothing moved,
 * it is not one that was planned before the decision that it replaces.
 */
function ownersIn(
  done: Done,
  seen: readonly Seen[],
  history: History,
): (decision: Decision) => Seen | undefined {
  const homes = homesOf(done);
  const { commits, standing } = history;
  const rank = new Map(
    seen.map((view) => [view, commits.findIndex((held) => sameSource(held, sourceOf(view)))]),
  );
  const rankOf = (view: Seen): number => rank.get(view) ?? -1;
  const moved = seen.filter((view) => commits[rankOf(view)]?.commit.id !== view.tree.commit.id);
  const newest = new Map(commits.map(({ commit }, n) => [commit.id, n] as const).reverse());
  return (decision) => {
    const key = placementKey(decision);
    const named = decision.reasons.flatMap((reason) => reason.commits?.[0]?.id ?? []);
    const before = newest.get(standing.get(key)?.commit ?? '') ?? Infinity;
    const views = moved.length > 0 ? moved : seen.filter((view) => rankOf(view) <= before);
    return (
      views.find(({ tree }) => named.includes(tree.commit.id)) ??
      (homes.get(key) ?? []).flatMap((name) => views.find((view) => view.name === name) ?? [])[0] ??
      views[0] ??
      seen[0]
    );
  };
}

const sourceOf = ({ name, ref }: Seen): SourceId => ({ repository: name, ref });

/** Repositories of the program and the manifest of each placement. */
function homesOf({ resolution, orders }: Done): ReadonlyMap<string, readonly string[]> {
  return new Map([
    ...orders.map((order) => [placementKey(order), repositoriesOf(order)] as const),
    ...resolution.placements.map(
      (placement) =>
        [placementKey(placement), [placement.source.repository, placement.origin.repository]] as const,
    ),
  ]);
}
