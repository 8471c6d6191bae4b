/**
 * What was not read cannot be planned: before every fleet repository was read once since start, nothing is; another
 * repository that was not read keeps back what came from it.
 */
import type { SourceView, Tree } from './git/source.ts';

export type Gate =
  | { readonly kind: 'closed'; readonly reason: string }
  | {
      readonly kind: 'open';
      /** By repository. */
      readonly trees: ReadonlyMap<string, Tree>;
      /** Repositories without a tree, and what keeps them. */
      readonly unread: ReadonlyMap<string, string>;
    };

/** Whether there is enough to plan. */
export function gateOf(views: readonly SourceView[]): Gate {
  const unread = new Map(
    views.filter((view) => view.tree === undefined).map((view) => [view.name, whatKeeps(view)]),
  );
  const fleet = views.find((view) => view.trust === 'fleet' && view.tree === undefined);
  if (fleet !== undefined) return { kind: 'closed', reason: `repository ${fleet.name}: ${whatKeeps(fleet)}` };
  const trees = new Map(
    views.flatMap(({ name, tree }) => (tree === undefined ? [] : [[name, tree] as const])),
  );
  return { kind: 'open', trees, unread };
}

const whatKeeps = (view: SourceView): string =>
  view.message === undefined ? view.state : `${view.state}: ${view.message}`;
