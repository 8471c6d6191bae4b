/**
 * One Pulumi stack belongs to one placement of the fleet.
 *
 * The incumbent is whoever has an order in force for the claim, also when its manifest is gone: an orphan keeps what it
 * owns. A newcomer is refused; when all claimants are new, all are refused, since nothing says who is right.
 */
import type { Reason } from '../shared/outcome.ts';
import type { Order } from '../shared/wire.ts';
import type { Decision } from './decision.ts';
import { placementKey, type Placement } from './placement.ts';
import type { Step } from './step.ts';

type InForce = ReadonlyMap<string, Order>;

/** The placements that may not be planned, each with its reason. Keys as of {@link placementKey}. */
export function claimConflicts(
  placements: readonly Placement[],
  inForce: InForce,
): ReadonlyMap<string, Reason> {
  const owners = ownersOf(inForce);
  const claimants = Map.groupBy(placements, (placement) => placement.claim);
  const conflicts = new Map<string, Reason>();
  for (const [claim, group] of claimants) {
    const owner = owners.get(claim);
    const keys = group.map(placementKey);
    const refused = owner === undefined ? (keys.length > 1 ? keys : []) : keys.filter((key) => key !== owner);
    for (const key of refused) conflicts.set(key, conflictReason(key, { claim, owner, keys }));
  }
  return conflicts;
}

function ownersOf(inForce: InForce): ReadonlyMap<string, string> {
  const holding = [...inForce].filter(([, order]) => order.action !== 'forget');
  return new Map(holding.map(([key, order]) => [order.claim, key]));
}

interface Contest {
  readonly claim: string;
  readonly owner: string | undefined;
  /** Of the placements that claim it. */
  readonly keys: readonly string[];
}

function conflictReason(key: string, { claim, owner, keys }: Contest): Reason {
  const others = keys.filter((other) => other !== key).join(', ');
  const text =
    owner === undefined
      ? `${claim} is claimed by ${others} as well; give each its own pulumiStack`
      : `${claim} belongs to ${owner}; choose another pulumiStack, or release it with a Removal of mode retain`;
  return { code: 'ClaimConflict', text };
}

/** A placement that would leave its Pulumi stack or backend without its manifest saying so. */
export function identityChange(placement: Placement, order: Order | undefined): Reason | undefined {
  if (order === undefined || order.action === 'forget') return undefined;
  if (order.claim === placement.claim || order.claim === placement.leaves) return undefined;
  const [backend = ''] = order.claim.split(' ');
  return {
    code: 'StackIdentityChanged',
    text:
      `it would leave ${order.claim} for ${placement.claim}; if that is meant, say so with ` +
      `movedFrom: {pulumiStack: ${order.inputs.pulumiStack}, backend: ${JSON.stringify(backend)}}`,
  };
}

interface Published {
  readonly decisions: readonly Pick<Decision, 'verdict' | 'reasons'>[];
  readonly steps: readonly Step[];
  /** Before the steps were published. */
  readonly inForce: InForce;
}

/** Whether a plan refuses claimants, and its own steps let go of a claim: the next plan may see it otherwise. */
export const releasesContested = ({ decisions, steps, inForce }: Published): boolean =>
  decisions.some(({ reasons }) => reasons.some(({ code }) => code === 'ClaimConflict')) &&
  steps.some((step) => {
    const owned = inForce.get(placementKey(step))?.claim;
    const kept = step.action === 'forget' ? undefined : (step.wanted?.placement.claim ?? owned);
    return owned !== undefined && owned !== kept;
  });
