/** One stack → its placements on the clusters that it selects, or why there are none. */
import type { Catalog, Problem, ProjectFile, StackManifest } from '../catalog/catalog.ts';
import type { Fields } from '../fields.ts';
import type { AskedSource } from '../git/source.ts';
import type { Placement, Refused } from '../placement.ts';
import type { Target } from './fleet.ts';
import type { FieldFault } from './inputs.ts';
import { originOf, withProject } from './layers.ts';
import type { Layer, Layers } from './layers.ts';
import { locate } from './locate.ts';
import { overrideFaults, overrideWarnings, specOf, withOverrides } from './overrides.ts';
import { placeOn } from './place.ts';
import type { Placed, Prepared } from './place.ts';
import { refusal, waiting, warningAt } from './refusal.ts';
import type { Located } from './refusal.ts';
import { choose } from './select.ts';
import { soughtBy, unreadSource, type Sources } from './sought.ts';
import type { Candidates, Choice } from './select.ts';

/** What one stack comes to. */
export interface StackResult {
  readonly placements: readonly Placement[];
  readonly refused: readonly Refused[];
  readonly warnings: readonly Problem[];
  /** What has to be followed for it. */
  readonly asked?: AskedSource | undefined;
}

export interface Surroundings {
  readonly catalog: Pick<Catalog, 'projects' | 'refusedProjects'>;
  readonly candidates: Candidates<Target>;
  /** Hash of the candidates. */
  readonly clusters: string;
  readonly layersOf: (stack: StackManifest) => Layers;
  readonly now: number;
  readonly sources: Sources;
}

type Preparation = { readonly asked?: AskedSource | undefined } & (
  | { readonly kind: 'prepared'; readonly prepared: Prepared; readonly choice: Choice<Target> }
  | { readonly kind: 'refused'; readonly faults: readonly Located[] }
  /** The repository of its program was not read since start: nothing can be said yet. */
  | { readonly kind: 'unread'; readonly fault: Located }
);

/** What a result was made of, besides the manifest: equal parts, the same result. */
interface Made {
  readonly layers: readonly Fields[];
  readonly project: ProjectFile;
  readonly clusters: string;
  readonly result: StackResult;
}

const made = new WeakMap<StackManifest, Made>();

/**
 * Resolves a stack; everything that is wrong with it is said at once. A stack of which nothing has changed has the same
 * result as before, the same objects.
 */
export function resolveStack(manifest: StackManifest, around: Surroundings): StackResult {
  const before = made.get(manifest);
  if (before !== undefined && stillHolds(before, manifest, around)) return before.result;
  made.delete(manifest);
  const preparation = prepare(manifest, around);
  const { asked } = preparation;
  if (preparation.kind === 'prepared') {
    const { prepared, choice } = preparation;
    const result = { ...placeAll(prepared, choice, around), asked };
    const { layers, project } = prepared;
    if (!layers.some(({ fields }) => endsBySelf(fields)))
      made.set(manifest, {
        layers: layers.map(({ fields }) => fields),
        project,
        clusters: around.clusters,
        result,
      });
    return result;
  }
  const refused =
    preparation.kind === 'refused'
      ? refusal(manifest, preparation.faults)
      : waiting(manifest, preparation.fault);
  return { placements: [], refused: [refused], warnings: [], asked };
}

function stillHolds(before: Made, manifest: StackManifest, around: Surroundings): boolean {
  const { repository, folder } = before.project;
  const found = around.layersOf(manifest);
  return (
    before.clusters === around.clusters &&
    around.catalog.projects.get(`${repository}:${folder}`) === before.project &&
    !around.sources.unread.has(repository) &&
    found.kind === 'layers' &&
    found.layers.length === before.layers.length &&
    found.layers.every(({ fields }, n) => fields === before.layers[n])
  );
}

/** Whether time alone may change what a document says. */
const endsBySelf = (fields: Fields): boolean => JSON.stringify(fields).includes('"suspend"');

function prepare(manifest: StackManifest, around: Surroundings): Preparation {
  const found = around.layersOf(manifest);
  if (found.kind === 'fault') {
    return { kind: 'refused', faults: [{ origin: manifest.origin, text: found.text }] };
  }
  const { layers } = found;
  const at = ({ field, text }: FieldFault): Located => ({ origin: originOf(layers, field), text });
  const bare = specOf(layers.map(({ fields }) => fields));
  const sought = soughtBy(bare, manifest.origin);
  if (sought.kind === 'fault') return { kind: 'refused', faults: [at(sought)] };
  const { asked } = sought;
  const unread = unreadSource(sought, around.sources);
  if (unread !== undefined) return { kind: 'unread', fault: at(unread), asked };
  const located = locate(bare, { ...sought, manifest: manifest.origin }, around.catalog);
  const choice = choose(bare.clusters, around.candidates);
  const faults = [
    ...(located.kind === 'fault' ? [at(located)] : []),
    ...(choice.kind === 'fault' ? [at({ field: 'clusters', text: `spec.${choice.text}` })] : []),
    ...overrideFaults(bare).map(at),
  ];
  if (located.kind === 'fault' || choice.kind === 'fault' || faults.length > 0)
    return { kind: 'refused', faults, asked };
  const named = nameKeys(layers, located.project.name);
  if (named.faults.length > 0) return { kind: 'refused', faults: named.faults, asked };
  return {
    kind: 'prepared',
    asked,
    prepared: { manifest, layers, project: located.project, spec: named.spec },
    choice,
  };
}

/** Config keys get their project before the layers merge, so that both spellings of a key meet. */
function nameKeys(layers: readonly Layer[], project: string): { spec: Prepared['spec']; faults: Located[] } {
  const named = layers.map(({ fields, origin }) => ({ ...withProject(fields, project), origin }));
  const faults = named.flatMap(({ faults: texts, origin }) =>
    texts.map((text) => ({ origin, text: `spec.${text}` })),
  );
  return { spec: specOf(named.map(({ fields }) => fields)), faults };
}

function placeAll(prepared: Prepared, choice: Choice<Target>, around: Surroundings): StackResult {
  const { manifest, layers, spec, project } = prepared;
  const results = choice.clusters.map((target) => {
    const here = withOverrides(spec, project.name, target);
    return { cluster: target.name, result: placeOn(prepared, here, { target, now: around.now }) };
  });
  const warnings: FieldFault[] = [
    ...choice.warnings.map((text) => ({ field: 'clusters', text: `spec.${text}` })),
    ...overrideWarnings(spec, around.candidates),
    ...results.flatMap(({ result }) => (result.kind === 'placed' ? result.warnings : [])),
  ];
  return {
    placements: results.flatMap(({ result }) => (result.kind === 'placed' ? result.placement : [])),
    refused: [
      ...results.flatMap(({ cluster, result }) => refusedPlacement(prepared, cluster, result)),
      ...choice.refused.map(({ cluster, text }) =>
        refusal(manifest, [{ origin: originOf(layers, 'clusters.names'), text }], cluster),
      ),
    ],
    warnings: distinct(warnings).map(({ field, text }) => warningAt(manifest, originOf(layers, field), text)),
  };
}

function refusedPlacement({ manifest, layers }: Prepared, cluster: string, result: Placed): Refused[] {
  if (result.kind === 'placed') return [];
  const faults = result.faults.map(({ field, text }) => ({ origin: originOf(layers, field), text }));
  return [refusal(manifest, faults, cluster)];
}

const distinct = (faults: readonly FieldFault[]): FieldFault[] => [
  ...new Map(faults.map((fault) => [`${fault.field} ${fault.text}`, fault])).values(),
];
