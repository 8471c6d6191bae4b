/**
 * Every message between hub and agent. JSON, checked by zod on both sides; unknown fields are ignored, an unknown
 * version is refused. Times are milliseconds since the epoch unless a name says otherwise.
 */
import * as z from 'zod';
import { failureClassSchema, phaseSchema, reasonSchema } from './outcome.ts';
import { surroundingsSchema } from './surroundings.ts';

export const WIRE_VERSION = 1;

const version = z.literal(WIRE_VERSION);
const time = z.number().int().nonnegative();
const counter = z.number().int().nonnegative();
const stackRef = z.object({ namespace: z.string().min(1), name: z.string().min(1) });

/** Where a value comes from on a plain machine; the agent's allow-list decides whether it may be read. */
export const valueFromSchema = z.union([z.object({ env: z.string() }), z.object({ file: z.string() })]);
export type ValueFrom = z.infer<typeof valueFromSchema>;

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
const json: z.ZodType<Json> = z.json();

/**
 * What a run is made of, besides its files. All of it is in the input digest, so a field at its default is absent:
 * a field that a later version adds then changes no digest.
 */
export const runInputsSchema = z.object({
  /** Folder of Pulumi.yaml from the artifact's root; `.` is the root. */
  project: z.string().min(1),
  /** Full name of the Pulumi stack, such as `organization/web/prod`. */
  pulumiStack: z.string().min(1),
  backend: z.object({ url: z.string().optional(), scope: z.literal('cluster').optional() }).optional(),
  secretsProvider: z.string().optional(),
  /** Absent: merge. */
  stackConfig: z.enum(['ignore', 'require']).optional(),
  config: z.record(z.string(), json).optional(),
  configSecrets: z.record(z.string(), valueFromSchema).optional(),
  env: z
    .array(
      z.union([
        z.object({ name: z.string(), value: z.string() }),
        z.object({ name: z.string(), valueFrom: valueFromSchema }),
      ]),
    )
    .optional(),
  files: z
    .array(z.object({ path: z.string(), valueFrom: valueFromSchema, env: z.string().optional() }))
    .optional(),
  refresh: z.literal(true).optional(),
  targets: z.array(z.string()).optional(),
  excludes: z.array(z.string()).optional(),
  replace: z.array(z.string()).optional(),
  runProgram: z.literal(true).optional(),
  /** Absent: auto, that is by lockfile. */
  install: z.literal('none').optional(),
  /** Commands that run after the install, before Pulumi. */
  build: z.array(z.array(z.string()).min(1)).optional(),
});
export type RunInputs = z.infer<typeof runInputsSchema>;

/** How a run is carried out. A change of it alone reaches the agent as a new order and runs nothing. */
export const runPolicySchema = z.object({
  create: z.enum(['ifMissing', 'never']),
  pendingCreates: z.enum(['hold', 'clear']),
  timeoutMs: z.number().int().positive(),
  parallel: z.number().int().positive(),
  continueOnError: z.boolean(),
  message: z.string(),
  weight: z.number().int().positive(),
  priority: z.number().int(),
  concurrencyGroup: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});
export type RunPolicy = z.infer<typeof runPolicySchema>;

export const artifactRefSchema = z.object({
  /** sha256 of the stored (encrypted) bytes, hex. */
  name: z.string().regex(/^[0-9a-f]{64}$/),
  /** AES-256-GCM key, base64. It travels in the order only. */
  key: z.string(),
  /** Stored bytes. */
  size: counter,
  chunks: z.number().int().positive(),
  /** sha256 of the tar, hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  compression: z.enum(['zstd', 'gzip']),
});
export type ArtifactRef = z.infer<typeof artifactRefSchema>;

const sourceSchema = z.object({
  repository: z.string(),
  ref: z.string(),
  commit: z.string(),
  subject: z.string(),
  author: z.string(),
  time,
  /** The document that asks for this placement, so that a hub without memory knows whose file broke. */
  manifest: z.object({ repository: z.string(), path: z.string(), line: z.number().int() }),
});
export type OrderSource = z.infer<typeof sourceSchema>;

