/** What the API reads: the newest pass, the board and the store, joined when somebody looks and kept until they change. */
import { randomUUID } from 'node:crypto';
import type { Jets } from '../shared/nats.ts';
import { limits } from '../shared/limits.ts';
import { token } from '../shared/subjects.ts';
import { commitEvent, makeEventLog, placementEvent, sourceEvent, type EventLog } from './api/events.ts';
import type { ClusterView, ReadModel } from './api/model.ts';
import { EMPTY_BOARD, type Board } from './board.ts';
import type { Book } from './book.ts';
import type { Problem } from './catalog/catalog.ts';
import type { BoardChange } from './collect.ts';
import type { PlannedCommit } from './decision.ts';
import type { SourceView } from './git/source.ts';
import type { Dropped } from './intake.ts';
import type { Metrics } from './metrics.ts';
import { mistakesOf } from './mistakes.ts';
import type { News } from './news.ts';
import { placementKey } from './placement.ts';
import type { Done, PassEnd } from './poll.ts';
import { readLog, readRuns } from './records.ts';
import type { Store } from './store.ts';
import { joinRows, refreshRows, type View, type ViewInput } from './view.ts';

export interface ModelOptions {
  readonly store: Store;
  readonly jets: Jets;
  readonly book: Book;
  readonly metrics: Metrics;
  readonly news: News;
  readonly clock: () => number;
}

/** The read model, and the three things that change it. */
export interface Model extends ReadModel {
  onBoard(board: Board, change: BoardChange): void;
  onDone(done: Done): void;
  /** `tookMs`: how long the pass was. */
  onPass(end: PassEnd, now: number, tookMs: number): void;
  onSources(views: readonly SourceView[]): void;
  onDrop(dropped: Dropped): void;
}

interface State {
  board: Board;
  done: Done | undefined;
  /** Keys of its decisions. */
  planned: ReadonlySet<string> | undefined;
  problems: readonly Problem[];
  sources: readonly SourceView[];
  waiting: string | undefined;
  /** Undefined: everything is to be joined anew. */
  view: View | undefined;
}

/** Passes come at least as often as the slowest poll; a loop that is silent for longer is stuck. */
const STUCK_MS = 2 * limits.pollBackoffMaxMs;

const emptyState = (): State => ({
  board: EMPTY_BOARD,
  done: undefined,
  planned: undefined,
  problems: [],
  sources: [],
  waiting: 'no pass has ended yet',
  view: undefined,
});

/** An empty model; it is ready after the first pass. */
export function makeModel({ store, jets, book, metrics, news, clock }: ModelOptions): Model {
  const state = emptyState();
  let lastPass = clock();
  const events = makeEventLog(randomUUID().slice(0, 8));
  const input = (): ViewInput => inputOf(state, store, book);
  const view = (): View => (state.view ??= joinRows(input()));
  return {
    now: clock,
    view,
    board: () => state.board,
    clusters: () => clusterViews(state, book),
    history: () => store.history,
    sources: () => state.sources,
    problems: () => state.problems,
    events,
    runs: ({ cluster, stack }) => readRuns(jets, { cluster, account: token(cluster) }, stack),
    log: (cluster, { run, ...wish }) => readLog(jets, { cluster, account: token(cluster) }, { run, ...wish }),
    notReady: () => state.waiting,
    unhealthy: () =>
      clock() - lastPass > STUCK_MS ? `no pass has ended for ${STUCK_MS / 60_000} minutes` : undefined,
    onBoard: (board, change) => {
      countReports(metrics, { before: state.board, now: board, keys: change.reports });
      state.board = board;
      if (change.clusters === 'all') state.view = undefined;
      else if (state.view !== undefined) state.view = refreshRows(state.view, input(), change.reports);
      publishRows(events, view(), { keys: change.reports, at: clock() });
    },
    onDone: (done) => {
      state.done = done;
      state.planned = new Set(done.plan.decisions.map(placementKey));
      state.problems = mistakesOf(done);
      news.problems(state.problems);
      countPlan(metrics, done, newCommits(store.history.commits, done.now));
      state.view = undefined;
      for (const commit of newCommits(store.history.commits, done.now)) events.publish(commitEvent(commit));
      publishRows(events, view(), { keys: done.orders.map(placementKey), at: done.now });
    },
    onPass: (end, now, tookMs) => {
      if (end.kind === 'planned') metrics.planned(tookMs);
      lastPass = now;
      state.waiting = waitingFor(end, state.waiting);
    },
    onDrop: ({ cause }) => metrics.dropped(cause),
    onSources: (views) => {
      news.sources(views);
      metrics.sources(views, state.sources);
      const changed = changedSources(state.sources, views);
      for (const source of changed) events.publish(sourceEvent(source));
      state.sources = views;
      if (changed.length > 0) state.view = undefined;
    },
  };
}

