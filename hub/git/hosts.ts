/** Who may ask which host when: connections and requests are shared by all repositories on a host. */
import pLimit, { type LimitFunction } from 'p-limit';
import { limits } from '../../shared/limits.ts';
import { charge, freshBudget, quieted, take, type Budget, type HostLimits } from './budget.ts';

export interface Hosts {
  /** Takes one request of a host; or answers when there will be one, ms. */
  take(host: string, now: number): number | undefined;
  /** Does the work when the host has a connection free, in the order of the calls. */
  run(host: string, work: () => Promise<void>): Promise<void>;
  /** Requests that were made beyond the one that was taken. */
  charge(host: string, requests: number): void;
  /** The host asked to be left alone, ms. */
  quiet(host: string, until: number): void;
}

/** Bounds for each host. */
export function makeHosts(bounds: HostLimits): Hosts {
  const budgets = new Map<string, Budget>();
  const connections = new Map<string, LimitFunction>();
  const all = pLimit(limits.pollsAtOnce);
  const change = (host: string, next: (budget: Budget) => Budget): void => {
    const budget = budgets.get(host);
    if (budget !== undefined) budgets.set(host, next(budget));
  };
  return {
    take(host, now) {
      const taken = take(budgets.get(host) ?? freshBudget(bounds, now), bounds, now);
      if (taken.kind === 'wait') return taken.until;
      budgets.set(host, taken.budget);
      return undefined;
    },
    run(host, work) {
      const own = connections.get(host) ?? pLimit(bounds.connections);
      connections.set(host, own);
      return own(() => all(work));
    },
    charge: (host, requests) => change(host, (budget) => charge(budget, requests)),
    quiet: (host, until) => change(host, (budget) => quieted(budget, until)),
  };
}
