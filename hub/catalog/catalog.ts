/** All manifests of the watched repositories at one commit each, parsed and validated. Types only. */
import type { ReasonCode } from '../../shared/outcome.ts';
import type { StackRef } from '../../shared/subjects.ts';
import type { Json } from '../../shared/wire.ts';
import type { ClusterSpec } from '../../crds/cluster.ts';
import type { DefaultsSpec } from '../../crds/defaults.ts';
import type { FleetSpec } from '../../crds/fleet.ts';
import type { RemovalSpec } from '../../crds/removal.ts';
import type { StackSpec } from '../../crds/stack.ts';
import type { Trust } from '../git/source.ts';

/** Where a document stands; the line is that of the document's or the field's first character, from 1. */
export interface Origin {
  readonly repository: string;
  readonly path: string;
  readonly line: number;
}

/** A file that may hold manifests, or a project file. */
export interface CatalogFile {
  readonly repository: string;
  readonly trust: Trust;
  readonly path: string;
  readonly content: Buffer;
  /** Bytes of a file that is too large to be read; `content` is then empty. */
  readonly oversized?: number;
}

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly code: ReasonCode;
  readonly origin: Origin;
  /** The document, where its name could be read. */
  readonly identity?: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** What is wrong, and what to do about it. */
  readonly text: string;
}

/** A document of a kind, with its checked spec. */
export interface Manifest<Spec> {
  readonly origin: Origin;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Without the fields that are null; see `written`. */
  readonly spec: Spec;
  /** The spec as the document has it: a null takes away what a farther layer says. */
  readonly written: Json;
  /** Line of a field of the spec, by its first two steps joined by a dot (`pulumiStack`, `config.web:replicas`). */
  readonly lines: Readonly<Record<string, number>>;
}

export interface StackManifest extends Manifest<StackSpec> {
  readonly namespace: string;
}
export type ClusterManifest = Manifest<ClusterSpec>;
export type DefaultsManifest = Manifest<DefaultsSpec>;
export type FleetManifest = Manifest<FleetSpec>;
export type RemovalManifest = Manifest<RemovalSpec>;

/** A Pulumi.yaml: enough of it to know its stacks' full names and which files belong to it. */
export interface ProjectFile {
  readonly repository: string;
  /** Folder of the project file from the repository's root; `.` is the root. */
  readonly folder: string;
  /** `Pulumi.yaml`, `Pulumi.yml` or `Pulumi.json`. */
  readonly file: string;
  readonly name: string;
  readonly runtime: string;
  readonly backendUrl?: string;
  /** From the project folder. */
  readonly stackConfigDir?: string;
}

/** A file in which at least one document could not be read. */
export interface Unreadable {
  readonly file: Origin;
  readonly problem: Problem;
  /** Kinds that its text speaks of, so that what only may be in it is taken into account. */
  readonly mentions: readonly string[];
}

export interface Catalog {
  readonly stacks: readonly StackManifest[];
  readonly clusters: readonly ClusterManifest[];
  readonly defaults: readonly DefaultsManifest[];
  readonly fleet?: FleetManifest;
  readonly removals: readonly RemovalManifest[];
  readonly problems: readonly Problem[];
  /** Stacks whose document is there but refused: their order in force stays. */
  readonly refusedStacks: readonly { readonly stack: StackRef; readonly problem: Problem }[];
  /** Files in which at least one document could not be read: what they defined stays in force. */
  readonly unreadable: readonly Unreadable[];
  /** Clusters whose document is there but refused: they still exist. */
  readonly refusedClusters: readonly { readonly name: string; readonly problem: Problem }[];
  /** Defaults that are there but refused: the stacks of their folder and below cannot be resolved without them. */
  readonly refusedDefaults: readonly { readonly origin: Origin; readonly problem: Problem }[];
  /** The Fleet's document, or one that reads like it, is refused: whether anything may start is not known. */
  readonly refusedFleet?: Problem;
  /** Files with Towline documents, by repository and path: `only` those, or `mixed` with others. */
  readonly documents: ReadonlyMap<string, ReadonlyMap<string, 'only' | 'mixed'>>;
  /** By `repository:folder`. */
  readonly projects: ReadonlyMap<string, ProjectFile>;
  /** Project files that cannot be read, by `repository:folder`. */
  readonly refusedProjects: ReadonlyMap<string, Problem>;
}
