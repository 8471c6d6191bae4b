/** From a message to the ledger: every message ends recorded or refused with a reason, never half applied. */
import type { Log } from '../shared/log.ts';
import type { Reason } from '../shared/outcome.ts';
import { stackOfOrder, type StackRef } from '../shared/subjects.ts';
import { clusterOrderSchema, decode, orderSchema, type Decoded, type Order } from '../shared/wire.ts';
import { accept, decide, type Surroundings } from './decide.ts';
import { accepted, matched, refused, staled } from './ledger/entry.ts';
import { keyOf, type Ledger, type PlacementEntry } from './ledger/ledger.ts';
import type { Reports } from './report.ts';
import { viewOf } from './statement.ts';

export interface IntakeParts {
  readonly ledger: Ledger;
  readonly reports: Reports;
  readonly cluster: string;
  readonly around: () => Surroundings;
  /** Something is recorded that may start, stop or change a run. */
  readonly wake: () => void;
  readonly log: Log;
  readonly count: (verdict: Verdict) => void;
}

export type Verdict = 'accepted' | 'duplicate' | 'stale' | 'refused' | 'cluster';

/** Kubernetes' rules for names: whatever else comes is no placement. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Resolves when the message is recorded; rejects when the ledger cannot be written. */
export async function takeIn(parts: IntakeParts, subject: string, data: Uint8Array): Promise<void> {
  const stack = stackOfOrder(subject);
  if (stack === undefined) return takeClusterOrder(parts, data);
  if (!NAME.test(stack.namespace) || !NAME.test(stack.name)) {
    parts.count('refused');
    parts.log.warn({ subject }, 'a message that names no placement was passed over');
    return;
  }
  const decoded = decode(orderSchema, data);
  const refusal = refusalOf(decoded, stack, parts.cluster);
  if (refusal !== undefined || decoded.kind !== 'message')
    return refuse(parts, { stack, reason: refusal ?? unreadable, gen: readGen(decoded, data) });
  return takeOrder(parts, decoded.message);
}

const unreadable: Reason = { code: 'Invalid', text: 'the order cannot be read' };

function refusalOf(decoded: Decoded<Order>, stack: StackRef, cluster: string): Reason | undefined {
  if (decoded.kind === 'unknownVersion')
    return {
      code: 'NotYetSupported',
      text: `the order has version ${JSON.stringify(decoded.version)}: update this agent`,
    };
  if (decoded.kind === 'malformed')
    return { code: 'Invalid', text: `the order cannot be read: ${decoded.error}` };
  const order = decoded.message;
  if (order.cluster !== cluster)
    return { code: 'Invalid', text: `the order is for cluster ${order.cluster}, this is ${cluster}` };
  if (keyOf(order.stack) !== keyOf(stack))
    return {
      code: 'Invalid',
      text: `the order on the subject of ${keyOf(stack)} is for ${keyOf(order.stack)}`,
    };
  return undefined;
}

/**
 * Generation of an order that is for us and cannot be read, so that the hub does not send it again and again. One that
 * is for somebody else has none here.
 */
function readGen(decoded: Decoded<Order>, data: Uint8Array): number | undefined {
  if (decoded.kind === 'message') return undefined;
  try {
    const { gen } = JSON.parse(new TextDecoder().decode(data)) as { gen?: unknown };
    return Number.isSafeInteger(gen) && (gen as number) > 0 ? (gen as number) : undefined;
  } catch {
    return undefined;
  }
}

async function refuse(parts: IntakeParts, refusal: Parameters<typeof refused>[1]): Promise<void> {
  parts.count('refused');
  parts.log.warn({ placement: keyOf(refusal.stack), reason: refusal.reason.text }, 'order refused');
  await change(parts, refusal.stack, (entry) =>
    refusal.gen !== undefined && refusal.gen < (entry?.gen ?? 0) ? entry : refused(entry, refusal),
  );
}

async function takeOrder(parts: IntakeParts, order: Order): Promise<void> {
  let verdict: Verdict = 'accepted';
  await change(parts, order.stack, (entry) => {
    const acceptance = accept(entry, order.gen);
    switch (acceptance.kind) {
      case 'duplicate':
        verdict = 'duplicate';
        return entry && matched(entry);
      case 'stale':
        verdict = 'stale';
        return entry && staled(entry, order.gen);
      case 'accept': {
        verdict = 'accepted';
        const around = parts.around();
        const replaces = entry !== undefined && decide(entry, around).kind === 'run';
        return accepted(entry, order, { now: around.now, replaces });
      }
    }
  });
  parts.count(verdict);
  const { gen, action, source } = order;
  parts.log.info({ placement: keyOf(order.stack), gen, action, commit: source.commit }, `order ${verdict}`);
}

/** The entry and the report about it are one write. */
async function change(
  parts: IntakeParts,
  stack: StackRef,
  make: (entry: PlacementEntry | undefined) => PlacementEntry | undefined,
): Promise<void> {
  const value = await parts.ledger.update(stack, (entry) => {
    const next = make(entry);
    if (next === undefined || next === entry) return next;
    return parts.reports.stated(next, viewOf(next, decide(next, parts.around())));
  });
  parts.reports.send(value);
  parts.wake();
}

async function takeClusterOrder(parts: IntakeParts, data: Uint8Array): Promise<void> {
  const decoded = decode(clusterOrderSchema, data);
  parts.count('cluster');
  if (decoded.kind !== 'message' || decoded.message.cluster !== parts.cluster) {
    parts.log.warn({ kind: decoded.kind }, 'a policy that is not for this cluster was passed over');
    return;
  }
  const order = decoded.message;
  await parts.ledger.updateHeader((header) =>
    order.gen > (header.clusterOrder?.gen ?? 0) ? { ...header, clusterOrder: order } : header,
  );
  parts.wake();
}
