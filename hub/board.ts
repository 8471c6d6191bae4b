/** What the clusters say: the newest report of each placement and the last beat of each agent. */
import { canonical } from '../shared/canonical.ts';
import type { Beat, Report } from '../shared/wire.ts';
import { placementKey } from './placement.ts';
import { Reports } from './reports.ts';

export interface HeardBeat {
  readonly beat: Beat;
  /** Time of the hub's own clock, ms: the agents' clocks decide nothing. */
  readonly heardAt: number;
}

export interface Board {
  /** By {@link placementKey}. */
  readonly reports: ReadonlyMap<string, Report>;
  /** By cluster. */
  readonly beats: ReadonlyMap<string, HeardBeat>;
  /** Since when beats would be heard, ms; absent while the broker cannot be reached: silence then says nothing. */
  readonly listeningSince?: number;
}

/** Nothing heard yet. */
export const EMPTY_BOARD: Board = { reports: Reports.of(new Map()), beats: new Map() };

/** A positive number when `a` is the newer statement. Equal (ledger, seq) with other content is told apart as well. */
export function compareReports(a: Report, b: Report): number {
  const byOrder = a.ledger - b.ledger || a.seq - b.seq || a.at - b.at;
  if (byOrder !== 0) return byOrder;
  const [left, right] = [canonical(a), canonical(b)];
  return left === right ? 0 : left > right ? 1 : -1;
}

export interface Folded {
  readonly board: Board;
  /** Keys of the placements that stand differently now. */
  readonly changed: readonly string[];
}

/** Takes reports in any order and any number of times: the newest of each placement holds. The same board when nothing changed. */
export function foldReports(board: Board, reports: Iterable<Report>): Folded {
  const newer = new Map<string, Report>();
  for (const report of reports) {
    const key = placementKey(report);
    const held = newer.get(key) ?? board.reports.get(key);
    if (held === undefined || compareReports(report, held) > 0) newer.set(key, report);
  }
  if (newer.size === 0) return { board, changed: [] };
  const merged = Reports.of(board.reports).with(newer);
  return { board: { ...board, reports: merged }, changed: [...newer.keys()] };
}

/** The beat heard last holds. */
export function foldBeat(board: Board, cluster: string, heard: HeardBeat): Board {
  const held = board.beats.get(cluster);
  if (held !== undefined && held.heardAt >= heard.heardAt) return board;
  return { ...board, beats: new Map(board.beats).set(cluster, heard) };
}

/** The broker can be heard since `since`, or (undefined) not at all. */
export function listening(board: Board, since: number | undefined): Board {
  const { listeningSince: _, ...rest } = board;
  return since === undefined ? rest : { ...rest, listeningSince: since };
}

/** A cluster that is gone takes its reports and beats with it. */
export function forgetCluster(board: Board, cluster: string): Board {
  const reports = Reports.of(board.reports).without(cluster);
  const beats = new Map([...board.beats].filter(([name]) => name !== cluster));
  return { ...board, reports, beats };
}
