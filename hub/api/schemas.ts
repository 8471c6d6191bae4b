/**
 * What the API answers, as zod types. They are the allow-list: nothing is in an answer that is not named here, and the
 * OpenAPI document is made from them. Times are milliseconds since the epoch, durations milliseconds.
 */
import * as z from 'zod';
import { changesSchema, RUN_KINDS, ACTIONS } from '../../shared/wire.ts';
import { failureClassSchema, phaseSchema, reasonCodeSchema } from '../../shared/outcome.ts';
import { VERDICTS } from '../decision.ts';
import { FLAGS, STATUSES } from '../flags.ts';
import { DRIVER_NAMES, SOURCE_STATES } from '../git/source.ts';
import { AGENT_STATES } from '../liveness.ts';

const time = z.number().int().nonnegative();
const count = z.number().int().nonnegative();
const text = z.string();
const labels = z.record(text, text);

/** How a placement is shown. */
const status = z.enum(STATUSES);

const reason = z.strictObject({
  code: reasonCodeSchema,
  text,
  inputs: z.array(z.strictObject({ path: text, from: text.optional(), to: text.optional() })).optional(),
  inputCount: count.optional(),
  commits: z.array(z.strictObject({ id: text, subject: text })).optional(),
});
const flag = z.strictObject({ flag: z.enum(FLAGS), since: time, text, commits: count.optional() });
const origin = z.strictObject({ repository: text, path: text, line: count });
const agentState = z.strictObject({ state: z.enum(AGENT_STATES), since: time });
const changes = z.strictObject(changesSchema.shape);
const decided = z.strictObject({
  verdict: z.enum(VERDICTS),
  reasons: z.array(reason),
  gen: count.optional(),
  commit: text,
  at: time,
});

const placement = z.strictObject({
  cluster: text,
  namespace: text,
  name: text,
  labels,
  /** What holds now; `phase` is what the agent said last. */
  status,
  since: time,
  phase: phaseSchema,
  phaseSince: time,
  flags: z.array(flag),
  reason: reason.nullable(),
  /** Of the order in force, of the last report, of the last success. */
  commit: z.strictObject({ wanted: text.nullable(), reported: text.nullable(), applied: text.nullable() }),
  gen: z.strictObject({ order: count.nullable(), report: count.nullable() }),
  verdict: z.enum(VERDICTS).nullable(),
  source: z.strictObject({ repository: text, state: z.enum(SOURCE_STATES), since: time }).nullable(),
  agent: agentState,
  reportedAt: time.nullable(),
});
export type PlacementAnswer = z.infer<typeof placement>;

const order = z.strictObject({
  gen: count,
  term: count,
  action: z.enum(ACTIONS),
  inputDigest: text,
  policyDigest: text,
  source: z.strictObject({
    repository: text,
    ref: text,
    commit: text,
    subject: text,
    author: text,
    time,
    manifest: origin,
  }),
  artifact: z.strictObject({ name: text, size: count, chunks: count, sha256: text }),
  project: text,
  pulumiStack: text,
  /** Names only. */
  configKeys: z.array(text),
  envNames: z.array(text),
  timeoutMs: count,
  reasons: z.array(reason),
  runRequest: text.optional(),
  issuedAt: time,
});

const report = z.strictObject({
  ledger: count,
  seq: count,
  gen: count,
  agent: text,
  phase: phaseSchema,
  reason,
  inputDigest: text,
  commit: text,
  runId: text.optional(),
  attempt: count,
  startedAt: time.optional(),
  finishedAt: time.optional(),
  changes: changes.optional(),
  failure: failureClassSchema.optional(),
  lock: z.strictObject({ holder: text, since: time.optional() }).optional(),
  pendingCreates: z.array(text).optional(),
  tail: z.array(text).optional(),
  stale: z.strictObject({ have: count, got: count }).optional(),
  at: time,
});

const next = z.strictObject({
  kind: text,
  at: time.optional(),
  queuePosition: count.optional(),
  blockedBy: text.optional(),
});

const placementDetail = placement.extend({
  origin: origin.nullable(),
  annotations: labels,
  order: order.nullable(),
  report: report.nullable(),
  decided: decided.nullable(),
  next: next.nullable(),
  lastSuccess: z.strictObject({ inputDigest: text, commit: text, pulumiStack: text, at: time }).nullable(),
  /** How old each part of this answer is, where it is there. */
  ages: z.strictObject({
    statusMs: count,
    phaseMs: count,
    reportMs: count.optional(),
    orderMs: count.optional(),
    decisionMs: count.optional(),
    agentMs: count,
    sourceMs: count.optional(),
  }),
});
export type PlacementDetailAnswer = z.infer<typeof placementDetail>;

