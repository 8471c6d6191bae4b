/** A stack's fields for some of its clusters. */
import type { ClusterSelection } from '../../crds/fields.ts';
import type { Override, StackSpec } from '../../crds/stack.ts';
import type { Json } from '../../shared/wire.ts';
import type { Fields } from '../fields.ts';
import { didYouMean } from '../nearest.ts';
import { withoutNulls } from '../nulls.ts';
import type { Target } from './fleet.ts';
import type { FieldFault } from './inputs.ts';
import { withProject } from './layers.ts';
import { mergeLayers } from './merge.ts';
import { matches, selectionFault } from './select.ts';
import type { Candidates } from './select.ts';

/** One spec of several layers. Each has passed its kind's schema, and merging keeps to it. */
export const specOf = (layers: readonly Fields[]): StackSpec => mergeLayers(layers);

/** An override as a layer still has its nulls; its selection is read without them. */
const clustersOf = ({ clusters }: Override): ClusterSelection =>
  withoutNulls(clusters as Json) as ClusterSelection;

/** Overrides that do not say for which clusters they are. */
export const overrideFaults = ({ overrides = [] }: StackSpec): FieldFault[] =>
  overrides.flatMap((override, index) => {
    const fault = selectionFault(clustersOf(override));
    return fault === undefined
      ? []
      : [{ field: `overrides.${index}`, text: `spec.overrides[${index}].${fault}` }];
  });

/** The spec with every override that matches the cluster, in order. */
export function withOverrides(spec: StackSpec, project: string, target: Target): StackSpec {
  const matching = (spec.overrides ?? []).filter((override) => matches(clustersOf(override), target));
  if (matching.length === 0) return spec;
  const layers = matching.map(
    ({ clusters: _clusters, ...fields }) => withProject(fields as Fields, project).fields,
  );
  return specOf([spec as Fields, ...layers]);
}

/** Clusters that overrides name and the fleet does not have: the field has no effect there. */
export function overrideWarnings(
  { overrides = [] }: StackSpec,
  candidates: Candidates<Target>,
): FieldFault[] {
  const names = [...candidates.clusters.map(({ name }) => name), ...candidates.refused.keys()];
  return overrides.flatMap((override, index) => {
    const clusters = clustersOf(override);
    return [...(clusters.names ?? []), ...(clusters.exclude ?? [])]
      .filter((name) => !names.includes(name))
      .map((name) => ({
        field: `overrides.${index}`,
        text: `spec.overrides[${index}].clusters names “${name}”, which no Cluster has${didYouMean(name, names)}`,
      }));
  });
}
