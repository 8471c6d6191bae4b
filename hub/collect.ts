/**
 * Keeps the board: follows the state stream of every known cluster and hears the agents' beats. After a lost connection
 * or stream everything is read again from the start; the fold makes that cost nothing.
 */
import pLimit, { type LimitFunction } from 'p-limit';
import type { Log } from '../shared/log.ts';
import type { Jets, NatsConnection, StoredMessage } from '../shared/nats.ts';
import { accountOfCall, hubSubjects } from '../shared/subjects.ts';
import type { Report } from '../shared/wire.ts';
import { EMPTY_BOARD, foldBeat, foldReports, forgetCluster, listening, type Board } from './board.ts';
import { makeGatherer, type Gatherer } from './gather.ts';
import { readBeat, readReport, type Dropped } from './intake.ts';
import type { ClusterAccount } from './records.ts';
import { followState } from './statefollow.ts';

export interface BoardChange {
  /** Placements that stand differently now, by key. */
  readonly reports: readonly string[];
  /** Clusters whose agent was heard; `all`: the broker was lost or found again, or clusters came or went. */
  readonly clusters: readonly string[] | 'all';
}

export interface CollectOptions {
  readonly connection: NatsConnection;
  readonly jets: Jets;
  /** The hub's clock, ms. */
  readonly now: () => number;
  readonly log: Log;
  /** The board or its gap is another one now. Must not throw. */
  readonly onChange: (change: BoardChange) => void;
  /** A state stream is not there, or cannot be read: said once, until it was read again. */
  readonly onLost: (cluster: string) => void;
  /** A message was left out. */
  readonly onDrop: (dropped: Dropped) => void;
}

export interface Collector {
  readonly board: Board;
  /** What keeps the board from being complete, for people; undefined when every state stream was read to its end. */
  readonly gap: string | undefined;
  /** All clusters that there are now; those that are gone leave the board. */
  setClusters(clusters: readonly ClusterAccount[]): void;
  close(): Promise<void>;
}

/** Reports are folded in groups of so many ms: each fold copies the board's index once. */
const FOLD_MS = 20;
/** Streams that are opened at once. */
const OPENINGS = 32;

interface Followed extends ClusterAccount {
  readonly stop: AbortController;
  complete: boolean;
  /** Why it was lost last, since it was complete; said once. */
  lost?: string | undefined;
  done: Promise<void>;
}

interface Collecting extends CollectOptions {
  closed: boolean;
  board: Board;
  /** Aborted when everything has to be read again. */
  session: AbortController;
  /** By account. */
  readonly followed: Map<string, Followed>;
  readonly openings: LimitFunction;
  readonly reports: Gatherer<Report>;
}

/** Starts to listen. The collector owns its subscriptions and timers until it is closed. */
export function startCollector(options: CollectOptions): Collector {
  const { connection, now, onChange } = options;
  const state: Collecting = {
    ...options,
    closed: false,
    board: listening(EMPTY_BOARD, now()),
    session: new AbortController(),
    followed: new Map(),
    openings: pLimit(OPENINGS),
    reports: makeGatherer<Report>(FOLD_MS, (gathered) => {
      const folded = foldReports(state.board, gathered);
      state.board = folded.board;
      if (folded.changed.length > 0) onChange({ reports: folded.changed, clusters: [] });
    }),
  };
  const beats = connection.subscribe(hubSubjects.beats, {
    callback: (error, message) => {
      if (error === null) takeBeat(state, message);
    },
  });
  void watchConnection(state);
  return {
    get board() {
      return state.board;
    },
    get gap() {
      return gapOf(state);
    },
    setClusters: (clusters) => setClusters(state, clusters),
    close: async () => {
      state.closed = true;
      beats.unsubscribe();
      const all = [...state.followed.values()];
      for (const one of all) one.stop.abort();
      await Promise.all(all.map((one) => one.done));
      state.reports.close();
    },
  };
}

function takeBeat(state: Collecting, message: Pick<StoredMessage, 'subject' | 'data'>): void {
  const cluster = state.followed.get(accountOfCall(message.subject))?.cluster;
  const intake = readBeat(message, cluster);
  if (intake.kind === 'dropped') return state.onDrop(intake);
  if (cluster === undefined) return;
  state.board = foldBeat(state.board, cluster, { beat: intake.message, heardAt: state.now() });
  state.onChange({ reports: [], clusters: [cluster] });
}

function setClusters(state: Collecting, clusters: readonly ClusterAccount[]): void {
  state.reports.flush();
  const wanted = new Map(clusters.map((one) => [one.account, one]));
  const gone = [...state.followed.values()].filter((one) => wanted.get(one.account)?.cluster !== one.cluster);
  const come = [...wanted.values()].filter(
    (one) => !state.followed.has(one.account) || gone.some(({ account }) => account === one.account),
  );
  for (const one of gone) {
    one.stop.abort();
    state.followed.delete(one.account);
    state.board = forgetCluster(state.board, one.cluster);
  }
  for (const one of come) follow(state, one);
  if (gone.length + come.length > 0) state.onChange({ reports: [], clusters: 'all' });
}

function follow(state: Collecting, { cluster, account }: ClusterAccount): void {
  const one: Followed = {
    cluster,
    account,
    stop: new AbortController(),
    complete: false,
    done: Promise.resolve(),
  };
  state.followed.set(account, one);
  one.done = followState({
    jets: state.jets,
    account,
    openings: state.openings,
    signal: one.stop.signal,
    session: () => state.session.signal,
    onMessage: (message) => {
      const intake = readReport(message, cluster);
      if (intake.kind === 'taken') state.reports.add(intake.message);
      else state.onDrop(intake);
    },
    onRead: (complete) => {
      if (one.complete === complete || one.stop.signal.aborted) return;
      state.reports.flush();
      one.complete = complete;
      if (complete) one.lost = undefined;
      state.onChange({ reports: [], clusters: [cluster] });
    },
    onLost: (cause) => {
      if (one.lost === cause) return;
      one.lost = cause;
      state.log.warn({ cluster }, `the state of a cluster is read again: ${cause}`);
      state.onLost(cluster);
    },
  });
}

/** While the broker is away, silence says nothing about agents; when it is back, its streams may be other ones. */
async function watchConnection(state: Collecting): Promise<void> {
  for await (const { type } of state.connection.status()) {
    if (state.closed) return;
    if (type === 'disconnect') {
      state.board = listening(state.board, undefined);
      for (const one of state.followed.values()) one.complete = false;
      state.onChange({ reports: [], clusters: 'all' });
    }
    if (type === 'reconnect') {
      state.board = listening(state.board, state.now());
      state.session.abort();
      state.session = new AbortController();
      state.onChange({ reports: [], clusters: 'all' });
    }
  }
}

function gapOf({ board, followed }: Collecting): string | undefined {
  if (board.listeningSince === undefined) return 'the broker cannot be reached';
  const unread = [...followed.values()].filter((one) => !one.complete).map((one) => one.cluster);
  if (unread.length === 0) return undefined;
  const more = unread.length > 3 ? ` and ${unread.length - 3} more` : '';
  return `the reports of ${unread.slice(0, 3).join(', ')}${more} were not read to their end`;
}
