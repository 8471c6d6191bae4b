/** What is read of the answers of the hub's API, and as what it is followed here. Pure. */
import * as z from 'zod';
import { phaseSchema } from '../../shared/outcome.ts';
import { changesSchema } from '../../shared/wire.ts';
import type { CommitRow, PlacementRow, RunRow } from './standing.ts';

const reason = z.object({ code: z.string(), text: z.string() });
const identity = z.object({ cluster: z.string(), namespace: z.string(), name: z.string() });

export const placementItem = identity.extend({
  phase: phaseSchema,
  reason: reason.nullable(),
  gen: z.object({ order: z.number().nullable(), report: z.number().nullable() }),
  verdict: z.string().nullable(),
  agent: z.object({ state: z.enum(['Online', 'Offline', 'Unheard']) }),
  reportedAt: z.number().nullable(),
});
export type PlacementItem = z.infer<typeof placementItem>;

export const placementDetail = placementItem.extend({
  order: z
    .object({ gen: z.number(), inputDigest: z.string(), source: z.object({ commit: z.string() }) })
    .nullable(),
  report: z
    .object({
      gen: z.number(),
      inputDigest: z.string(),
      runId: z.string().optional(),
      startedAt: z.number().optional(),
      finishedAt: z.number().optional(),
      changes: changesSchema.optional(),
      tail: z.array(z.string()).optional(),
    })
    .nullable(),
  decided: z.object({ reasons: z.array(reason) }).nullable(),
});
export type PlacementDetail = z.infer<typeof placementDetail>;

export const commitItem = z.object({
  id: z.string(),
  subject: z.string(),
  plannedAt: z.number(),
  counts: z.record(z.string(), z.number()),
});
export const commitDetail = commitItem.extend({
  decisions: z.array(
    identity.extend({ verdict: z.string(), reasons: z.array(reason), gen: z.number().optional() }),
  ),
  next: z.string().nullable(),
});
export type CommitDetail = z.infer<typeof commitDetail>;

export const runItem = z.object({
  runId: z.string(),
  gen: z.number(),
  inputDigest: z.string(),
  kind: z.string(),
  trigger: reason,
  result: z.enum(['succeeded', 'failed']),
  startedAt: z.number(),
  finishedAt: z.number(),
});
export type RunItem = z.infer<typeof runItem>;

export const clusterItem = z.object({ name: z.string(), declared: z.boolean() });

export const sourceItem = z.object({ name: z.string(), state: z.string(), message: z.string().default('') });
export type SourceRow = z.infer<typeof sourceItem>;

export const problemItem = z.object({
  severity: z.enum(['error', 'warning']),
  text: z.string(),
  origin: z.object({ path: z.string(), line: z.number() }),
});
export type ProblemItem = z.infer<typeof problemItem>;

/** Decides whether the detail of a placement has to be read again. */
export const stamp = ({ phase, gen, verdict, agent, reportedAt }: PlacementItem): string =>
  JSON.stringify([phase, gen, verdict, agent.state, reportedAt]);

/** A placement with its detail. */
export function placementRow(detail: PlacementDetail): PlacementRow {
  const { cluster, namespace, name, phase, order, report, decided } = detail;
  const standing = standingOf(detail.verdict);
  return {
    cluster,
    namespace,
    name,
    phase,
    agent: detail.agent.state,
    reason: standing === 'planned' ? (detail.reason?.text ?? '') : textOf(decided?.reasons ?? []),
    standing,
    ...(order === null
      ? {}
      : { wanted: { gen: order.gen, digest: order.inputDigest, commit: order.source.commit } }),
    ...(report === null ? {} : { reported: reportedOf(report) }),
  };
}

function standingOf(verdict: string | null): PlacementRow['standing'] {
  if (verdict === 'refused') return 'refused';
  return verdict === 'hold' ? 'held' : 'planned';
}

const textOf = (reasons: readonly { readonly text: string }[]): string =>
  reasons.map(({ text }) => text).join('; ');

function reportedOf(report: NonNullable<PlacementDetail['report']>): NonNullable<PlacementRow['reported']> {
  const { gen, inputDigest, runId, startedAt, finishedAt, changes, tail } = report;
  return {
    gen,
    digest: inputDigest,
    ...(runId === undefined ? {} : { runId }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(changes === undefined ? {} : { changes }),
    ...(tail === undefined ? {} : { tail }),
  };
}

/** A commit with all its decisions. */
export const commitRow = (commit: Omit<CommitDetail, 'next'>): CommitRow => ({
  sha: commit.id,
  subject: commit.subject,
  plannedAt: commit.plannedAt,
  unchanged: commit.counts['unchanged'] ?? 0,
  decisions: commit.decisions.map(({ cluster, namespace, name, verdict, reasons, gen }) => ({
    cluster,
    namespace,
    name,
    verdict,
    reasons: reasons.map(({ text }) => text),
    ...(gen === undefined ? {} : { gen }),
  })),
});

/** A run of a placement. */
export const runRow = (
  { cluster, namespace, name }: z.infer<typeof identity>,
  { runId, kind, gen, inputDigest, trigger, result, startedAt, finishedAt }: RunItem,
): RunRow => ({
  cluster,
  namespace,
  name,
  runId,
  kind,
  gen,
  digest: inputDigest,
  trigger: trigger.code,
  result,
  startedAt,
  finishedAt,
});

/** `fleet.yaml:12: …` */
export const problemText = ({ origin, text }: ProblemItem): string =>
  `${origin.path}:${origin.line}: ${text}`;
