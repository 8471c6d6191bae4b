/** Filters, order and pages of placements. A page ends at a row, not at a number, so rows that come or go shift nothing. */
import { shownAs, type Status } from '../flags.ts';
import type { Liveness } from '../liveness.ts';
import type { Row, View } from '../view.ts';

export const SORTS = ['name', '-name', 'phase', '-phase', 'since', '-since'] as const;
export type Sort = (typeof SORTS)[number];

export interface Filter {
  readonly cluster?: readonly string[];
  readonly namespace?: readonly string[];
  readonly stack?: readonly string[];
  /** How they are shown. */
  readonly phase?: readonly Status[];
  /** `key` or `key=value`; all must hold. */
  readonly label?: readonly string[];
  /** Part of the name, commit, subject or reason. */
  readonly q?: string;
}

export interface PageWish extends Filter {
  readonly sort: Sort;
  readonly limit: number;
  readonly cursor?: string;
}

export interface Page {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly next: string | null;
}

/** Rows of a view by sort key, ascending; kept while the view is the same, and a start for sorting the next one. */
export interface Sorter {
  sorted(view: View, sort: Sort): readonly Row[];
}

type Value = string | number;
const READ: Readonly<Record<Sort, (row: Row) => Value>> = {
  name: () => '',
  '-name': () => '',
  phase: (row) => row.phase,
  '-phase': (row) => row.phase,
  since: (row) => row.phaseSince,
  '-since': (row) => row.phaseSince,
};
const upward = (sort: Sort): string => sort.replace('-', '');

/** A sorter remembers the last view only. */
export function makeSorter(): Sorter {
  let current: View | undefined;
  let orders = new Map<string, readonly number[]>();
  let fresh = new Map<string, readonly Row[]>();
  const sortedNow = (view: View, sort: Sort): readonly Row[] => {
    if (upward(sort) === 'name') return view.rows;
    const values = view.rows.map(READ[sort]);
    const before = orders.get(upward(sort)) ?? [...values.keys()];
    const order = before.toSorted((a, b) => compareValues(values[a]!, values[b]!) || a - b);
    orders.set(upward(sort), order);
    return order.map((at) => view.rows[at]!);
  };
  return {
    sorted: (view, sort) => {
      if (current !== view) {
        if (current?.index !== view.index) orders = new Map();
        fresh = new Map();
        current = view;
      }
      const known = fresh.get(upward(sort)) ?? sortedNow(view, sort);
      fresh.set(upward(sort), known);
      return known;
    },
  };
}

const compareValues = (a: Value, b: Value): number => (a === b ? 0 : a < b ? -1 : 1);

/** Undefined: the cursor is not one of this list. */
export function pageOf(
  sorted: readonly Row[],
  wish: PageWish,
  agentOf: (cluster: string) => Liveness,
): Page | undefined {
  const from = wish.cursor === undefined ? undefined : readCursor(wish.cursor, wish.sort);
  if (wish.cursor !== undefined && from === undefined) return undefined;
  const matches = predicateOf(wish, agentOf);
  const down = wish.sort.startsWith('-');
  const start = from === undefined ? 0 : placeAfter(sorted, { from, sort: wish.sort, down });
  const rows: Row[] = [];
  let total = 0;
  let more = false;
  for (let n = 0; n < sorted.length; n += 1) {
    const row = sorted[down ? sorted.length - 1 - n : n]!;
    if (!matches(row)) continue;
    total += 1;
    if (n < start || more) continue;
    if (rows.length < wish.limit) rows.push(row);
    else more = true;
  }
  const last = rows.at(-1);
  return { rows, total, next: more && last !== undefined ? writeCursor(last, wish.sort) : null };
}

function predicateOf(filter: Filter, agentOf: (cluster: string) => Liveness): (row: Row) => boolean {
  const tests: ((row: Row) => boolean)[] = [];
  const among = (values: readonly string[] | undefined, read: (row: Row) => string): void => {
    if (values === undefined) return;
    const wanted = new Set(values);
    tests.push((row) => wanted.has(read(row)));
  };
  among(filter.cluster, (row) => row.cluster);
  among(filter.namespace, (row) => row.stack.namespace);
  among(filter.stack, (row) => row.stack.name);
  for (const label of filter.label ?? []) tests.push(labelTest(label));
  const text = filter.q?.toLowerCase();
  if (text !== undefined) tests.push((row) => row.search.includes(text));
  among(filter.phase, (row) => shownAs(row, agentOf(row.cluster)).status);
  return (row) => tests.every((test) => test(row));
}

function labelTest(label: string): (row: Row) => boolean {
  const at = label.indexOf('=');
  if (at < 0) return (row) => row.labels[label] !== undefined;
  const [key, value] = [label.slice(0, at), label.slice(at + 1)];
  return (row) => row.labels[key] === value;
}

interface Cursor {
  readonly value: Value;
  readonly key: string;
}

const writeCursor = (row: Row, sort: Sort): string =>
  Buffer.from(JSON.stringify([sort, READ[sort](row), row.key])).toString('base64url');

function readCursor(cursor: string, sort: Sort): Cursor | undefined {
  try {
    const [from, value, key] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (from !== sort || typeof key !== 'string') return undefined;
    return typeof value === 'string' || typeof value === 'number' ? { value, key } : undefined;
  } catch {
    return undefined;
  }
}

/** How many rows of the walk lie at or before the cursor: by halving, since the list is sorted by (value, key). */
function placeAfter(
  sorted: readonly Row[],
  { from, sort, down }: { readonly from: Cursor; readonly sort: Sort; readonly down: boolean },
): number {
  const compare = (row: Row): number =>
    compareValues(READ[sort](row), from.value) || compareValues(row.key, from.key);
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compare(sorted[middle]!);
    if (down ? order < 0 : order <= 0) low = middle + 1;
    else high = middle;
  }
  return down ? sorted.length - low : low;
}
