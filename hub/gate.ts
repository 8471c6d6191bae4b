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

/** Whether there is enough to plan. `broken`: repositories whose tree is there, but a file of it cannot be read. */
export function gateOf(views: readonly SourceView[], broken: ReadonlyMap<string, string> = new Map()): Gate {
  const keeps = ({ name, tree }: SourceView): boolean => tree === undefined || broken.has(name);
  const unread = new Map(
    views.filter(keeps).map((view) => [view.name, broken.get(view.name) ?? whatKeeps(view)]),
  );
  const fleet = views.find((view) => view.trust === 'fleet' && keeps(view));
  if (fleet !== undefined)
    return { kind: 'closed', reason: `repository ${fleet.name}: ${unread.get(fleet.name) ?? ''}` };
  const trees = new Map(
    views.flatMap(({ name, tree }) =>
      tree === undefined || unread.has(name) ? [] : [[name, tree] as const],
    ),
  );
  return { kind: 'open', trees, unread };
}

const whatKeeps = (view: SourceView): string =>
  view.message === undefined ? view.state : `${view.state}: ${view.message}`;
