/** What of a survey the plan is made of. Pure. */
import type { Absence } from './absence.ts';
import type { Catalog, Problem } from './catalog/catalog.ts';
import type { Gate } from './gate.ts';
import type { SourceView } from './git/source.ts';
import type { Refused, Resolution, Wanted } from './placement.ts';
import { reasonOf } from './problem.ts';

/** What became of the placements that are asked for. */
export interface Measured {
  readonly wanted: readonly Wanted[];
  readonly refused: readonly Refused[];
  /** What is probably not meant, with file and line. */
  readonly warnings: readonly Problem[];
}

/** What one look at all repositories brought. */
export interface Surveyed {
  readonly views: readonly SourceView[];
  readonly gate: Gate & { readonly kind: 'open' };
  readonly catalog: Catalog;
  readonly resolution: Resolution;
  readonly measured: Measured;
  /** ms. */
  readonly now: number;
}

/** What decides about placements that have an order and are not asked for. */
export const absenceOf = ({ views, gate, catalog, resolution, measured, now }: Surveyed): Absence => ({
  refused: [...resolution.refused, ...measured.refused],
  unreadable: catalog.unreadable.map(({ file, problem, mentions }) => ({
    file,
    text: reasonOf(problem).text,
    mentions,
  })),
  clusters: new Set(resolution.clusters.map(({ name }) => name)),
  refusedClusters: new Map(
    catalog.refusedClusters.map(({ name, problem }) => [name, reasonOf(problem).text]),
  ),
  unread: new Map([...gate.unread].filter(([name]) => mayHoldManifests(views, name))),
  repositories: new Set([...gate.trees.keys(), ...gate.unread.keys()]),
  fleetRepositories: new Set(views.filter(({ trust }) => trust === 'fleet').map(({ name }) => name)),
  removals: catalog.removals,
  ...(resolution.frozen === undefined ? {} : { frozen: resolution.frozen }),
  now,
});

/** Programs at a ref of their own bring no manifests. */
const mayHoldManifests = (views: readonly SourceView[], name: string): boolean =>
  views.some((view) => view.name === name && view.of === undefined);
