/** Rows of the API: what is wanted, ordered, decided and reported of each placement, joined. No row depends on the time. */
import { SETTLED, type Phase } from '../shared/outcome.ts';
import type { StackRef } from '../shared/subjects.ts';
import type { Order, Report } from '../shared/wire.ts';
import type { Board } from './board.ts';
import type { DecidedAt } from './decision.ts';
import type { SourceState, SourceView } from './git/source.ts';
import { commitsBehind, type History } from './history.ts';
import { placementKey, type Placement, type PlacementId, type Refused } from './placement.ts';

export interface ViewInput {
  /** The resolution of the newest catalog. */
  readonly placements: readonly Placement[];
  readonly refused: readonly Refused[];
  /** Orders in force, by {@link placementKey}. */
  readonly orders: ReadonlyMap<string, Order>;
  readonly board: Board;
  readonly sources: readonly SourceView[];
  readonly history: History;
  /** Placements that the newest pass decided about; absent: none has ended since start. */
  readonly planned?: ReadonlySet<string>;
}

export interface Row extends PlacementId {
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly placement?: Placement;
  readonly refused?: Refused;
  readonly order?: Order;
  readonly report?: Report;
  readonly decided?: DecidedAt;
  /** As its agent reported it; `Unknown` without a report. */
  readonly phase: Phase;
  /** Since when, ms; without a report since the order or the decision. */
  readonly phaseSince: number;
  readonly source?: { readonly repository: string; readonly state: SourceState; readonly since: number };
  /** The report is about an older order than the one in force. `commits`: where the kept commits say it. */
  readonly behind?: { readonly since: number; readonly commits?: number };
  /** Lower case, for searching. */
  readonly search: string;
}

export interface View {
  /** Sorted by key. */
  readonly rows: readonly Row[];
  /** Place of each key in `rows`; the same map while no placement comes or goes. */
  readonly index: ReadonlyMap<string, number>;
}

/** All rows anew: after a pass. */
export function joinRows(input: ViewInput): View {
  const join = joiner(input);
  const rows = [...join.ids].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, id]) => join.row(key, id));
  return { rows, index: new Map(rows.map((row, at) => [row.key, at])) };
}

/** The rows of `keys` anew: after reports. `input` differs from the one of `view` in its board only. */
export function refreshRows(view: View, input: ViewInput, keys: readonly string[]): View {
  if (keys.length === 0) return view;
  if (keys.some((key) => !view.index.has(key)) || keys.length * 10 > view.rows.length) return joinRows(input);
  const rows = [...view.rows];
  for (const key of keys) {
    const at = view.index.get(key) ?? 0;
    const row = rows[at];
    if (row !== undefined) rows[at] = rowOf(partsOf(input, row));
  }
  return { rows, index: view.index };
}

interface Parts extends PlacementId {
  readonly placement: Placement | undefined;
  readonly refused: Refused | undefined;
  readonly order: Order | undefined;
  readonly report: Report | undefined;
  readonly decided: DecidedAt | undefined;
  readonly source: SourceView | undefined;
  readonly history: History;
}

function joiner(input: ViewInput): {
  ids: ReadonlyMap<string, PlacementId>;
  row: (key: string, id: PlacementId) => Row;
} {
  const placements = new Map(input.placements.map((placement) => [placementKey(placement), placement]));
  const refused = new Map(input.refused.flatMap((one) => refusedKeys(one, input.orders)));
  const ids = new Map<string, PlacementId>();
  const add = (one: { cluster: string; stack: StackRef }): unknown => ids.set(placementKey(one), one);
  for (const source of [input.placements, input.orders.values(), input.board.reports.values()]) {
    for (const one of source) add(one);
  }
  // what was decided before about a placement that nothing names any more is history
  for (const [key, { decision }] of input.history.standing)
    if (input.planned?.has(key) ?? true) add(decision);
  for (const [key, one] of refused)
    if (one.cluster !== undefined) ids.set(key, { cluster: one.cluster, stack: one.stack });
  const row = (key: string, id: PlacementId): Row =>
    rowOf(partsOf(input, { ...id, placement: placements.get(key), refused: refused.get(key) }));
  return { ids, row };
}

/** A refused document without a cluster stands for every placement of its stack that has an order. */
function refusedKeys(refused: Refused, orders: ReadonlyMap<string, Order>): [string, Refused][] {
  const { cluster, stack } = refused;
  if (cluster !== undefined) return [[placementKey({ cluster, stack }), refused]];
  return [...orders]
    .filter(([, order]) => order.stack.namespace === stack.namespace && order.stack.name === stack.name)
    .map(([key]) => [key, refused]);
}

type Known = PlacementId & { placement?: Placement | undefined; refused?: Refused | undefined };

function partsOf(input: ViewInput, known: Known): Parts {
  const key = placementKey(known);
  const order = input.orders.get(key);
  return {
    cluster: known.cluster,
    stack: { namespace: known.stack.namespace, name: known.stack.name },
    placement: known.placement,
    refused: known.refused,
    order,
    report: input.board.reports.get(key),
    decided: input.history.standing.get(key),
    source: sourceOf(input.sources, repositoriesOf(known, order)),
    history: input.history,
  };
}

const repositoriesOf = (known: Known, order: Order | undefined): readonly (string | undefined)[] => [
  known.placement?.origin.repository ?? known.refused?.origin.repository ?? order?.source.manifest.repository,
  known.placement?.source.repository ?? order?.source.repository,
];

/** Of the manifest's and the program's repository, the first that is not well. */
function sourceOf(
  sources: readonly SourceView[],
  names: readonly (string | undefined)[],
): SourceView | undefined {
  const found = names.flatMap((name) => sources.find((source) => source.name === name) ?? []);
  return found.find((source) => source.state !== 'Ready') ?? found[0];
}

function rowOf(parts: Parts): Row {
  const { cluster, stack, placement, refused, order, report, decided, source } = parts;
  const behind = behindOf(parts);
  const labels = placement?.policy.labels ?? order?.policy.labels ?? {};
  return {
    key: placementKey(parts),
    cluster,
    stack,
    labels,
    ...(placement === undefined ? {} : { placement }),
    ...(refused === undefined ? {} : { refused }),
    ...(order === undefined ? {} : { order }),
    ...(report === undefined ? {} : { report }),
    ...(decided === undefined ? {} : { decided }),
    phase: report?.phase ?? 'Unknown',
    phaseSince: report === undefined ? (order?.issuedAt ?? decided?.at ?? 0) : phaseSince(report),
    ...(source === undefined
      ? {}
      : { source: { repository: source.name, state: source.state, since: source.since } }),
    ...(behind === undefined ? {} : { behind }),
    search: [
      placementKey(parts),
      order?.source.commit,
      order?.source.subject,
      report?.reason.code,
      report?.reason.text,
    ]
      .join('\n')
      .toLowerCase(),
  };
}

/** A report says when it was made; a phase begins with the run's start or end where there is one. */
function phaseSince(report: Report): number {
  if (report.phase === 'Running') return report.startedAt ?? report.at;
  return SETTLED.has(report.phase) ? (report.finishedAt ?? report.at) : report.at;
}

function behindOf({ order, report, history }: Parts): Row['behind'] {
  if (order === undefined || (report !== undefined && report.gen >= order.gen)) return undefined;
  const { repository, ref } = order.source;
  const commits = report && commitsBehind(history, { repository, ref, commit: report.commit });
  return { since: order.issuedAt, ...(commits === undefined ? {} : { commits }) };
}