export const ACTIONS = ['run', 'preview', 'refresh', 'destroy', 'forget', 'hold'] as const;

/** What a placement should be from now on. A later order replaces an earlier one; `gen` alone says which is later. */
export const orderSchema = z.object({
  v: version,
  gen: z.number().int().positive(),
  term: counter,
  cluster: z.string(),
  stack: stackRef,
  action: z.enum(ACTIONS),
  inputDigest: z.string(),
  /** Digests of other versions that mean the same inputs. */
  equals: z.array(z.string()),
  policyDigest: z.string(),
  /** Whose Pulumi stack it is: backend, full stack name and, with a cluster-scoped backend, the cluster. */
  claim: z.string(),
  source: sourceSchema,
  artifact: artifactRefSchema,
  inputs: runInputsSchema,
  policy: runPolicySchema,
  /** What the repository has around the artifact; in no digest. Absent: the artifact is the whole tree. */
  surroundings: surroundingsSchema.optional(),
  reasons: z.array(reasonSchema),
  runRequest: z.string().optional(),
  issuedAt: time,
});
export type Order = z.infer<typeof orderSchema>;

/** The cluster's own policy, and the term of the hub that leads. */
export const clusterOrderSchema = z.object({
  v: version,
  gen: z.number().int().positive(),
  term: counter,
  cluster: z.string(),
  policy: z.object({
    maxConcurrentRuns: z.number().int().positive(),
    suspend: z.object({ reason: z.string(), until: time.optional() }).optional(),
  }),
});
export type ClusterOrder = z.infer<typeof clusterOrderSchema>;
export type ClusterPolicy = ClusterOrder['policy'];

export const changesSchema = z.object({
  create: counter,
  update: counter,
  delete: counter,
  replace: counter,
  same: counter,
});
export type Changes = z.infer<typeof changesSchema>;

export const lastSuccessSchema = z.object({
  /** Of the cluster in which it succeeded: in a rebuilt cluster it proves nothing. */
  incarnation: z.string(),
  inputDigest: z.string(),
  commit: z.string(),
  artifact: artifactRefSchema,
  /** Of the order: another one means that nothing was applied there yet. */
  claim: z.string(),
  pulumiStack: z.string(),
  backendUrl: z.string().optional(),
  runRequest: z.string().optional(),
  at: time,
});
export type LastSuccess = z.infer<typeof lastSuccessSchema>;

/** The agent's statement of a placement's state; the one with the greatest (ledger, seq) holds. */
export const reportSchema = z.object({
  v: version,
  /** Epoch of the ledger that made this report. */
  ledger: counter,
  seq: counter,
  gen: counter,
  cluster: z.string(),
  stack: stackRef,
  agent: z.string(),
  phase: phaseSchema,
  reason: reasonSchema,
  inputDigest: z.string(),
  commit: z.string(),
  runId: z.string().optional(),
  attempt: counter,
  startedAt: time.optional(),
  finishedAt: time.optional(),
  changes: changesSchema.optional(),
  failure: failureClassSchema.optional(),
  next: z
    .object({
      kind: z.string(),
      at: time.optional(),
      queuePosition: counter.optional(),
      blockedBy: z.string().optional(),
    })
    .optional(),
  lock: z.object({ holder: z.string(), since: time.optional() }).optional(),
  pendingCreates: z.array(z.string()).optional(),
  /** Newest lines of the run's output, redacted. */
  tail: z.array(z.string()).optional(),
  /** Set when an order was refused: what the ledger has, what came. */
  stale: z.object({ have: counter, got: counter }).optional(),
  lastSuccess: lastSuccessSchema.optional(),
  /** An update began and none has succeeded since: the last success says nothing about what is applied. */
  unclean: z.literal(true).optional(),
  at: time,
});
export type Report = z.infer<typeof reportSchema>;

