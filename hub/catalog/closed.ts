/**
 * Documents that decide about others and cannot be used: what they would forbid is not known, so it stays forbidden.
 * A Tenant (no version of this program reads one yet) closes every stack; an unreadable Fleet may suspend everything.
 */
import type { Catalog, Problem, StackManifest, Unreadable } from './catalog.ts';
import { printOrigin } from '../problem.ts';
import type { Entry } from './reading.ts';

export interface Closed {
  readonly tenant?: Problem;
  readonly fleet?: Problem;
}

/** What is closed, and by which document or file. */
export function closedBy(entries: readonly Entry[], unreadable: readonly Unreadable[]): Closed {
  const refused = (kind: 'Tenant' | 'Fleet'): Problem | undefined =>
    entries.find(({ identity, problem }) => identity.kind === kind && problem !== undefined)?.problem ??
    unreadable.find(({ mentions }) => mentions.includes(kind))?.problem;
  const tenant = refused('Tenant');
  const fleet = refused('Fleet');
  return { ...(tenant && { tenant }), ...(fleet && { fleet }) };
}

/** The refusal of every stack while a Tenant is there. */
export function tenantRefusals(stacks: readonly StackManifest[], tenant: Problem): Catalog['refusedStacks'] {
  const text =
    `${printOrigin(tenant.origin)} holds a Tenant, which this version cannot read: what it forbids is not known, ` +
    `so no stack of the fleet gets new orders until it is taken out`;
  return stacks.map(({ namespace, name, origin }) => ({
    stack: { namespace, name },
    problem: {
      severity: 'error',
      code: 'TenantRefused',
      origin,
      identity: { kind: 'Stack', namespace, name },
      text,
    },
  }));
}
