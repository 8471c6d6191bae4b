/**
 * From what is wanted and what is in force to steps: orders, holds, tombstones, or nothing, each with its reasons.
 *
 * Pure and deterministic; the result is a value that can be printed. Whoever carries it out has no choices left.
 * Absence never deletes: a placement that nothing names any more is frozen by a hold that repeats its order in force.
 */
import type { Reason } from '../shared/outcome.ts';
import type { Order } from '../shared/wire.ts';
import { absentVerdict, type Absence } from './absence.ts';
import { claimConflicts, identityChange } from './claims.ts';
import type { Decision } from './decision.ts';
import type { Change } from './detect.ts';
import { oversize } from './order.ts';
import { placementKey, sameInputs, type PlacementId, type Wanted } from './placement.ts';
import { locatedReason } from './problem.ts';
import type { Draft, Plan, Step, Verdict } from './step.ts';

export interface PlanInput extends Absence {
  readonly wanted: readonly Wanted[];
  /** Newest order of every placement, by placement key, as the streams have it. */
  readonly inForce: ReadonlyMap<string, Order>;
  /** Highest generation that an agent named for a placement, in a report or in hello. */
  readonly seenGen: ReadonlyMap<string, number>;
  /** Placements whose agent lacks the order in force, or has a newer generation than the streams. */
  readonly republish: ReadonlyMap<string, string>;
  /** How each wanted placement differs from its order in force, by placement key. */
  readonly changes: ReadonlyMap<string, Change>;
  readonly now: number;
}

/** Plans every placement that is wanted or in force. */
export function plan(input: PlanInput): Plan {
  const conflicts = claimConflicts(
    input.wanted.map((wanted) => wanted.placement),
    input.inForce,
  );
  const verdicts = new Map<string, readonly [PlacementId, Verdict]>();
  for (const wanted of input.wanted) {
    const key = placementKey(wanted.placement);
    const verdict = wantedVerdict(input, wanted, conflicts.get(key));
    verdicts.set(key, [
      wanted.placement,
      repeatIfAsked(input, { key, order: input.inForce.get(key) }, verdict),
    ]);
  }
  for (const [key, order] of input.inForce) {
    if (verdicts.has(key)) continue;
    verdicts.set(key, [order, repeatIfAsked(input, { key, order }, absentVerdict(input, order))]);
  }
  for (const refused of input.refused) {
    if (refused.cluster === undefined) continue;
    const id = { cluster: refused.cluster, stack: refused.stack };
    if (!verdicts.has(placementKey(id))) verdicts.set(placementKey(id), [id, kept(refused.reason)]);
  }
  return assemble(input, verdicts);
}

type Kept = Exclude<Verdict, Draft>;

const keep = (verdict: Decision['verdict'], ...reasons: readonly Reason[]): Kept => ({
  keep: verdict,
  reasons,
});

/** What was not read yet is waited for; what was read and is wrong is refused. */
const keptAs = ({ code }: Reason): Decision['verdict'] =>
  code === 'SourceUnavailable' ? 'waiting' : 'refused';

const kept = (reason: Reason): Verdict => keep(keptAs(reason), reason);

function wantedVerdict(input: PlanInput, wanted: Wanted, conflict: Reason | undefined): Verdict {
  const key = placementKey(wanted.placement);
  const order = input.inForce.get(key);
  const change = input.changes.get(key);
  if (change === undefined) throw new Error(`nothing was detected for ${key}`);
  const blocked = blockedBy(input, { wanted, order, conflict });
  const suspended = wanted.placement.suspended;
  if (suspended !== undefined && (blocked === undefined || isHoldable(order)))
    return suspend(order, suspended, blocked?.reasons ?? pendingOf(change));
  if (blocked !== undefined) return blocked;
  if (change.kind === 'unchanged')
    return repeatIfAsked(input, { key, order, wanted }, keep('unchanged', ...change.reasons));
  return { action: 'run', wanted, ...(order === undefined ? {} : { base: order }), reasons: change.reasons };
}

interface Looked {
  readonly wanted: Wanted;
  readonly order: Order | undefined;
  readonly conflict: Reason | undefined;
}

/** What keeps a placement from the order that its manifest asks for; a suspension holds the one in force all the same. */
function blockedBy(input: PlanInput, { wanted, order, conflict }: Looked): Kept | undefined {
  const { origin } = wanted.placement;
  if (conflict !== undefined) return keep('refused', locatedReason(origin, conflict));
  const moved = identityChange(wanted.placement, order);
  if (moved !== undefined) return keep('hold', locatedReason(origin, moved));
  const stopped = input.frozen ?? oversize(wanted);
  return stopped === undefined ? undefined : keep('refused', stopped);
}

