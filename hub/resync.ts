/**
 * What a hello shows that either side lost. Pure: the answer never carries orders, it only finds out which of them have
 * to be published again, so that there is one way of delivery.
 */
import { limits } from '../shared/limits.ts';
import { hashesOf, saysOf, type Held } from '../shared/resync.ts';
import {
  WIRE_VERSION,
  type Hello,
  type HelloAnswer,
  type Order,
  type PlacementState,
  type Report,
} from '../shared/wire.ts';
import { placementKey } from './placement.ts';

export interface HelloContext {
  readonly cluster: string;
  /** Orders in force and reports of this cluster. */
  readonly orders: readonly Order[];
  readonly reports: readonly Report[];
  readonly term: number;
  readonly now: number;
  /** Nothing of the order stream is pending or unacknowledged. */
  readonly drained: boolean;
  /** Placements that differed at an earlier hello, since when. */
  readonly suspects: ReadonlyMap<string, number>;
}

export interface HelloOutcome {
  readonly answer: HelloAnswer;
  readonly suspects: ReadonlyMap<string, number>;
  /** To be published again, with the cause. */
  readonly republish: ReadonlyMap<string, string>;
  /** Generations in the agent's ledger. */
  readonly seenGen: ReadonlyMap<string, number>;
}

/** Answers a hello of one cluster. */
export function answerHello(hello: Hello, context: HelloContext): HelloOutcome {
  const base = {
    v: WIRE_VERSION,
    term: context.term,
    epoch: Math.max(0, ...context.reports.map((report) => report.ledger)),
    ...(hello.ledger === 0 ? { seed: seedOf(context.reports) } : {}),
  } as const;
  if (hello.list === undefined) {
    const needList = !hashesAgree(hello, context);
    return { answer: { ...base, needList, resend: [] }, ...nothing(needList ? context.suspects : new Map()) };
  }
  const rows = new Map(hello.list.map((row) => [keyOf(context.cluster, row), row]));
  const seenGen = new Map([...rows].map(([key, row]) => [key, row.gen]));
  const differing = differences(context, rows);
  const suspects = new Map(
    [...differing.keys()].map((key) => [key, context.suspects.get(key) ?? context.now]),
  );
  const republish = new Map(
    [...differing]
      .filter(
        ([key, why]) => isConfirmed(suspects.get(key)!, context.now) && (context.drained || !why.mayCome),
      )
      .map(([key, why]) => [key, why.text]),
  );
  const waiting = suspects.size > republish.size ? { againMs: limits.helloConfirmMs } : {};
  const answer = { ...base, needList: false, resend: missingReports(hello, context), ...waiting };
  return { answer, suspects, republish, seenGen };
}

const nothing = (suspects: ReadonlyMap<string, number>): Omit<HelloOutcome, 'answer'> => ({
  suspects,
  republish: new Map(),
  seenGen: new Map(),
});

const isConfirmed = (since: number, now: number): boolean => now - since >= limits.helloConfirmMs;

const keyOf = (cluster: string, row: { readonly namespace: string; readonly name: string }): string =>
  placementKey({ cluster, stack: { namespace: row.namespace, name: row.name } });

function hashesAgree(hello: Hello, context: HelloContext): boolean {
  const hashes = hashesOf(heldBy(context));
  return hello.ordersHash === hashes.orders && hello.reportsHash === hashes.reports;
}

/** What the agent should hold. An order that no report answers counts as settled: it may never have arrived. */
function heldBy({ orders, reports }: HelloContext): Held[] {
  const reported = new Map(reports.map((report) => [placementKey(report), report]));
  return orders.map((order) => {
    const report = reported.get(placementKey(order));
    const answered = report !== undefined && report.gen >= order.gen;
    return {
      stack: order.stack,
      gen: order.gen,
      says: saysOf(order),
      seq: report?.seq ?? 0,
      phase: answered ? report.phase : 'Suspended',
    };
  });
}

interface Difference {
  readonly text: string;
  /** The agent may still be reading: as long as its stream is not drained, nothing is done. */
  readonly mayCome: boolean;
}

/** Where the agent's ledger and the stream disagree. */
function differences(
  { orders }: HelloContext,
  rows: ReadonlyMap<string, PlacementState>,
): ReadonlyMap<string, Difference> {
  return new Map(
    orders.flatMap((order) => {
      const found = differenceOf(order, rows.get(placementKey(order)));
      return found === undefined ? [] : [[placementKey(order), found] as const];
    }),
  );
}

function differenceOf(order: Order, row: PlacementState | undefined): Difference | undefined {
  const have = row?.gen ?? 0;
  if (have > order.gen)
    return { text: `the agent has generation ${have}, the stream ${order.gen}`, mayCome: false };
  if (have < order.gen) return { text: `the agent has generation ${have} only`, mayCome: true };
  return row !== undefined && isAnother(row, order)
    ? { text: `the agent has another order of generation ${have}`, mayCome: false }
    : undefined;
}

const isAnother = ({ says }: PlacementState, order: Order): boolean => says !== '' && says !== saysOf(order);

function missingReports({ ledger, list }: Hello, { cluster, reports }: HelloContext): HelloAnswer['resend'] {
  const known = new Map(reports.map((report) => [placementKey(report), report]));
  const missing = (list ?? []).filter((row) => {
    const report = known.get(keyOf(cluster, row));
    return row.seq > 0 && (report === undefined || report.ledger < ledger || report.seq < row.seq);
  });
  return missing.map(({ namespace, name }) => ({ namespace, name }));
}

function seedOf(reports: readonly Report[]): NonNullable<HelloAnswer['seed']> {
  return reports.flatMap(({ stack, gen, lastSuccess, unclean }) =>
    lastSuccess === undefined
      ? []
      : [{ stack, gen, lastSuccess, ...(unclean === undefined ? {} : { unclean }) }],
  );
}
