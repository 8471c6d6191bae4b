/** What is suspended, by whom, why and until when. */
import type { Suspend } from '../../crds/fields.ts';
import type { Reason } from '../../shared/outcome.ts';
import type { ClusterPolicy } from '../../shared/wire.ts';

/** A suspension that is in force, with the document that says it. */
export interface Suspension {
  /** `Cluster prod-eu` */
  readonly who: string;
  /** `fleet:clusters/prod-eu.yaml:3` */
  readonly where: string;
  readonly reason: string;
  /** ms; absent: until the document changes. */
  readonly until?: number;
}

/** The document that suspends. */
export type Suspender = Pick<Suspension, 'who' | 'where'>;

/** The suspension of a document, unless there is none or its time is over. */
export function suspensionOf(suspend: Suspend | undefined, by: Suspender, now: number): Suspension[] {
  if (suspend === undefined) return [];
  const until = suspend.until === undefined ? undefined : Date.parse(suspend.until);
  if (until !== undefined && until <= now) return [];
  return [{ ...by, reason: suspend.reason ?? '', ...(until === undefined ? {} : { until }) }];
}

const print = ({ who, reason, until }: Suspension, place = ''): string => {
  const end = until === undefined ? '' : ` until ${new Date(until).toISOString()}`;
  return `suspended by ${who}${place}${end}: ${reason === '' ? 'no reason given' : reason}`;
};

/** One reason for all of them, or none. */
export const suspendedReason = (suspensions: readonly Suspension[]): Reason | undefined =>
  suspensions.length === 0
    ? undefined
    : { code: 'Suspended', text: suspensions.map((one) => print(one, ` (${one.where})`)).join('; ') };

/**
 * The same for a cluster's agent. It is over when the last of them is. It names no file and line: a document that moves
 * down in its file is no new order.
 */
export function suspendPolicy(suspensions: readonly Suspension[]): ClusterPolicy['suspend'] {
  if (suspensions.length === 0) return undefined;
  const ends = suspensions.flatMap(({ until }) => until ?? []);
  return {
    reason: suspensions.map((one) => print(one)).join('; '),
    ...(ends.length === suspensions.length ? { until: Math.max(...ends) } : {}),
  };
}