const isHoldable = (order: Order | undefined): order is Order =>
  order !== undefined && order.action !== 'forget';

const pendingOf = ({ kind, reasons }: Change): readonly Reason[] =>
  kind === 'unchanged' || kind === 'resumed' ? [] : reasons;

/** A hold repeats the order in force; without one there is nothing that could start. */
function suspend(order: Order | undefined, reason: Reason, pending: readonly Reason[]): Verdict {
  const held = order?.action === 'hold' && order.reasons[0]?.code === 'Suspended';
  if (!isHoldable(order) || held) return keep('hold', reason, ...pending);
  return { action: 'hold', base: order, reasons: [reason, ...pending] };
}

/**
 * The agent lacks this order, the broker its artifact, or the streams went back in time: the same order again, above
 * everything seen. With its manifest at hand it is made anew, and so is its artifact.
 */
function repeatIfAsked(input: PlanInput, { key, order, wanted }: InPlace, verdict: Verdict): Verdict {
  if (order === undefined || 'action' in verdict || order.action === 'preview') return verdict;
  const behind = (input.seenGen.get(key) ?? 0) > order.gen ? 'the agent knows a newer generation' : undefined;
  const why = input.republish.get(key) ?? behind;
  if (why === undefined) return verdict;
  const action = order.action === 'hold' || order.action === 'forget' ? order.action : 'run';
  const reasons = [...order.reasons.filter((reason) => reason.code !== 'BaseUnavailable'), repeated(why)];
  return { action, base: order, reasons, ...(wanted === undefined ? {} : { wanted }) };
}

interface InPlace {
  readonly key: string;
  readonly order: Order | undefined;
  readonly wanted?: Wanted;
}

const repeated = (why: string): Reason => ({ code: 'BaseUnavailable', text: `published again: ${why}` });

function assemble(input: PlanInput, verdicts: ReadonlyMap<string, readonly [PlacementId, Verdict]>): Plan {
  const steps: Step[] = [];
  const decisions: Decision[] = [];
  for (const key of [...verdicts.keys()].sort()) {
    const [{ cluster, stack }, verdict] = verdicts.get(key)!;
    const order = input.inForce.get(key);
    if ('keep' in verdict) {
      const { keep: name, reasons } = verdict;
      decisions.push({
        cluster,
        stack,
        verdict: name,
        reasons,
        ...(order === undefined ? {} : { gen: order.gen }),
      });
      continue;
    }
    const gen = Math.max(input.now, order?.gen ?? 0, input.seenGen.get(key) ?? 0) + 1;
    steps.push({ cluster, stack, gen, ...verdict });
    decisions.push({ cluster, stack, verdict: nameOf(verdict, order), reasons: verdict.reasons, gen });
  }
  return { steps, decisions };
}

function nameOf(verdict: Draft, order: Order | undefined): Decision['verdict'] {
  if (verdict.action !== 'run') return verdict.action;
  if (verdict.wanted === undefined) return 'policy';
  const sameRun =
    order !== undefined &&
    sameInputs(verdict.wanted, order) &&
    order.action !== 'forget' &&
    (order.runRequest ?? '') === (verdict.wanted.placement.runRequest ?? '');
  return sameRun ? 'policy' : 'run';
}

/** The plan without the steps that could not be carried out, each with its reason; their orders in force stay. */
export function withoutFailed({ steps, decisions }: Plan, failed: ReadonlyMap<string, Reason>): Plan {
  return {
    steps: steps.filter((step) => !failed.has(placementKey(step))),
    decisions: decisions.map((decision) => {
      const reason = failed.get(placementKey(decision));
      if (reason === undefined) return decision;
      const { cluster, stack } = decision;
      return { cluster, stack, verdict: keptAs(reason), reasons: [reason] };
    }),
  };
}

/** The plan as text, one line a decision: for tests, logs and people. */
export function printPlan({ steps, decisions }: Plan): string {
  const lines = decisions.map((decision) => {
    const reasons = decision.reasons.map((reason) => `${reason.code}: ${reason.text}`).join('; ');
    return `${decision.verdict.padEnd(9)} ${placementKey(decision)}  ${reasons}`;
  });
  const orders = Map.groupBy(steps, (step) => step.action);
  const counts = (['run', 'hold', 'forget'] as const).map(
    (action) => `${action} ${orders.get(action)?.length ?? 0}`,
  );
  return [...lines, `publishes ${steps.length}: ${counts.join(', ')}`, ''].join('\n');
}
