/** Builds the hub's parts, hands them to its loops and owns them until it is closed. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../shared/log.ts';
import { connectBroker, jetsOf, type Jets, type NatsConnection } from '../shared/nats.ts';
import { token } from '../shared/subjects.ts';
import { makeBook, type Book } from './book.ts';
import { startCollector, type BoardChange, type Collector } from './collect.ts';
import { makeCollection } from './collection.ts';
import { edgesOf } from './edges.ts';
import type { Quota } from './git/folder.ts';
import type { HostLimits } from './git/budget.ts';
import { makeSources } from './git/poller.ts';
import type { RepositorySettings, Sources } from './git/source.ts';
import { answerHellos, type Hellos } from './hello.ts';
import { keepLease, type Lease } from './lease.ts';
import { runLoop, type Loop } from './loop.ts';
import type { Metrics } from './metrics.ts';
import { makeModel, type Model } from './model.ts';
import { makeNews } from './news.ts';
import { freshMemory, pass, type PollEdges } from './poll.ts';
import { openStore, type Store } from './store.ts';
import { isDrained } from './streams.ts';

export interface HubOptions {
  readonly dataDir: string;
  readonly repositories: readonly RepositorySettings[];
  /** How much each Git host may be asked. */
  readonly perHost?: HostLimits;
  readonly servers: readonly string[];
  /** What mirrors may take; default: as the limits say. */
  readonly quota?: Quota;
  /** Of the hub's nkey. */
  readonly seed: string;
  /** Artifacts are sealed with it. */
  readonly secret: Uint8Array;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called between the steps of a pass; tests stop the process there. */
  readonly at: (step: string) => void;
}

export interface Hub {
  readonly model: Model;
  /** Resolves when the broker cannot be reached by this process any more: it must end, so that another one is started. */
  readonly lost: Promise<void>;
  /** Lets go of the lease and ends everything; work of agents goes on. */
  close(): Promise<void>;
}

/** What there is before anything moves. */
interface Base {
  readonly options: HubOptions;
  readonly log: Log;
  /** Of the data folder: the same after a restart. */
  readonly id: string;
  readonly store: Store;
  readonly connection: NatsConnection;
  readonly jets: Jets;
  readonly book: Book;
  readonly model: Model;
  readonly stop: AbortController;
  /** Starts a pass; nothing happens before the loop runs. */
  wake(dirty: boolean): void;
  /** What was read of the broker may not hold any more: it is read again, now. */
  readAgain(): void;
}

/** Starts polling, planning and answering. Rejects when the data folder is in use or the settings of Git are wrong. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { log } = options;
  const store = await claimStore(options);
  const connection = await dial(options);
  const jets = await jetsOf(connection);
  const book = makeBook(jets);
  const model = makeModel({
    store,
    jets,
    book,
    metrics: options.metrics,
    news: makeNews(log),
    clock: Date.now,
  });
  const stop = new AbortController();
  const passes: { loop?: Loop } = {};
  const wake = (dirty: boolean): void => passes.loop?.wake(dirty);
  const readAgain = (): void => {
    book.invalidate();
    wake(true);
  };
  const id = await identityOf(options.dataDir);
  const base: Base = { options, log, id, store, connection, jets, book, model, stop, wake, readAgain };

  const sources = await openSources(base);
  const collector = collect(base);
  const lease = lead(base);
  const hellos = listenForHellos(base, { collector, leads: (now) => lease.leads(now) });
  const { secret, at } = options;
  const leads = (): boolean => lease.leads(Date.now());
  const edges = edgesOf({ store, jets, book, sources, collector, hellos, model, leads, secret, at });
  const collection = makeCollection({ jets, book, board: () => collector.board, log });
  const loop = runPasses(base, edges, collection);
  passes.loop = loop;
  const connected = watchConnection(base);

  const close = async (): Promise<void> => {
    stop.abort();
    await Promise.all([loop.done, lease.done]);
    await lease.release().catch((error: unknown) => log.warn({ err: error }, 'the lease ends by itself'));
    await Promise.all([hellos.close(), collector.close(), sources.close()]);
    await store.close();
    await connection.close();
    await connected;
  };
  const lost = Promise.withResolvers<void>();
  void connection.closed().then(() => {
    if (!stop.signal.aborted) lost.resolve();
  });
  return { model, lost: lost.promise, close };
}

async function claimStore({ dataDir, log }: HubOptions): Promise<Store> {
  const opened = await openStore(join(dataDir, 'store'), log);
  if (opened.kind === 'taken')
    throw new Error(`the data folder ${dataDir} is in use by process ${opened.pid}`);
  return opened.store;
}

/** A new folder gets a new identity, which is only a wait for the lease of the old one. */
async function identityOf(dataDir: string): Promise<string> {
  const file = join(dataDir, 'id');
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known !== '') return known;
  const made = randomUUID();
  await writeFile(file, made);
  return made;
}

