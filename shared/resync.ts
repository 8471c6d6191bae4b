/**
 * What agent and hub compare at hello and beat: hashes over rows, one row a placement. Both sides build the rows here,
 * so that equal knowledge gives equal hashes.
 *
 * Only settled placements count, on both sides: the agent goes by its newest report, the hub by the board's. What is on
 * its way differs for a moment by nature. A placement that was forgotten counts as long as its generation is kept.
 */
import { hashOfSet } from './canonical.ts';
import { SETTLED, type Phase } from './outcome.ts';
import type { StackRef } from './subjects.ts';

/** A placement as one side knows it. `gen` and `says`: of the order that is held; `seq`: of the newest report. */
export interface Held {
  readonly stack: StackRef;
  readonly gen: number;
  /** As of {@link saysOf}. */
  readonly says: string;
  readonly seq: number;
  readonly phase: Phase;
}

/**
 * What an order says in short. A broker that was wiped while a clock went back may give a generation twice, for two
 * different orders: then only this tells them apart. Empty: there is none, or it was forgotten.
 */
export const saysOf = (
  order: { readonly action: string; readonly inputDigest: string } | undefined,
): string => (order === undefined || order.action === 'forget' ? '' : `${order.action} ${order.inputDigest}`);

/** Row of the hash over orders: `namespace/name@gen says`. */
export const orderRow = ({ stack, gen, says }: Held): string =>
  `${stack.namespace}/${stack.name}@${gen} ${says}`;

/** Row of the hash over reports: `namespace/name@seq`. */
export const reportRow = (held: Held): string => `${held.stack.namespace}/${held.stack.name}@${held.seq}`;

export interface Hashes {
  /** `ordersHash` of hello. */
  readonly orders: string;
  /** `reportsHash` of hello and `settledHash` of beat. */
  readonly reports: string;
}

/** Both hashes of everything that is settled among `all`. */
export function hashesOf(all: Iterable<Held>): Hashes {
  const settled = [...all].filter((held) => SETTLED.has(held.phase));
  return { orders: hashOfSet(settled.map(orderRow)), reports: hashOfSet(settled.map(reportRow)) };
}
