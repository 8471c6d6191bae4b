/** Refusals and warnings of a stack, with where each of their reasons stands. */
import type { Origin, Problem, StackManifest } from '../catalog/catalog.ts';
import type { Refused } from '../placement.ts';
import { printOrigin } from '../problem.ts';

/** A fault with its place. */
export interface Located {
  readonly origin: Origin;
  readonly text: string;
}

const reasonText = (faults: readonly Located[]): string =>
  faults.map(({ origin, text }) => `${printOrigin(origin)}: ${text}`).join('; ');

/** A refusal of the whole stack, or of one placement; it stands where its first fault is. */
export function refusal(manifest: StackManifest, faults: readonly Located[], cluster?: string): Refused {
  const { namespace, name, origin } = manifest;
  return {
    stack: { namespace, name },
    ...(cluster === undefined ? {} : { cluster }),
    origin: faults[0]?.origin ?? origin,
    reason: { code: 'Invalid', text: reasonText(faults) },
  };
}

/** A stack about which nothing can be said before more is read. */
export function waiting(manifest: StackManifest, fault: Located): Refused {
  const { reason, ...refused } = refusal(manifest, [fault]);
  return { ...refused, reason: { ...reason, code: 'SourceUnavailable' } };
}

/** A warning about a stack. */
export const warningAt = ({ namespace, name }: StackManifest, origin: Origin, text: string): Problem => ({
  severity: 'warning',
  code: 'Invalid',
  origin,
  identity: { kind: 'Stack', namespace, name },
  text,
});