const plannedCommit = z.strictObject({
  repository: text,
  ref: text,
  id: text,
  subject: text,
  author: text,
  time,
  plannedAt: time,
  orders: count,
  /** Placements by verdict. */
  counts: z.record(text, count),
});
export type CommitAnswer = z.infer<typeof plannedCommit>;

const decision = z.strictObject({
  cluster: text,
  namespace: text,
  name: text,
  verdict: z.enum(VERDICTS),
  reasons: z.array(reason),
  gen: count.optional(),
});

const why = z.strictObject({
  commit: plannedCommit.nullable(),
  /** The decision was made at this commit; else it was made earlier and still stood. */
  here: z.boolean(),
  decided: decided.nullable(),
  text,
});
export type WhyAnswer = z.infer<typeof why>;

const run = z.strictObject({
  runId: text,
  gen: count,
  inputDigest: text,
  commit: text,
  kind: z.enum(RUN_KINDS),
  attempt: count,
  trigger: reason,
  result: z.enum(['succeeded', 'failed']),
  class: failureClassSchema.optional(),
  message: text.optional(),
  startedAt: time,
  finishedAt: time,
  durationMs: count,
  changes,
});
const runDetail = run.extend({
  resources: z.array(z.strictObject({ op: text, urn: text })),
  toolchain: labels,
});
export type RunAnswer = z.infer<typeof run>;
export type RunDetailAnswer = z.infer<typeof runDetail>;

const cluster = z.strictObject({
  name: text,
  labels,
  declared: z.boolean(),
  agent: agentState,
  beat: z
    .strictObject({ agent: text, version: text, free: count, running: z.array(text), heardAt: time })
    .nullable(),
  maxConcurrentRuns: count.optional(),
  suspended: z.strictObject({ reason: text, until: time.optional() }).optional(),
  /** Placements by status. */
  placements: z.record(text, count),
});
export type ClusterAnswer = z.infer<typeof cluster>;

const source = z.strictObject({
  name: text,
  url: text,
  ref: text,
  trust: z.enum(['fleet', 'stacks', 'sources']),
  driver: z.enum(DRIVER_NAMES).nullable(),
  state: z.enum(SOURCE_STATES),
  since: time,
  checkedAt: time,
  message: text.optional(),
  moved: z
    .strictObject({ from: text, to: text, descends: z.enum(['yes', 'no', 'unknown']), at: time })
    .nullable(),
  mended: z.strictObject({ at: time, damage: text }).nullable(),
  note: text.optional(),
  commit: z.strictObject({ id: text, subject: text, author: text, time }).nullable(),
});
export type SourceAnswer = z.infer<typeof source>;

const catalogProblem = z.strictObject({
  severity: z.enum(['error', 'warning']),
  code: text,
  text,
  origin,
  document: z.strictObject({ kind: text, namespace: text.optional(), name: text }).nullable(),
});
export type CatalogProblemAnswer = z.infer<typeof catalogProblem>;

/** RFC 9457. */
const httpProblem = z.strictObject({
  type: text,
  title: text,
  status: z.number().int(),
  detail: text,
  errors: z.array(z.strictObject({ path: text, text })).optional(),
});
export type HttpProblem = z.infer<typeof httpProblem>;

const pageOf = <T extends z.ZodType>(
  item: T,
): z.ZodObject<{
  items: z.ZodArray<T>;
  total: typeof count;
  next: z.ZodNullable<z.ZodString>;
}> => z.strictObject({ items: z.array(item), total: count, next: text.nullable() });

/** By the name that the OpenAPI document gives it. */
export const schemas = {
  Reason: reason,
  Placement: placement,
  PlacementDetail: placementDetail,
  PlacementPage: pageOf(placement),
  Why: why,
  Run: run,
  RunDetail: runDetail,
  RunList: z.strictObject({ items: z.array(run) }),
  Log: z.strictObject({ run: text, lines: z.array(text), complete: z.boolean() }),
  Cluster: cluster,
  ClusterList: z.strictObject({ items: z.array(cluster) }),
  Commit: plannedCommit,
  CommitList: z.strictObject({ items: z.array(plannedCommit) }),
  CommitDetail: plannedCommit.extend({ decisions: z.array(decision), next: text.nullable() }),
  SourceList: z.strictObject({ items: z.array(source) }),
  CatalogProblemList: z.strictObject({ items: z.array(catalogProblem) }),
  Health: z.strictObject({ status: z.enum(['ok', 'failing']), reason: text.optional() }),
  Ready: z.strictObject({ status: z.enum(['ready']) }),
  Problem: httpProblem,
} as const;
export type SchemaName = keyof typeof schemas;
export type Answer<N extends SchemaName> = z.infer<(typeof schemas)[N]>;
