/** The clusters as the rest of resolving needs them, and what is suspended fleet-wide. */
import { durationMs } from '../../crds/fields.ts';
import type { Catalog, ClusterManifest, Problem } from '../catalog/catalog.ts';
import type { ResolvedCluster } from '../placement.ts';
import { printOrigin } from '../problem.ts';
import { POLICY_DEFAULTS } from './policy.ts';
import type { Candidates } from './select.ts';
import { suspendPolicy, suspensionOf } from './suspension.ts';
import type { Suspension } from './suspension.ts';

/** A cluster with what only resolving needs. */
export interface Target {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
  /** Of the cluster and of the fleet. */
  readonly suspensions: readonly Suspension[];
  readonly resolved: ResolvedCluster;
}

/** The clusters of a catalog, by name. */
export function candidatesOf(catalog: Catalog, now: number): Candidates<Target> {
  const { fleet } = catalog;
  const everywhere =
    fleet === undefined
      ? []
      : suspensionOf(
          fleet.spec.suspend,
          { who: `Fleet ${fleet.name}`, where: printOrigin(fleet.origin) },
          now,
        );
  const clusters = catalog.clusters
    .map((manifest) => targetOf(manifest, everywhere, now))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const refused = new Map(
    catalog.refusedClusters.map(({ name, problem }) => [name, refusedText(name, problem)] as const),
  );
  const unclear = catalog.unreadable.find(({ mentions }) => mentions.includes('Cluster'));
  return {
    clusters,
    refused,
    ...(unclear && {
      uncertain: `${printOrigin(unclear.file)} cannot be read, so how many clusters there are is not known: name them`,
    }),
  };
}

const refusedText = (name: string, { origin, text }: Problem): string =>
  `Cluster ${name} is refused (${printOrigin(origin)}: ${text})`;

function targetOf(manifest: ClusterManifest, everywhere: readonly Suspension[], now: number): Target {
  const { name, labels, spec, origin } = manifest;
  const own = suspensionOf(spec.suspend, { who: `Cluster ${name}`, where: printOrigin(origin) }, now);
  const suspensions = [...everywhere, ...own];
  const suspend = suspendPolicy(suspensions);
  const resolved: ResolvedCluster = {
    name,
    policy: {
      maxConcurrentRuns: spec.maxConcurrentRuns ?? POLICY_DEFAULTS.maxConcurrentRuns,
      ...(suspend && { suspend }),
    },
    ...(spec.environment === undefined ? {} : { environment: spec.environment }),
    labels,
    publicKeys: (spec.publicKeys ?? [])
      .filter(({ notAfter }) => notAfter === undefined || Date.parse(notAfter) > now)
      .map(({ key }) => key),
    offlineAfterMs:
      spec.offlineAfter === undefined ? POLICY_DEFAULTS.offlineAfterMs : durationMs(spec.offlineAfter),
    origin,
  };
  return { name, labels, vars: spec.vars ?? {}, suspensions, resolved };
}