function changedSources(before: readonly SourceView[], now: readonly SourceView[]): readonly SourceView[] {
  const states = new Map(before.map(({ name, state }) => [name, state]));
  return now.filter(({ name, state }) => states.get(name) !== state);
}

function waitingFor(end: PassEnd, before: string | undefined): string | undefined {
  switch (end.kind) {
    case 'planned':
      return undefined;
    case 'waiting':
      return end.reason;
    case 'following':
      return 'another hub leads; this one only reads';
    case 'conflict':
    case 'idle':
      return before;
  }
}

function inputOf(state: State, store: Store, book: Book): ViewInput {
  const { done, board, sources } = state;
  return {
    placements: done?.resolution.placements ?? [],
    refused: [...(done?.resolution.refused ?? []), ...(done?.measured.refused ?? [])],
    orders: book.inForce,
    board,
    sources,
    history: store.history,
    ...(state.planned === undefined ? {} : { planned: state.planned }),
  };
}

/** Planned for the first time by the pass of `now`, oldest first. */
const newCommits = (commits: readonly PlannedCommit[], now: number): readonly PlannedCommit[] =>
  commits.filter((commit) => commit.plannedAt === now).reverse();

function countReports(
  metrics: Metrics,
  { before, now, keys }: { readonly before: Board; readonly now: Board; readonly keys: readonly string[] },
): void {
  for (const key of keys) {
    const report = now.reports.get(key);
    if (report !== undefined) metrics.reported(report, before.reports.get(key));
  }
}

function countPlan(metrics: Metrics, { orders, now }: Done, commits: readonly PlannedCommit[]): void {
  for (const order of orders) metrics.ordered(order);
  for (const { commit } of commits) metrics.committed(now - commit.time);
  const again = orders.filter((order) => order.reasons.some(({ code }) => code === 'BaseUnavailable'));
  if (again.length > 0) metrics.resynced(again.length);
}

function publishRows(
  events: EventLog,
  view: View,
  { keys, at }: { keys: readonly string[]; at: number },
): void {
  for (const key of keys) {
    const row = view.rows[view.index.get(key) ?? -1];
    if (row !== undefined) events.publish(placementEvent(row, at));
  }
}

/** Clusters that a manifest names, and those of which orders are left. */
function clusterViews({ done }: State, book: Book): readonly ClusterView[] {
  const declared = (done?.resolution.clusters ?? []).map(
    ({ name, labels, offlineAfterMs, policy }): ClusterView => ({
      name,
      labels,
      declared: true,
      offlineAfterMs,
      maxConcurrentRuns: policy.maxConcurrentRuns,
      ...(policy.suspend === undefined
        ? {}
        : { suspended: policy.suspend as ClusterView['suspended'] & object }),
    }),
  );
  const names = new Set(declared.map((cluster) => cluster.name));
  const left = book.clusters
    .filter((name) => !names.has(name))
    .map((name): ClusterView => ({
      name,
      labels: {},
      declared: false,
      offlineAfterMs: limits.offlineAfterMs,
    }));
  return [...declared, ...left].sort((a, b) => (a.name < b.name ? -1 : 1));
}
