/** One tree, read and measured as a pass of the hub does it, without a hub: one repository that may hold everything. */
import type { Catalog } from '../catalog/catalog.ts';
import type { makeGather } from '../catalog/files.ts';
import { readCatalog } from '../catalog/read.ts';
import { gateOf, type Gate } from '../gate.ts';
import type { SourceView, Tree } from '../git/source.ts';
import type { Measure } from '../measure.ts';
import { resolve } from '../resolve.ts';
import type { Surveyed } from '../survey.ts';
import { onAnyCluster, withAnyCluster } from './anywhere.ts';

export interface Looked {
  readonly views: readonly SourceView[];
  readonly gate: Gate & { readonly kind: 'open' };
  readonly catalog: Catalog;
}

export interface LookOptions {
  /** Patterns of the files that may hold manifests; none: the hub's default. */
  readonly manifests: readonly string[];
  /** ms. */
  readonly now: number;
  /** Keeps what it read, so that a file that two trees have is parsed once. */
  readonly gather: ReturnType<typeof makeGather>;
}

/** Reads the manifests of a tree. Rejects when a file of it cannot be read: then nothing can be said. */
export async function lookAt(tree: Tree, { manifests, now, gather }: LookOptions): Promise<Looked> {
  const view: SourceView = {
    name: tree.repository,
    url: '',
    ref: tree.ref,
    trust: 'fleet',
    manifests,
    state: 'Ready',
    since: now,
    checkedAt: now,
    tree,
  };
  const { files, broken } = await gather([view]);
  const gate = gateOf([view], broken);
  if (gate.kind === 'closed') throw new Error(gate.reason);
  return { views: [view], gate, catalog: readCatalog(files, now) };
}

/** Whether the fleet's clusters are described elsewhere. */
export const hasNoClusters = ({ catalog }: Looked): boolean =>
  catalog.clusters.length === 0 && catalog.refusedClusters.length === 0;

export interface SurveyOptions {
  readonly measure: Measure;
  readonly now: number;
  /** No cluster is described: each stack counts once, for whichever clusters it runs on. */
  readonly anywhere: boolean;
}

/** Resolves and measures what the manifests ask for. */
export async function surveyOf(
  { views, gate, catalog: read }: Looked,
  { measure, now, anywhere }: SurveyOptions,
): Promise<Surveyed> {
  const catalog = anywhere ? withAnyCluster(read) : read;
  const resolved = resolve(catalog, now, { read: gate.trees, unread: gate.unread });
  const resolution = anywhere ? onAnyCluster(resolved) : resolved;
  const measured = await measure.all(resolution.placements, catalog, gate.trees);
  return { views, gate, catalog, resolution, measured, now };
}
