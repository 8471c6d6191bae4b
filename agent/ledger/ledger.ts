/**
 * The agent's durable record: per placement the last order, the attempt that is under way, the last success and the
 * newest report; for the agent itself its epoch and the cluster's policy. One interface; every implementation passes
 * the same contract test.
 */
import * as z from 'zod';
import { failureClassSchema, reasonSchema } from '../../shared/outcome.ts';
import type { StackRef } from '../../shared/subjects.ts';
import {
  changesSchema,
  clusterOrderSchema,
  lastSuccessSchema,
  orderSchema,
  reportSchema,
  runRecordSchema,
} from '../../shared/wire.ts';
import type { Attempt } from '../executor.ts';

const time = z.number().int().nonnegative();
const counter = z.number().int().nonnegative();

const attemptSchema: z.ZodType<Attempt> = z.object({
  runId: z.string(),
  gen: counter,
  inputDigest: z.string(),
  commit: z.string(),
  number: counter,
  process: z.object({ pid: counter, startTime: z.string(), bootId: z.string() }),
  startedAt: time,
  timeoutMs: z.number(),
});

/** A run that was told to go and has no recorded end. The order is the one it was started for. */
const runningSchema = z.object({ attempt: attemptSchema, order: orderSchema, trigger: reasonSchema });
export type Running = z.infer<typeof runningSchema>;

/** How the newest attempt ended. `held`: it never began, and a person is needed. */
const endingSchema = z.object({
  runId: z.string(),
  gen: counter,
  inputDigest: z.string(),
  number: counter,
  result: z.enum(['succeeded', 'failed', 'held']),
  failure: failureClassSchema.optional(),
  reason: reasonSchema,
  changes: changesSchema.optional(),
  startedAt: time,
  finishedAt: time,
  tail: z.array(z.string()).optional(),
  lock: z.object({ holder: z.string(), since: time.optional() }).optional(),
  pendingCreates: z.array(z.string()).optional(),
});
export type Ending = z.infer<typeof endingSchema>;

export const entrySchema = z.object({
  stack: z.object({ namespace: z.string(), name: z.string() }),
  /** The greatest generation that was ever accepted; outlives the order by {@link KEEP_GEN_MS}. */
  gen: counter,
  /** Absent: forgotten, only seeded, or the first one could not be read. */
  order: orderSchema.optional(),
  /** When the order was recorded: its age in the queue. */
  acceptedAt: time.optional(),
  /** Set by an order that could not be read or is not for this cluster; the order in force stays. */
  refused: reasonSchema.optional(),
  /** An order below `gen` came: what was there, what came. Until the next newer order. */
  stale: z.object({ have: counter, got: counter }).optional(),
  /** Orders that were replaced before they had started, since the last start; newest {@link MAX_SUPERSEDED}. */
  superseded: z.array(z.object({ gen: counter, commit: z.string() })).optional(),
  running: runningSchema.optional(),
  last: endingSchema.optional(),
  /** An update began and none has succeeded since: what is applied is not known. */
  unclean: z.literal(true).optional(),
  lastSuccess: lastSuccessSchema.optional(),
  consumedRunRequest: z.string().optional(),
  encryptionSalt: z.string().optional(),
  report: reportSchema.optional(),
  /** `seq` of the report that the broker has acknowledged; equal to the report's own when nothing is to be sent. */
  acked: counter.optional(),
  /** Finished runs that the broker has not acknowledged. */
  records: z.array(runRecordSchema),
  forgottenAt: time.optional(),
});
export type PlacementEntry = z.infer<typeof entrySchema>;

export const headerSchema = z.object({
  /** Which ledger this is, greater than any that the hub has seen. 0: a new one that has not learnt that yet. */
  epoch: counter,
  /** Of the cluster at the last start. */
  incarnation: z.string(),
  /** Report numbers below it may have been used, whether or not the report was recorded. */
  reserved: counter,
  /** The cluster's own policy, with its generation. */
  clusterOrder: clusterOrderSchema.optional(),
});
export type Header = z.infer<typeof headerSchema>;

/** After forget the generation is kept so long, so that a late message of before is still refused. */
export const KEEP_GEN_MS = 30 * 24 * 60 * 60 * 1_000;

/** Replaced orders that are kept for the reason of the run that comes after them. */
export const MAX_SUPERSEDED = 5;

/** `namespace/name`, the key of every map of the agent. */
export const keyOf = (stack: StackRef): string => `${stack.namespace}/${stack.name}`;

/**
 * Changes are functions of the value that is there when their turn comes, one after the other for one placement, so
 * that an implementation with optimistic writes can repeat them. A change must therefore be pure. What is read is
 * always what is durable. Equal values are not written.
 */
export interface Ledger {
  readonly header: Header;
  readonly entries: ReadonlyMap<string, PlacementEntry>;
  /** Goes up with every change of an entry: what is derived from entries can be kept until then. */
  readonly revision: number;
  /** Resolves with the value that is durable. A change that gives undefined removes or leaves out the entry. */
  update(
    stack: StackRef,
    change: (entry: PlacementEntry | undefined) => PlacementEntry | undefined,
  ): Promise<PlacementEntry | undefined>;
  updateHeader(change: (header: Header) => Header): Promise<Header>;
  /** Waits for what is being written and lets another agent open the ledger. */
  close(): Promise<void>;
}
