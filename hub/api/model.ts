/** What the API reads. Types only: the composition root fills it. */
import type { LogChunk, RunRecord } from '../../shared/wire.ts';
import type { Board } from '../board.ts';
import type { Problem } from '../catalog/catalog.ts';
import type { SourceView } from '../git/source.ts';
import type { History } from '../history.ts';
import type { PlacementId } from '../placement.ts';
import type { View } from '../view.ts';
import type { EventLog } from './events.ts';

/** A cluster that a manifest names, or of which orders or reports are left. */
export interface ClusterView {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** A manifest names it. */
  readonly declared: boolean;
  readonly offlineAfterMs: number;
  readonly maxConcurrentRuns?: number;
  readonly suspended?: { readonly reason: string; readonly until?: number };
}

export interface ReadModel {
  /** ms. */
  now(): number;
  /** Another object whenever a row changed. */
  view(): View;
  board(): Board;
  /** Sorted by name. */
  clusters(): readonly ClusterView[];
  history(): History;
  sources(): readonly SourceView[];
  /** Of the catalog of the newest commits. */
  problems(): readonly Problem[];
  readonly events: EventLog;
  /** Finished runs, newest first. Rejects when the broker does not answer. */
  runs(id: PlacementId): Promise<readonly RunRecord[]>;
  /** Output of a run; ends when aborted. Rejects when the broker does not answer. */
  log(cluster: string, wish: LogRequest): AsyncIterable<LogChunk>;
  /** What keeps the hub from answering for the whole fleet, for people; undefined when it does. */
  notReady(): string | undefined;
  /** What is stuck and will not recover without a restart; undefined when all is well. */
  unhealthy(): string | undefined;
}

export interface LogRequest {
  readonly run: string;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}
