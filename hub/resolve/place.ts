/** A prepared stack on one cluster → a placement, or everything that keeps it from being one. */
import type { StackSpec } from '../../crds/stack.ts';
import type { ProjectFile, StackManifest } from '../catalog/catalog.ts';
import type { Placement } from '../placement.ts';
import { printOrigin } from '../problem.ts';
import { claimOf, stackName } from './backend.ts';
import type { Target } from './fleet.ts';
import type { FieldFault } from './inputs.ts';
import { inputsOf } from './inputs.ts';
import type { Layer } from './layers.ts';
import { fillText } from './placeholders.ts';
import type { Values } from './placeholders.ts';
import { policyOf } from './policy.ts';
import { suspendedReason, suspensionOf } from './suspension.ts';

/** A stack that has a project and clusters: all that its placements share. */
export interface Prepared {
  readonly manifest: StackManifest;
  /** Farthest first, the stack itself last. */
  readonly layers: readonly Layer[];
  readonly project: ProjectFile;
  /** Without overrides. */
  readonly spec: StackSpec;
}

export type Placed =
  | { readonly kind: 'placed'; readonly placement: Placement; readonly warnings: readonly FieldFault[] }
  | { readonly kind: 'refused'; readonly faults: readonly FieldFault[] };

interface Here {
  readonly target: Target;
  readonly now: number;
}

/** `spec` is the stack's with the overrides of this cluster. */
export function placeOn(prepared: Prepared, spec: StackSpec, here: Here): Placed {
  const { manifest, project } = prepared;
  const { name: cluster, labels, vars } = here.target;
  const values: Values = { cluster, namespace: manifest.namespace, name: manifest.name, labels, vars };
  const { inputs, faults } = inputsOf(spec, values);
  const backendUrl = inputs.backend?.url ?? project.backendUrl ?? '';
  const context: Context = { values, naming: { project: project.name, cluster, backendUrl } };
  const stack = nameOf('pulumiStack', spec.pulumiStack, context);
  const moved = movedFrom(spec, context);
  const all = [...faults, ...stack.faults, ...moved.faults];
  if (all.length > 0 || stack.name === undefined) return { kind: 'refused', faults: all };
  const scope = inputs.backend?.scope === 'cluster' ? { cluster } : {};
  const placement: Placement = {
    ...identityOf(prepared, spec, here),
    inputs: { project: project.folder, pulumiStack: stack.name, ...inputs },
    policy: policyOf(spec, manifest),
    claim: claimOf({ backendUrl, pulumiStack: stack.name, ...scope }),
    ...(spec.runRequest === undefined ? {} : { runRequest: spec.runRequest }),
    ...(moved.value && {
      leaves: claimOf({ backendUrl, pulumiStack: stack.name, ...scope, ...moved.value }),
    }),
  };
  return { kind: 'placed', placement, warnings: stack.warnings };
}

type Identity = Pick<Placement, 'cluster' | 'stack' | 'origin' | 'source' | 'suspended'>;

function identityOf({ manifest, project }: Prepared, spec: StackSpec, { target, now }: Here): Identity {
  const { namespace, name, origin } = manifest;
  const suspended = suspendedReason([
    ...target.suspensions,
    ...suspensionOf(spec.suspend, { who: `Stack ${namespace}/${name}`, where: printOrigin(origin) }, now),
  ]);
  return {
    cluster: target.name,
    stack: { namespace, name },
    origin,
    source: {
      repository: project.repository,
      project: project.folder,
      include: spec.source?.include ?? [],
      inferInputs: spec.source?.inferInputs ?? true,
      ...(spec.source?.hermetic === false && { hermetic: false }),
    },
    ...(suspended && { suspended }),
  };
}

interface Context {
  readonly values: Values;
  readonly naming: { readonly project: string; readonly cluster: string; readonly backendUrl: string };
}

interface Named {
  readonly name: string | undefined;
  readonly faults: readonly FieldFault[];
  readonly warnings: readonly FieldFault[];
}

function nameOf(field: string, written: string | undefined, { values, naming }: Context): Named {
  const filled = written === undefined ? undefined : fillText(written, values);
  const at = (text: string): FieldFault => ({ field, text: `spec.${field}: ${text}` });
  if (filled !== undefined && filled.faults.length > 0) {
    return { name: undefined, faults: filled.faults.map(at), warnings: [] };
  }
  const stack = stackName({ ...naming, written: filled?.value });
  if (stack.kind === 'fault') return { name: undefined, faults: [at(stack.text)], warnings: [] };
  return { name: stack.name, faults: [], warnings: stack.warning === undefined ? [] : [at(stack.warning)] };
}

interface Moved {
  readonly value: { readonly pulumiStack?: string; readonly backendUrl?: string } | undefined;
  readonly faults: readonly FieldFault[];
}

/** What is left, named as fully as what is wanted, so that both make a claim. */
function movedFrom({ movedFrom: moved = {} }: StackSpec, context: Context): Moved {
  const backend = fillText(moved.backend ?? '', context.values);
  const left = moved.pulumiStack ?? '';
  const stack = left === '' ? { name: undefined, faults: [] } : formerName(left, context);
  const value = {
    ...(stack.name === undefined ? {} : { pulumiStack: stack.name }),
    ...(backend.value === '' ? {} : { backendUrl: backend.value }),
  };
  const faults = backend.faults.map((text) => ({
    field: 'movedFrom.backend',
    text: `spec.movedFrom.backend: ${text}`,
  }));
  return { value: Object.keys(value).length > 0 ? value : undefined, faults: [...stack.faults, ...faults] };
}

/** It may lie in another backend and belong to another project, so only the form of the name is checked. */
function formerName(left: string, { values, naming }: Context): Pick<Named, 'name' | 'faults'> {
  const filled = fillText(left, values).value.split('/');
  const project = filled.length === 3 ? (filled[1] ?? naming.project) : naming.project;
  return nameOf('movedFrom.pulumiStack', left, { values, naming: { ...naming, project, backendUrl: '' } });
}
