/**
 * Who leads. One hub at a time polls and publishes; the lease only says who should. What an old leader still sends is
 * refused by the streams themselves, since the new one wrote its term there first.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import { isWrongSequence, Kvm, type JetStreamClient, type KV } from '../shared/nats.ts';
import { LEASE_BUCKET } from '../shared/subjects.ts';

const KEY = 'hub';

export interface Lease {
  /** Whether this hub may plan and publish now, by its own clock. */
  leads(now: number): boolean;
  /** Gives the lease up at once and for good, so that the next hub need not wait. */
  release(): Promise<void>;
}

interface Held {
  readonly revision: number;
  /** When the last accepted renewal was sent, ms. */
  readonly sentAt: number;
}

export interface LeaseOptions {
  readonly js: JetStreamClient;
  /** Of the data folder, which one process has at a time. */
  readonly id: string;
  readonly log: Log;
  readonly clock: () => number;
  /** Called when this hub has begun to lead. */
  readonly onLead: () => void;
}

/** Keeps trying to hold the lease until `signal` is aborted. */
export function keepLease(
  options: LeaseOptions,
  signal: AbortSignal,
): Lease & { readonly done: Promise<void> } {
  let held: Held | undefined;
  let released = false;
  const leads = (now: number): boolean => held !== undefined && now - held.sentAt < limits.leaseGiveUpMs;
  const attempt = async (): Promise<void> => {
    const led = leads(options.clock());
    const renewed = await renew(options, held);
    if (released) return;
    held = renewed;
    if (!led && leads(options.clock())) options.onLead();
  };
  const done = (async () => {
    while (!signal.aborted && !released) {
      await attempt().catch((error: unknown) => options.log.warn({ err: error }, 'lease not renewed'));
      await wait(limits.leaseRenewMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  const release = async (): Promise<void> => {
    const last = held;
    released = true;
    held = undefined;
    if (last === undefined) return;
    const bucket = await openBucket(options.js);
    await bucket.delete(KEY, { previousSeq: last.revision }).catch(() => undefined);
  };
  return { leads, release, done };
}

const openBucket = (js: JetStreamClient): Promise<KV> =>
  new Kvm(js).create(LEASE_BUCKET, { ttl: limits.leaseTtlMs, history: 1 });

async function renew({ js, id, clock }: LeaseOptions, held: Held | undefined): Promise<Held | undefined> {
  const bucket = await openBucket(js);
  const sentAt = clock();
  const value = JSON.stringify({ id, at: sentAt });
  if (held !== undefined) {
    const revision = await bucket.update(KEY, value, held.revision).catch(lost);
    if (revision !== undefined) return { revision, sentAt };
  }
  const revision = (await bucket.create(KEY, value).catch(lost)) ?? (await retake(bucket, { id, value }));
  return revision === undefined ? undefined : { revision, sentAt };
}

/** A hub that was killed and started again need not wait for its own lease to end: two of one id never run at once. */
async function retake(
  bucket: KV,
  { id, value }: { readonly id: string; readonly value: string },
): Promise<number | undefined> {
  const entry = await bucket.get(KEY);
  if (entry === null || holderOf(entry.string()) !== id) return undefined;
  return bucket.update(KEY, value, entry.revision).catch(lost);
}

function holderOf(value: string): unknown {
  try {
    return (JSON.parse(value) as { id?: unknown }).id;
  } catch {
    return undefined;
  }
}

/** Somebody else holds it; any other error is not an answer and is thrown on. */
function lost(error: unknown): undefined {
  if (isWrongSequence(error)) return undefined;
  throw error;
}
