/**
 * How much one host is asked, over all repositories on it. A bucket of requests fills evenly; whoever is next takes one,
 * and what the host itself asks for comes first. Pure.
 */

export interface HostLimits {
  /** Connections at the same time. */
  readonly connections: number;
  readonly requestsPerMinute: number;
}

export interface Budget {
  /** Requests that may be made at `at`; below 0 when a poll took more than it was given. */
  readonly tokens: number;
  /** ms */
  readonly at: number;
  /** The host asked to be left alone until then, ms. */
  readonly quietUntil: number;
}

const MINUTE = 60_000;

/** What may be asked at once after a time of quiet: ten seconds' worth. */
const capacityOf = ({ requestsPerMinute }: HostLimits): number => Math.max(1, requestsPerMinute / 6);

/** Of a host that was not asked yet. */
export const freshBudget = (bounds: HostLimits, now: number): Budget => ({
  tokens: capacityOf(bounds),
  at: now,
  quietUntil: 0,
});

/** A clock that goes back fills nothing. */
function filled(budget: Budget, bounds: HostLimits, now: number): Budget {
  const passed = Math.max(0, now - budget.at);
  const tokens = budget.tokens + (passed * bounds.requestsPerMinute) / MINUTE;
  return { ...budget, tokens: Math.min(capacityOf(bounds), tokens), at: Math.max(now, budget.at) };
}

export type Taken =
  | { readonly kind: 'taken'; readonly budget: Budget }
  /** Not before `until`, ms. */
  | { readonly kind: 'wait'; readonly until: number };

/** Parts of a request that sums of fractions may be short by. */
const ROUNDING = 1e-6;

/** Takes one request, or says when there will be one. */
export function take(budget: Budget, bounds: HostLimits, now: number): Taken {
  const full = filled(budget, bounds, now);
  const missing = Math.max(0, 1 - ROUNDING - full.tokens);
  const ready = now + Math.ceil((missing * MINUTE) / bounds.requestsPerMinute);
  const until = Math.max(ready, budget.quietUntil);
  return until > now
    ? { kind: 'wait', until }
    : { kind: 'taken', budget: { ...full, tokens: full.tokens - 1 } };
}

/** Requests that were made beyond the one that was taken. */
export const charge = (budget: Budget, requests: number): Budget => ({
  ...budget,
  tokens: budget.tokens - requests,
});

/** The host asked for quiet; the longest wish counts. */
export const quieted = (budget: Budget, until: number): Budget => ({
  ...budget,
  quietUntil: Math.max(budget.quietUntil, until),
});
