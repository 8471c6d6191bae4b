/**
 * What would become of every placement if the hub, after it had planned one commit, saw another one: the same detection
 * and the same plan, over orders as the first commit would have brought them about. Pure.
 */
import type { Reason } from '../../shared/outcome.ts';
import type { ArtifactRef, Order } from '../../shared/wire.ts';
import type { Problem } from '../catalog/catalog.ts';
import type { Decision } from '../decision.ts';
import { detectAll, type KnownFiles } from '../detect.ts';
import { fileValue, type Tree } from '../git/source.ts';
import { isBelow } from '../inputs/paths.ts';
import { mistakesOf } from '../mistakes.ts';
import { makeOrder } from '../order.ts';
import { placementKey, type PlacementId, type Wanted } from '../placement.ts';
import { plan } from '../plan.ts';
import type { Plan } from '../step.ts';
import { absenceOf, type Surveyed } from '../survey.ts';
import { shownCluster, shownField } from './anywhere.ts';
import { elsewhereIn, fileProblem, type FileProblem } from './report.ts';

export interface Affected {
  /** `namespace/name` */
  readonly stack: string;
  /** `*` where no cluster is described. */
  readonly cluster: string;
  /** `tombstone`: nothing asks for it any more. */
  readonly decision: 'order' | 'hold' | 'tombstone';
  readonly reasons: readonly {
    readonly code: Reason['code'];
    readonly text: string;
    readonly inputs: readonly {
      readonly path: string;
      readonly from: string | null;
      readonly to: string | null;
    }[];
  }[];
}

export interface Comparison {
  readonly affected: readonly Affected[];
  /** Placements that stay as they are. */
  readonly unaffected: number;
  readonly errors: readonly FileProblem[];
}

export interface CompareOptions {
  /** Only stacks whose manifest or project lies in or below this folder. */
  readonly folder: string;
}

/** Compares two surveys of one repository. */
export function compare(from: Surveyed, to: Surveyed, { folder }: CompareOptions): Comparison {
  const inForce = ordersAt(from);
  const before = new Map(from.measured.wanted.map((wanted) => [placementKey(wanted.placement), wanted]));
  const planned = plan({
    ...absenceOf(to),
    wanted: to.measured.wanted,
    inForce,
    seenGen: new Map(),
    republish: new Map(),
    changes: detectAll(to.measured.wanted, inForce, (key) => filesOf(before.get(key))),
  });
  const within = placesWithin(folder, [from, to]);
  const decisions = planned.decisions.filter((decision) => within(decision));
  const stepped = new Set(planned.steps.map((step) => placementKey(step)));
  const affected = decisions.flatMap((decision) => affectedBy(decision, stepped) ?? []);
  const refused = decisions.filter(({ verdict }) => verdict === 'refused' || verdict === 'waiting');
  return {
    affected,
    unaffected: decisions.length - affected.length - refused.length,
    errors: errorsIn(to, planned).filter(({ file }) => isIn(file, folder)),
  };
}

const filesOf = (wanted: Wanted | undefined): KnownFiles | undefined =>
  wanted && new Map(wanted.files.map((file) => [file.path, fileValue(file)]));

/** Stands for artifacts, which nobody builds here. */
const NO_ARTIFACT: ArtifactRef = {
  name: '0'.repeat(64),
  key: '',
  size: 0,
  chunks: 1,
  sha256: '0'.repeat(64),
  compression: 'zstd',
};

/** The orders that the hub would have in force at a commit; what is suspended there is held. */
function ordersAt({ measured, gate, now }: Surveyed): ReadonlyMap<string, Order> {
  return new Map(
    measured.wanted.map((wanted) => {
      const { cluster, stack, suspended, source } = wanted.placement;
      const action = suspended === undefined ? 'run' : 'hold';
      const step = { cluster, stack, action, gen: 1, wanted, reasons: suspended ? [suspended] : [] } as const;
      const tree = gate.trees.get(source.repository) as Tree;
      return [placementKey(wanted.placement), makeOrder(step, { term: 0, now, tree, artifact: NO_ARTIFACT })];
    }),
  );
}

function affectedBy(decision: Decision, stepped: ReadonlySet<string>): Affected | undefined {
  const kind = kindOf(decision, stepped.has(placementKey(decision)));
  if (kind === undefined) return undefined;
  const { cluster, stack, reasons } = decision;
  return {
    stack: `${stack.namespace}/${stack.name}`,
    cluster: shownCluster(cluster),
    decision: kind,
    reasons: reasons.map(({ code, text, inputs = [] }) => ({
      code,
      text,
      inputs: inputs.map(({ path, from = null, to = null }) => ({ path: shownField(path), from, to })),
    })),
  };
}

/** What only changes how a run is carried out starts none. `stepped`: the hub would publish something. A hold that stays counts if something waits behind it. */
function kindOf({ verdict, reasons }: Decision, stepped: boolean): Affected['decision'] | undefined {
  const [first] = reasons;
  switch (verdict) {
    case 'run':
      return 'order';
    case 'forget':
      return 'tombstone';
    case 'hold':
      if (first?.code === 'Orphaned') return 'tombstone';
      return stepped || reasons.length > 1 || first?.code !== 'Suspended' ? 'hold' : undefined;
    case 'policy':
    case 'unchanged':
    case 'refused':
    case 'waiting':
      return undefined;
  }
}

/** Whether a placement belongs to a stack in or below a folder, at either commit. */
function placesWithin(folder: string, surveys: readonly Surveyed[]): (id: PlacementId) => boolean {
  const keys = new Set(
    surveys.flatMap(({ measured, resolution }) => [
      ...measured.wanted
        .filter(
          ({ placement: { origin, source } }) => isIn(origin.path, folder) || isIn(source.project, folder),
        )
        .map(({ placement }) => placementKey(placement)),
      ...[...resolution.refused, ...measured.refused].flatMap(({ cluster, stack, origin }) =>
        cluster !== undefined && isIn(origin.path, folder) ? [placementKey({ cluster, stack })] : [],
      ),
    ]),
  );
  return (id) => keys.has(placementKey(id));
}

const isIn = (path: string, folder: string): boolean => path === folder || isBelow(path, folder);

/** What keeps an answer from being complete, also what could not be read. */
function errorsIn(survey: Surveyed, planned: Plan): readonly FileProblem[] {
  const problems: readonly Problem[] = mistakesOf({ ...survey, plan: planned });
  return [
    ...problems.filter(({ severity }) => severity === 'error').map(fileProblem),
    ...elsewhereIn(survey),
  ];
}
