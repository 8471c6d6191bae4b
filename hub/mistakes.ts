/** Everything that is wrong with what a pass read, each thing once, wherever in the pass it was found. */
import type { Problem } from './catalog/catalog.ts';
import type { Decision } from './decision.ts';
import { placementKey, type Placement, type Refused } from './placement.ts';
import { printProblem, problemOfReason } from './problem.ts';
import type { Plan } from './step.ts';
import type { Surveyed } from './survey.ts';

/** A pass, as far as it finds mistakes. */
export interface Found extends Pick<Surveyed, 'catalog' | 'resolution' | 'measured'> {
  readonly plan: Plan;
}

/** Errors and warnings in the order of their files and lines. */
export function mistakesOf({ catalog, resolution, measured, plan }: Found): readonly Problem[] {
  // the catalog says more about these, field by field
  const listed = new Set(catalog.refusedStacks.map(({ stack }) => `${stack.namespace}/${stack.name}`));
  const refused = [...resolution.refused, ...measured.refused].filter(
    ({ stack, reason }) =>
      !listed.has(`${stack.namespace}/${stack.name}`) && reason.code !== 'SourceUnavailable',
  );
  const placements = new Map(
    measured.wanted.map(({ placement }) => [placementKey(placement), placement] as const),
  );
  return distinct([
    ...catalog.problems,
    ...resolution.warnings,
    ...refused.map(refusedProblem),
    ...measured.warnings,
    ...plan.decisions.flatMap((decision) => {
      const placement = placements.get(placementKey(decision));
      return placement === undefined ? [] : undecided(decision, placement, resolution.frozen?.text);
    }),
  ]);
}

const refusedProblem = ({ stack, origin, reason }: Refused): Problem =>
  problemOfReason({ origin, identity: { kind: 'Stack', ...stack }, reason });

/** What only the plan finds out: who else claims it, that it grew too large. A frozen fleet is one mistake, not one each. */
function undecided(
  { verdict, reasons, stack }: Decision,
  { origin }: Placement,
  frozen: string | undefined,
): Problem[] {
  const [reason] = reasons;
  if (reason === undefined || reason.text === frozen) return [];
  const wrong = verdict === 'refused' || (verdict === 'hold' && reason.code === 'StackIdentityChanged');
  return wrong ? [problemOfReason({ origin, identity: { kind: 'Stack', ...stack }, reason })] : [];
}

function distinct(problems: readonly Problem[]): readonly Problem[] {
  const byLine = new Map(problems.map((problem) => [printProblem(problem), problem]));
  return [...byLine.values()].sort(
    (a, b) => compare(placeOf(a), placeOf(b)) || a.origin.line - b.origin.line,
  );
}

const placeOf = ({ origin: { repository, path } }: Problem): string => `${repository}:${path}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
