/** What a pass decided, as text that cases compare. */
import assert from 'node:assert/strict';
import { placementKey, type PlacementId } from '../../../hub/placement.ts';
import type { PassEnd } from '../../../hub/poll.ts';
import type { Reason } from '../../../shared/outcome.ts';

/**
 * By placement: `InputChanged: PATH, PATH` for a run, otherwise with the verdict before it, as in `hold Suspended`;
 * several reasons are joined by ` + `. An expression is matched against verdict, codes and texts. Placements that stay as
 * they are do not appear. A placement is named by its stack, with `CLUSTER/` before it where that is not `c` and
 * `NAMESPACE/` where that is not `apps`.
 */
export type Expected = Readonly<Record<string, string | RegExp>>;

/** A run, since these files are others now. */
export const changed = (...paths: readonly string[]): string =>
  `InputChanged: ${[...paths].sort().join(', ')}`;

interface Told {
  readonly short: string;
  readonly long: string;
}

const nameOf = ({ cluster, stack }: PlacementId): string =>
  [
    ...(cluster === 'c' ? [] : [cluster]),
    ...(stack.namespace === 'apps' ? [] : [stack.namespace]),
    stack.name,
  ].join('/');

/** Everything but what is unchanged. A pass that found no new commit decides nothing. */
export function verdictsOf(end: PassEnd): ReadonlyMap<string, Told> {
  if (end.kind === 'idle') return new Map();
  assert.equal(end.kind, 'planned', JSON.stringify(end));
  const { plan, resolution, orders } = end.done;
  const ordered = plan.decisions.filter(({ verdict }) => ['run', 'policy', 'forget'].includes(verdict));
  const held = plan.steps.filter(({ action }) => action === 'hold');
  assert.deepEqual(
    orders.map(placementKey).sort(),
    [...ordered, ...held].map(placementKey).sort(),
    'what is shown and what is ordered',
  );
  const refused = resolution.refused
    .filter(({ cluster }) => cluster === undefined)
    .map(({ stack, reason }) => [stack.name, tell('refused', [reason])] as const);
  const decided = plan.decisions
    .filter(({ verdict }) => verdict !== 'unchanged')
    .map((decision) => [nameOf(decision), tell(decision.verdict, decision.reasons)] as const);
  return new Map([...refused, ...decided]);
}

function tell(verdict: string, reasons: readonly Reason[]): Told {
  const before = verdict === 'run' ? '' : `${verdict} `;
  const paths = ({ inputs = [] }: Reason): string =>
    inputs.length === 0 ? '' : `: ${inputs.map(({ path }) => path).join(', ')}`;
  return {
    short: before + reasons.map((reason) => reason.code + paths(reason)).join(' + '),
    long: before + reasons.map(({ code, text }) => `${code}: ${text}`).join(' + '),
  };
}

/** Every stack of the catalog is ordered for the first time, on every cluster, and none is refused. */
export function everyStackIsNew(end: PassEnd): Expected {
  assert.equal(end.kind, 'planned');
  const { catalog, resolution, plan } = end.done;
  const problems = [...catalog.problems, ...resolution.refused.map(({ reason }) => reason)];
  assert.deepEqual(problems, []);
  return Object.fromEntries(plan.decisions.map((decision) => [nameOf(decision), 'NewPlacement']));
}

/** Fails unless exactly these placements do not stay as they are, each for this reason. */
export function assertVerdicts(seen: ReadonlyMap<string, Told>, expected: Expected, what: string): void {
  const told = Object.fromEntries(
    [...seen].map(([name, { short, long }]) => {
      const wanted = expected[name];
      const matches = wanted instanceof RegExp && wanted.test(long);
      return [name, wanted instanceof RegExp ? (matches ? String(wanted) : long) : short];
    }),
  );
  const wanted = Object.fromEntries(Object.entries(expected).map(([name, text]) => [name, String(text)]));
  assert.deepEqual(told, wanted, what);
}

/** Fails unless a pass warned of exactly this. */
export function assertWarnings(end: PassEnd, expected: readonly RegExp[]): void {
  const texts = end.kind === 'planned' ? end.done.measured.warnings.map(({ text }) => text) : [];
  for (const one of expected)
    assert.ok(
      texts.some((text) => one.test(text)),
      `${String(one)} in ${texts.join('\n')}`,
    );
  assert.equal(texts.length, expected.length, texts.join('\n'));
}

/** The orders that a pass published. */
export const ordersOf = (end: PassEnd): readonly string[] =>
  end.kind === 'planned' ? end.done.orders.map(placementKey) : [];