const dial = ({ servers, seed }: HubOptions): Promise<NatsConnection> =>
  connectBroker({ servers, seed: () => new TextEncoder().encode(seed), name: 'towline hub' });

const openSources = ({ options, wake }: Base): Promise<Sources> =>
  makeSources({
    repositories: options.repositories,
    folder: join(options.dataDir, 'git'),
    git: { program: 'git', environment: options.environment },
    onHint: () => wake(false),
    ...(options.quota === undefined ? {} : { quota: options.quota }),
    ...(options.perHost === undefined ? {} : { perHost: options.perHost }),
  });

/** A board that became complete, and a report that asks for its order, start a pass; beats and other reports do not. */
function collect({ connection, jets, log, model, book, wake, readAgain }: Base): Collector {
  let wasComplete = false;
  const onChange = (change: BoardChange): void => {
    model.onBoard(collector.board, change);
    const complete = collector.gap === undefined;
    const refused = sawOlder(collector, change.reports);
    if (refused) book.invalidate();
    if (complete !== wasComplete || refused || asksForOrder(collector, book, change.reports)) wake(true);
    wasComplete = complete;
  };
  const onDrop: Model['onDrop'] = (dropped) => {
    log.warn({ cause: dropped.cause, subject: dropped.subject }, `message left out: ${dropped.error}`);
    model.onDrop(dropped);
  };
  // who took it away may have taken the cluster's other streams as well: a load makes what is missing, or forgets it
  const onLost = readAgain;
  const collector = startCollector({ connection, jets, now: Date.now, log, onChange, onLost, onDrop });
  return collector;
}

/** Whether one of these reports asks for its order again: it names a newer generation, or lacks the artifact. */
const asksForOrder = (collector: Collector, book: Book, keys: readonly string[]): boolean =>
  keys.some((key) => {
    const report = collector.board.reports.get(key);
    const order = book.inForce.get(key);
    if (report === undefined || order === undefined) return false;
    return report.gen > order.gen || report.reason.code === 'ArtifactUnavailable';
  });

/** Whether an agent refused an older order: then its stream holds one, whoever wrote it. */
const sawOlder = ({ board }: Collector, keys: readonly string[]): boolean =>
  keys.some((key) => board.reports.get(key)?.stale !== undefined);

/** Whoever led before may have written: what was read is read again. */
function lead({ jets, id, log, stop, readAgain }: Base): Lease & { readonly done: Promise<void> } {
  const onLead = (): void => {
    log.info('this hub leads');
    readAgain();
  };
  return keepLease({ js: jets.js, id, log, clock: Date.now, onLead }, stop.signal);
}

function runPasses(
  { log, book, model, stop }: Base,
  edges: PollEdges,
  collectUnused: (now: number) => Promise<void>,
): Loop {
  const memory = freshMemory();
  const onError = (error: unknown): void => {
    log.error({ err: error }, 'the pass failed; everything is read again');
    book.invalidate();
  };
  const once = async (run: { readonly now: number; readonly dirty: boolean }): ReturnType<typeof pass> => {
    const begun = performance.now();
    const end = await pass(edges, memory, run);
    model.onPass(end, run.now, performance.now() - begun);
    if (edges.leads()) await collectUnused(run.now);
    return end;
  };
  return runLoop({ pass: once, nextDue: () => edges.nextDue(), onError, clock: Date.now }, stop.signal);
}

/** A broker that comes back may be another one, or an older copy of itself. */
async function watchConnection({ connection, readAgain }: Base): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') readAgain();
}

interface Asking {
  readonly collector: Collector;
  readonly leads: (now: number) => boolean;
}

function listenForHellos(base: Base, { collector, leads }: Asking): Hellos {
  const { book, jets, connection, log, wake, readAgain } = base;
  // the order stream or its consumer was taken away: a load makes them anew, and the agent says hello again
  const lost = (error: unknown): never => {
    readAgain();
    throw error;
  };
  return answerHellos({
    connection,
    log,
    leads,
    clock: Date.now,
    onAsked: () => wake(true),
    contextOf: async (account) => {
      if (!book.loaded || collector.gap !== undefined) return undefined;
      const cluster = book.clusters.find((name) => token(name) === account);
      if (cluster === undefined) return undefined;
      const orders = [...book.inForce.values()].filter((order) => order.cluster === cluster);
      const reports = [...collector.board.reports.values()].filter((report) => report.cluster === cluster);
      const drained = await isDrained(jets, account).catch(lost);
      return { cluster, orders, reports, term: book.term, drained };
    },
  });
}
