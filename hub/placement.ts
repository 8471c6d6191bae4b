/** A stack on a cluster, resolved: what the later stages of a pass hand on. Types and keys only. */
import type { Reason } from '../shared/outcome.ts';
import type { StackRef } from '../shared/subjects.ts';
import type { ClusterPolicy, Order, RunInputs, RunPolicy } from '../shared/wire.ts';
import type { Origin, Problem } from './catalog/catalog.ts';
import type { AskedSource, LargeFile, TreeEntry } from './git/source.ts';
import type { MadeFile } from './inputs/infer.ts';

export interface PlacementId {
  readonly cluster: string;
  readonly stack: StackRef;
}

/** `cluster/namespace/name`, unique in the fleet and the key of every map of placements. */
export const placementKey = (id: PlacementId): string =>
  `${id.cluster}/${id.stack.namespace}/${id.stack.name}`;

/** The cluster of such a key. */
export const clusterOfKey = (key: string): string => key.slice(0, key.indexOf('/'));

export interface Placement extends PlacementId {
  readonly origin: Origin;
  readonly source: {
    /** Repository by name. */
    readonly repository: string;
    /** Folder of Pulumi.yaml from the repository's root; `.` is the root. */
    readonly project: string;
    /** Patterns in gitignore syntax, relative to the project folder; a leading `/` is the repository's root. */
    readonly include: readonly string[];
    /** Whether what the program names itself is looked for. */
    readonly inferInputs: boolean;
    /** The artifact is the whole tree; the inputs, and with them the digest, are the same. */
    readonly hermetic?: false;
  };
  readonly inputs: RunInputs;
  readonly policy: RunPolicy;
  /** One owner in the fleet: normalised backend, full Pulumi stack name, with a cluster-scoped backend also the cluster. */
  readonly claim: string;
  /** Nothing new may start; says why and until when. */
  readonly suspended?: Reason;
  readonly runRequest?: string;
  /** The claim that it is meant to leave for this one. */
  readonly leaves?: string;
}

/** A placement, or (without a cluster) a whole stack, that cannot be planned; its order in force stays. */
export interface Refused {
  readonly stack: StackRef;
  readonly cluster?: string;
  readonly origin: Origin;
  readonly reason: Reason;
}

/** A cluster with its defaults filled in. */
export interface ResolvedCluster {
  readonly name: string;
  /** With the suspension of the cluster and of the whole fleet. */
  readonly policy: ClusterPolicy;
  readonly environment?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The keys that are valid now. */
  readonly publicKeys: readonly string[];
  readonly offlineAfterMs: number;
  readonly origin: Origin;
}

/** Everything that the catalog asks for, in a fixed order. */
export interface Resolution {
  readonly placements: readonly Placement[];
  /** Also the stacks that the catalog refused. */
  readonly refused: readonly Refused[];
  readonly warnings: readonly Problem[];
  readonly clusters: readonly ResolvedCluster[];
  /** Refs of repositories, besides their own, at which stacks have their programs. */
  readonly asked: readonly AskedSource[];
  /** A document that decides about everything cannot be read: nothing new may start. */
  readonly frozen?: Reason;
}

/** Whether an order means the inputs that are wanted, under this version of the digest or an older one. */
export const sameInputs = (wanted: Wanted, order: Pick<Order, 'inputDigest'>): boolean =>
  order.inputDigest === wanted.inputDigest || wanted.equals?.includes(order.inputDigest) === true;

/** A placement with its files and digests. */
export interface Wanted {
  readonly placement: Placement;
  /** `v2:` and 64 hex digits. */
  readonly inputDigest: string;
  /** Digests of older versions that mean the same inputs. */
  readonly equals?: readonly string[];
  readonly policyDigest: string;
  readonly files: readonly TreeEntry[];
  /** Those of the files whose content no commit has, by object id. */
  readonly made: ReadonlyMap<string, MadeFile>;
  /** Those of the files whose content Git LFS keeps, by its sha256, which is their object id here. */
  readonly large: ReadonlyMap<string, LargeFile>;
}
