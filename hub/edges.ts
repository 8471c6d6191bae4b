/** What a pass needs of the world, made of the hub's parts. */
import type { Jets } from '../shared/nats.ts';
import { token } from '../shared/subjects.ts';
import { buildArtifact } from './artifact.ts';
import type { Board } from './board.ts';
import type { Book } from './book.ts';
import type { Catalog } from './catalog/catalog.ts';
import { makeGather } from './catalog/files.ts';
import { readCatalog } from './catalog/read.ts';
import type { Collector } from './collect.ts';
import type { Sources, SourceView, Tree } from './git/source.ts';
import type { Hellos } from './hello.ts';
import { makeMeasure } from './measure.ts';
import type { Model } from './model.ts';
import { placementKey } from './placement.ts';
import type { PollEdges, Seen } from './poll.ts';
import { remember } from './remember.ts';
import type { Store } from './store.ts';
import { withEquals, type Commit, type Commits } from './upgrade.ts';
import { missingArtifacts, uploadArtifact } from './upload.ts';

export interface Parts {
  readonly store: Store;
  readonly jets: Jets;
  readonly book: Book;
  /** Seals artifacts. */
  readonly secret: Uint8Array;
  /** Called between steps. */
  readonly at: (step: string) => void;
  readonly sources: Sources;
  readonly collector: Collector;
  readonly hellos: Hellos;
  readonly model: Model;
  /** At this moment. */
  readonly leads: () => boolean;
}

/** The world as a pass sees it. */
export function edgesOf(parts: Parts): PollEdges {
  const { store, jets, book, sources, collector, hellos, model, leads } = parts;
  const measure = makeMeasure();
  return {
    refresh: (now) => sources.refresh(now),
    want: (asked) => sources.want(asked),
    nextDue: () => sources.nextDue(),
    observe: (views) => model.onSources(views),
    leads,
    boardGap: () => collector.gap,
    follow: (clusters) =>
      collector.setClusters(clusters.map((cluster) => ({ cluster, account: token(cluster) }))),
    gather: makeGather(),
    measure: (placements, catalog, trees) => measure.all(placements, catalog, trees),
    withEquals: (wanted, seen) => withEquals(wanted, book.inForce, commitsOf(seen, sources)),
    book,
    missingArtifacts: (all) => lackingArtifact(jets, book, all ? undefined : collector.board),
    build: (tree, wanted, files) => buildArtifact(measure.blobsOf(tree, wanted), files, parts.secret),
    upload: (sealed) => uploadArtifact(jets, sealed),
    asked: () => {
      const { seenGen, republish } = hellos.asked();
      return { seenGen: highest(seenGen, collector), republish };
    },
    knownFiles: (key, inputDigest) => store.knownFiles(key, inputDigest),
    history: () => store.history,
    remember: (done) => {
      remember(store, done);
      hellos.settle(done.orders.map(placementKey));
      model.onDone(done);
    },
    show: (seen) => model.onDone(seen),
    at: parts.at,
  };
}

/** The commits that orders name: the newest ones as the pass has read them, older ones as they are still to be had. */
function commitsOf({ views, catalog }: Seen, sources: Pick<Sources, 'older'>): Commits {
  const viewOf = (repository: string): SourceView | undefined =>
    views.find(({ name }) => name === repository);
  const partsOf = (read: Catalog, tree: Tree): Commit => ({
    tree,
    projects: read.projects,
    documents: read.documents.get(tree.repository) ?? new Map(),
  });
  const newest = (repository: string): Commit | undefined => {
    const tree = viewOf(repository)?.tree;
    return tree === undefined ? undefined : partsOf(catalog, tree);
  };
  return {
    newest,
    async older(repository, commit) {
      const view = viewOf(repository);
      if (view?.tree?.commit.id === commit) return newest(repository);
      const tree = view === undefined ? undefined : await sources.older(repository, commit);
      if (view === undefined || tree === undefined || 'kind' in tree) return undefined;
      const { files, broken } = await makeGather()([{ ...view, tree }]);
      return broken.size > 0 ? undefined : partsOf(readCatalog(files, 0), tree);
    },
  };
}

/** Placements whose artifact is not on the broker: looked for among all, or among those whose agent says so. */
async function lackingArtifact(jets: Jets, book: Book, board: Board | undefined): Promise<readonly string[]> {
  const asked = [...book.inForce].filter(
    ([key, order]) =>
      order.action !== 'forget' &&
      (board === undefined || board.reports.get(key)?.reason.code === 'ArtifactUnavailable'),
  );
  const missing = await missingArtifacts(
    jets,
    asked.map(([, order]) => order.artifact),
  );
  return asked.filter(([, order]) => missing.has(order.artifact.name)).map(([key]) => key);
}

/** The highest generation of each placement that its agent named in a report or a hello. */
function highest(seen: ReadonlyMap<string, number>, { board }: Collector): ReadonlyMap<string, number> {
  const gens = new Map(seen);
  for (const [key, report] of board.reports) gens.set(key, Math.max(report.gen, gens.get(key) ?? 0));
  return gens;
}
