/** What keeps a placement from starting by decision, whatever its inputs say. Pure. */
import type { Phase, Reason } from '../shared/outcome.ts';
import type { ClusterPolicy, Order } from '../shared/wire.ts';

export interface Hold {
  readonly phase: Extract<Phase, 'Suspended' | 'Orphaned'>;
  readonly reason: Reason;
  /** When it ends by itself. */
  readonly until?: number;
}

/** The hold of an order with action `hold`: Orphaned when one of its reasons says so, else Suspended. */
export function holdOfOrder(order: Order): Hold | undefined {
  if (order.action !== 'hold') return undefined;
  const orphaned = order.reasons.find((reason) => reason.code === 'Orphaned');
  if (orphaned !== undefined) return { phase: 'Orphaned', reason: orphaned };
  const suspended = order.reasons.find((reason) => reason.code === 'Suspended') ?? order.reasons[0];
  return {
    phase: 'Suspended',
    reason: suspended ?? { code: 'Suspended', text: 'held by its order' },
  };
}

/** The whole cluster is suspended: nothing new starts; what is up to date stays shown as it is. */
export function holdOfCluster(policy: ClusterPolicy | undefined, now: number): Hold | undefined {
  const suspend = policy?.suspend;
  if (suspend === undefined || (suspend.until !== undefined && suspend.until <= now)) return undefined;
  return {
    phase: 'Suspended',
    reason: { code: 'Suspended', text: `the cluster is suspended: ${suspend.reason}` },
    ...(suspend.until === undefined ? {} : { until: suspend.until }),
  };
}
