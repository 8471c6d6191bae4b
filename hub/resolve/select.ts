/** Which clusters a stack runs on. */
import type { ClusterSelection, Selector } from '../../crds/fields.ts';
import { didYouMean } from '../nearest.ts';

/** What selection looks at. */
export interface Selectable {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Choice<C extends Selectable> {
  /** By name. */
  readonly clusters: readonly C[];
  /** Named clusters that cannot be planned for, with why. */
  readonly refused: readonly { readonly cluster: string; readonly text: string }[];
  readonly warnings: readonly string[];
}

export type Chosen<C extends Selectable> =
  ({ readonly kind: 'chosen' } & Choice<C>) | { readonly kind: 'fault'; readonly text: string };

export interface Candidates<C extends Selectable> {
  /** Sorted by name. */
  readonly clusters: readonly C[];
  /** Clusters that exist, but whose documents are refused: name → why. */
  readonly refused: ReadonlyMap<string, string>;
  /** A file that may hold clusters and cannot be read: how many there are is not known. */
  readonly uncertain?: string;
}

/** The clusters of a selection: names or a selector or all, minus the excluded ones. */
export function choose<C extends Selectable>(
  selection: ClusterSelection | undefined,
  candidates: Candidates<C>,
): Chosen<C> {
  if (selection === undefined) return chooseOnly(candidates);
  const fault = selectionFault(selection);
  if (fault !== undefined) return { kind: 'fault', text: fault };
  const exclude = selection.exclude ?? [];
  const stranger = exclude.find((name) => !exists(name, candidates));
  if (stranger !== undefined) {
    // A misspelt exclusion would let the stack run where it must not.
    const hint = didYouMean(stranger, namesOf(candidates));
    return { kind: 'fault', text: `clusters.exclude names “${stranger}”, which no Cluster has${hint}` };
  }
  const clusters = candidates.clusters.filter((cluster) => matches(selection, cluster));
  const named = [...new Set(selection.all === true ? candidates.refused.keys() : (selection.names ?? []))];
  const refused = named
    .filter(
      (name) => !exclude.includes(name) && !candidates.clusters.some((cluster) => cluster.name === name),
    )
    .map((cluster) => ({ cluster, text: whyNot(cluster, candidates) }));
  const empty = clusters.length === 0 && refused.length === 0;
  const warnings = empty ? ['clusters selects no cluster: the stack runs nowhere'] : [];
  return { kind: 'chosen', clusters, refused, warnings };
}

function chooseOnly<C extends Selectable>({ clusters, refused, uncertain }: Candidates<C>): Chosen<C> {
  if (uncertain !== undefined) return { kind: 'fault', text: `clusters is left out, and ${uncertain}` };
  const [only] = clusters;
  if (only !== undefined && clusters.length + refused.size === 1) {
    return { kind: 'chosen', clusters: [only], refused: [], warnings: [] };
  }
  const count = clusters.length + refused.size;
  const text = `clusters is left out, which is enough only while the fleet has one cluster; it has ${count}: name them`;
  return { kind: 'fault', text };
}

/** What makes a selection mean nothing definite. */
export function selectionFault(selection: ClusterSelection): string | undefined {
  const ways = [
    ...(selection.names !== undefined && selection.names.length > 0 ? ['names'] : []),
    ...(selection.selector !== undefined && !isEmpty(selection.selector) ? ['selector'] : []),
    ...(selection.all === true ? ['all'] : []),
  ];
  if (ways.length === 0) return 'clusters is empty: give names or a selector, or say all: true';
  return ways.length === 1 ? undefined : `clusters gives ${ways.join(' and ')}: keep one`;
}

const isEmpty = ({ matchLabels = {}, matchExpressions = [] }: Selector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;

/** Whether a selection without fault takes a cluster in. */
export function matches(selection: ClusterSelection, { name, labels }: Selectable): boolean {
  if (selection.exclude?.includes(name) === true) return false;
  if (selection.all === true || selection.names?.includes(name) === true) return true;
  return (
    selection.selector !== undefined && !isEmpty(selection.selector) && satisfies(selection.selector, labels)
  );
}

function satisfies(selector: Selector, labels: Selectable['labels']): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value);
        case 'NotIn':
          return value === undefined || !values.includes(value);
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
      }
    })
  );
}

const namesOf = ({ clusters, refused }: Candidates<Selectable>): string[] => [
  ...clusters.map(({ name }) => name),
  ...refused.keys(),
];

const exists = (name: string, candidates: Candidates<Selectable>): boolean =>
  candidates.refused.has(name) || candidates.clusters.some((cluster) => cluster.name === name);

const whyNot = (name: string, candidates: Candidates<Selectable>): string =>
  candidates.refused.get(name) ??
  `clusters.names has “${name}”, which no Cluster has${didYouMean(name, namesOf(candidates))}`;
