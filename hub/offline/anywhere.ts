/**
 * Stacks of a repository that describes no cluster: each is placed once, on a cluster that stands for all those that
 * it may run on. What differs from cluster to cluster is not told apart.
 */
import type { Json } from '../../shared/wire.ts';
import type { Catalog, ClusterManifest } from '../catalog/catalog.ts';
import { isFields } from '../fields.ts';
import type { Resolution } from '../placement.ts';

/** Its name within; names of people's clusters have no dot at the end. */
const ANY = 'any.cluster';

/** How people see it. */
export const shownCluster = (cluster: string): string => (cluster === ANY ? '*' : cluster);

/** The catalog with that cluster, on which every stack runs. */
export function withAnyCluster(catalog: Catalog): Catalog {
  return {
    ...catalog,
    clusters: [anyCluster(catalog)],
    stacks: catalog.stacks.map((stack) => ({ ...stack, written: everywhere(stack.written) })),
    defaults: catalog.defaults.map((defaults) => ({ ...defaults, written: everywhere(defaults.written) })),
  };
}

/** Namespace of what says on which cluster something holds, where it is kept to be compared. */
const KEPT = 'towline:';

/** A spec without what depends on the cluster. That is compared as a whole instead, as if the run read it. */
function everywhere(written: Json): Json {
  if (!isFields(written)) return written;
  const { clusters, overrides, config, ...fields } = written;
  const kept = Object.entries({ clusters, overrides }).flatMap(([field, value]) =>
    value === undefined ? [] : [[KEPT + field, value] as const],
  );
  if (kept.length === 0) return written;
  return { ...fields, config: { ...(isFields(config) ? config : {}), ...Object.fromEntries(kept) } };
}

/** A field as people wrote it. */
export const shownField = (path: string): string =>
  path.startsWith(`config.${KEPT}`) ? path.slice(`config.${KEPT}`.length) : path;

/** Whatever a text asks of its cluster has a value there. */
function anyCluster({ stacks, defaults }: Catalog): ClusterManifest {
  const texts = JSON.stringify([...stacks, ...defaults].map(({ written }) => written));
  const asked = [...texts.matchAll(/\{(label|var):([^{}"]+)\}/g)];
  const valuesOf = (kind: string): Record<string, string> =>
    Object.fromEntries(asked.filter(([, of]) => of === kind).map(([, , key = '']) => [key, 'any']));
  return {
    origin: { repository: '', path: '', line: 1 },
    name: ANY,
    labels: valuesOf('label'),
    annotations: {},
    spec: { vars: valuesOf('var') },
    written: {},
    lines: {},
  };
}

/** Two stacks that only look alike there may run on clusters of their own: none is in the way of another. */
export const onAnyCluster = (resolution: Resolution): Resolution => ({
  ...resolution,
  placements: resolution.placements.map(({ leaves: _leaves, ...placement }) => ({
    ...placement,
    claim: `${placement.stack.namespace}/${placement.stack.name}`,
  })),
});
