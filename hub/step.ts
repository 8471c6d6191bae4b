/** What a plan consists of. Types only. */
import type { Reason } from '../shared/outcome.ts';
import type { Order } from '../shared/wire.ts';
import type { Decision } from './decision.ts';
import type { PlacementId, Wanted } from './placement.ts';

/**
 * One message to publish. `wanted` is there when the order is made from the manifest; without it `base` is repeated
 * under another action or generation.
 */
export interface Step extends PlacementId {
  readonly action: 'run' | 'hold' | 'forget';
  readonly gen: number;
  readonly wanted?: Wanted;
  readonly base?: Order;
  readonly reasons: readonly Reason[];
}

export interface Plan {
  readonly steps: readonly Step[];
  readonly decisions: readonly Decision[];
}

/** A step before it has a generation. */
export type Draft = Pick<Step, 'action' | 'wanted' | 'base' | 'reasons'>;

/** What is to be done about one placement: publish something, or keep what is in force, and why. */
export type Verdict = Draft | { readonly keep: Decision['verdict']; readonly reasons: readonly Reason[] };
