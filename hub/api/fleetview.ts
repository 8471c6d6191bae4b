/** Clusters, commits, sources, problems and runs as answers: only what is named here leaves the hub. */
import type { RunRecord } from '../../shared/wire.ts';
import type { Board } from '../board.ts';
import type { Problem } from '../catalog/catalog.ts';
import type { Decision, PlannedCommit } from '../decision.ts';
import { shownAs } from '../flags.ts';
import type { SourceView } from '../git/source.ts';
import type { History, Why } from '../history.ts';
import type { Liveness } from '../liveness.ts';
import { withoutShapes } from '../shapes.ts';
import type { View } from '../view.ts';
import type { ClusterView } from './model.ts';
import { decidedAnswer, defined, reasonAnswer } from './placementview.ts';
import type {
  Answer,
  CatalogProblemAnswer,
  ClusterAnswer,
  CommitAnswer,
  RunAnswer,
  RunDetailAnswer,
  SourceAnswer,
  WhyAnswer,
} from './schemas.ts';

/** Placements of each cluster by status. */
export function countByCluster(
  view: View,
  agentOf: (cluster: string) => Liveness,
): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const counts = new Map<string, Record<string, number>>();
  for (const row of view.rows) {
    const { status } = shownAs(row, agentOf(row.cluster));
    const ofCluster = counts.get(row.cluster) ?? {};
    ofCluster[status] = (ofCluster[status] ?? 0) + 1;
    counts.set(row.cluster, ofCluster);
  }
  return counts;
}

export interface ClusterContext {
  readonly board: Board;
  readonly agent: Liveness;
  readonly counts: Readonly<Record<string, number>>;
}

/** A cluster with its agent. */
export function clusterAnswer(cluster: ClusterView, { board, agent, counts }: ClusterContext): ClusterAnswer {
  const heard = board.beats.get(cluster.name);
  const { maxConcurrentRuns, suspended } = cluster;
  return {
    name: cluster.name,
    labels: { ...cluster.labels },
    declared: cluster.declared,
    agent: { ...agent },
    beat:
      heard === undefined
        ? null
        : {
            agent: heard.beat.agent,
            version: heard.beat.version,
            free: heard.beat.free,
            running: [...heard.beat.running],
            heardAt: heard.heardAt,
          },
    ...defined({ maxConcurrentRuns }),
    ...(suspended === undefined
      ? {}
      : { suspended: { reason: suspended.reason, ...defined({ until: suspended.until }) } }),
    placements: { ...counts },
  };
}

/** A planned commit without its decisions. */
export const commitAnswer = (planned: PlannedCommit): CommitAnswer => ({
  repository: planned.repository,
  ref: planned.ref,
  id: planned.commit.id,
  subject: withoutShapes(planned.commit.subject),
  author: planned.commit.author,
  time: planned.commit.time,
  plannedAt: planned.plannedAt,
  orders: planned.orders,
  counts: { ...(planned.counts ?? countVerdicts(planned.decisions)) },
});

/** Why nothing is known of a commit. */
export const notKept = ({ commits }: History): string =>
  `it is none of the last ${commits.length} planned commits; of commits that come at once, the newest is planned`;

function countVerdicts(decisions: readonly Decision[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of decisions) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/** What a commit decided about one placement. */
export const decisionAnswer = ({
  cluster,
  stack,
  verdict,
  reasons,
  gen,
}: Decision): Answer<'CommitDetail'>['decisions'][number] => ({
  cluster,
  namespace: stack.namespace,
  name: stack.name,
  verdict,
  reasons: reasons.map(reasonAnswer),
  ...defined({ gen }),
});

/** Why a commit did what it did to a placement, in words as well. */
export function whyAnswer({ planned, here, decided }: Why): WhyAnswer {
  const subject = `commit ${planned.commit.id.slice(0, 12)}`;
  const reasons = decided?.decision.reasons.map(({ text }) => withoutShapes(text)).join('; ') ?? '';
  const text =
    decided === undefined
      ? `nothing had been decided about it by ${subject}`
      : here
        ? `${decided.decision.verdict} at ${subject}: ${reasons}`
        : `${subject} changed nothing for it; since ${decided.commit.slice(0, 12)}: ${decided.decision.verdict}: ${reasons}`;
  return {
    commit: commitAnswer(planned),
    here,
    decided: decided === undefined ? null : decidedAnswer(decided),
    text,
  };
}

/** A watched repository; its message was made without credentials. */
export const sourceAnswer = (view: SourceView): SourceAnswer => ({
  name: view.name,
  url: withoutShapes(view.url),
  ref: view.ref,
  trust: view.trust,
  driver: view.driver ?? null,
  state: view.state,
  since: view.since,
  checkedAt: view.checkedAt,
  ...(view.message === undefined ? {} : { message: withoutShapes(view.message) }),
  moved: view.moved ?? null,
  mended:
    view.mended === undefined ? null : { at: view.mended.at, damage: withoutShapes(view.mended.damage) },
  ...(view.note === undefined ? {} : { note: withoutShapes(view.note) }),
  commit:
    view.tree === undefined
      ? null
      : {
          id: view.tree.commit.id,
          subject: withoutShapes(view.tree.commit.subject),
          author: view.tree.commit.author,
          time: view.tree.commit.time,
        },
});

/** An error or warning of the catalog. */
export const problemAnswer = ({ severity, code, text, origin, identity }: Problem): CatalogProblemAnswer => ({
  severity,
  code,
  text: withoutShapes(text),
  origin: { repository: origin.repository, path: origin.path, line: origin.line },
  document:
    identity === undefined
      ? null
      : { kind: identity.kind, ...defined({ namespace: identity.namespace }), name: identity.name },
});

/** A finished run; its texts were cleaned when it was read. */
export function runAnswer(run: RunRecord): RunAnswer {
  const { runId, gen, inputDigest, commit, kind, attempt, result, message, startedAt, finishedAt } = run;
  return {
    ...{ runId, gen, inputDigest, commit, kind, attempt, result, startedAt, finishedAt },
    trigger: reasonAnswer(run.trigger),
    ...defined({ class: run.class, message }),
    durationMs: Math.max(0, finishedAt - startedAt),
    changes: { ...run.changes },
  };
}

/** With the changed resources, names only. */
export const runDetailAnswer = (run: RunRecord): RunDetailAnswer => ({
  ...runAnswer(run),
  resources: run.resources.map(({ op, urn }) => ({ op, urn })),
  toolchain: { ...run.toolchain },
});