export const RUN_KINDS = ['update', 'preview', 'refresh', 'destroy'] as const;

/** One execution of the Pulumi CLI, after its end. */
export const runRecordSchema = z.object({
  v: version,
  runId: z.string(),
  gen: counter,
  cluster: z.string(),
  stack: stackRef,
  inputDigest: z.string(),
  commit: z.string(),
  kind: z.enum(RUN_KINDS),
  attempt: counter,
  trigger: reasonSchema,
  result: z.enum(['succeeded', 'failed']),
  class: failureClassSchema.optional(),
  message: z.string().optional(),
  startedAt: time,
  finishedAt: time,
  changes: changesSchema,
  /** Changed resources, operation and URN, no values. */
  resources: z.array(z.object({ op: z.string(), urn: z.string() })),
  toolchain: z.record(z.string(), z.string()),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

export const logChunkSchema = z.object({
  v: version,
  run: z.string(),
  n: counter,
  last: z.boolean(),
  lines: z.array(z.string()),
});
export type LogChunk = z.infer<typeof logChunkSchema>;

const placementStateSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  gen: counter,
  seq: counter,
  /** What the order of that generation says, in short; empty: none is held. */
  says: z.string(),
});

/** Sent at connect, at an interval and after any drop, so that both sides find out what the other lost. */
export const helloSchema = z.object({
  v: version,
  /** Identity of the cluster itself; a rebuilt cluster has a new one. */
  incarnation: z.string(),
  /** Epoch of the agent's ledger; 0: a new ledger that has none yet. */
  ledger: counter,
  /** Hash over the sorted (placement, gen) of everything in the ledger; see {@link ../shared/resync.ts}. */
  ordersHash: z.string(),
  reportsHash: z.string(),
  /** Asked for by an earlier answer. */
  list: z.array(placementStateSchema).optional(),
});
export type Hello = z.infer<typeof helloSchema>;
export type PlacementState = z.infer<typeof placementStateSchema>;

export const helloAnswerSchema = z.object({
  v: version,
  term: counter,
  /** The hashes differ: say hello again with the whole list. */
  needList: z.boolean(),
  /** Say hello again after so long: nothing is done about a difference that was seen only once. */
  againMs: counter.optional(),
  /** Highest ledger epoch that the hub has seen from this cluster. */
  epoch: counter,
  /** Placements whose report the hub lacks or has an older one of: send it again. */
  resend: z.array(stackRef),
  /** Last successes from the board; taken only by an empty ledger of the same incarnation. */
  seed: z
    .array(
      z.object({
        stack: stackRef,
        gen: counter,
        lastSuccess: lastSuccessSchema,
        unclean: z.literal(true).optional(),
      }),
    )
    .optional(),
});
export type HelloAnswer = z.infer<typeof helloAnswerSchema>;

export const beatSchema = z.object({
  v: version,
  agent: z.string(),
  version: z.string(),
  free: counter,
  running: z.array(z.string()),
  settledHash: z.string(),
  at: time,
});
export type Beat = z.infer<typeof beatSchema>;

export type Decoded<T> =
  | { readonly kind: 'message'; readonly message: T }
  | { readonly kind: 'unknownVersion'; readonly version: unknown }
  | { readonly kind: 'malformed'; readonly error: string };

/** Reads a message. An empty body, a foreign answer or a newer version is never taken for a message. */
export function decode<T>(schema: z.ZodType<T>, bytes: Uint8Array): Decoded<T> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return { kind: 'malformed', error: 'not JSON' };
  }
  const found = (value as { v?: unknown } | null)?.v;
  if (found !== WIRE_VERSION) return { kind: 'unknownVersion', version: found };
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { kind: 'message', message: parsed.data }
    : { kind: 'malformed', error: z.prettifyError(parsed.error) };
}

/** A message as bytes. */
export const encode = (message: { v: typeof WIRE_VERSION }): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(message));
