/**
 * Reports by placement key, as a value: a changed copy shares everything but the clusters that changed, so that a fleet
 * of a hundred thousand placements can take a report at the cost of its own cluster's.
 */
import type { Report } from '../shared/wire.ts';
import { clusterOfKey } from './placement.ts';

type OfCluster = ReadonlyMap<string, Report>;

/** A read-only map; changes give a new one. */
export class Reports implements ReadonlyMap<string, Report> {
  readonly #clusters: ReadonlyMap<string, OfCluster>;
  readonly size: number;

  private constructor(clusters: ReadonlyMap<string, OfCluster>) {
    this.#clusters = clusters;
    this.size = [...clusters.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** The same, where it is one already. */
  static of(reports: ReadonlyMap<string, Report>): Reports {
    return reports instanceof Reports ? reports : new Reports(new Map()).with(reports);
  }

  /** With these in place of what their keys had. */
  with(newer: ReadonlyMap<string, Report>): Reports {
    const clusters = new Map(this.#clusters);
    for (const [cluster, group] of Map.groupBy(newer, ([key]) => clusterOfKey(key)))
      clusters.set(cluster, new Map([...(clusters.get(cluster) ?? []), ...group]));
    return new Reports(clusters);
  }

  /** Without those of a cluster. */
  without(cluster: string): Reports {
    return new Reports(new Map([...this.#clusters].filter(([name]) => name !== cluster)));
  }

  get(key: string): Report | undefined {
    return this.#clusters.get(clusterOfKey(key))?.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): MapIterator<[string, Report]> {
    for (const reports of this.#clusters.values()) yield* reports;
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<Report> {
    for (const [, report] of this.entries()) yield report;
  }

  [Symbol.iterator](): MapIterator<[string, Report]> {
    return this.entries();
  }

  forEach(visit: (report: Report, key: string, map: ReadonlyMap<string, Report>) => void): void {
    for (const [key, report] of this) visit(report, key, this);
  }
}
