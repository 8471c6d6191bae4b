/** A row as an answer: only what is named here leaves the hub. */
import type { Reason } from '../../shared/outcome.ts';
import type { Order, Report } from '../../shared/wire.ts';
import type { DecidedAt } from '../decision.ts';
import { flagsOf, shownAs, type Shown } from '../flags.ts';
import type { Liveness } from '../liveness.ts';
import { withoutShapes } from '../shapes.ts';
import type { Row } from '../view.ts';
import type { Answer, PlacementAnswer, PlacementDetailAnswer } from './schemas.ts';

/** A value id of a changed input: a short hash, or a mode with an object id. Anything else may be a value. */
const VALUE_ID = /^(?:\d{6} )?[0-9a-f]{12,64}$/;

/** A reason without anything that looks like a secret or a value. */
export function reasonAnswer({ code, text, inputs, inputCount, commits }: Reason): Answer<'Reason'> {
  const idOf = (value: string | undefined): string | undefined =>
    value !== undefined && VALUE_ID.test(value) ? value : undefined;
  return {
    code,
    text: withoutShapes(text),
    ...(inputs === undefined
      ? {}
      : { inputs: inputs.map(({ path, from, to }) => defined({ path, from: idOf(from), to: idOf(to) })) }),
    ...(inputCount === undefined ? {} : { inputCount }),
    ...(commits === undefined
      ? {}
      : { commits: commits.map(({ id, subject }) => ({ id, subject: withoutShapes(subject) })) }),
  };
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
/** Without the fields that are undefined. */
export const defined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Defined<T>;

/** One line of a list. */
export function placementAnswer(row: Row, agent: Liveness, now: number): PlacementAnswer {
  const { order, report, source, phase, phaseSince } = row;
  const shown = shownAs(row, agent);
  const reason = shownReason(row, shown);
  return {
    cluster: row.cluster,
    namespace: row.stack.namespace,
    name: row.stack.name,
    labels: { ...row.labels },
    status: shown.status,
    since: shown.since,
    phase,
    phaseSince,
    flags: flagsOf(row, agent, now).map((flag) => ({ ...flag })),
    reason: reason === undefined ? null : reasonAnswer(reason),
    commit: {
      wanted: order?.source.commit ?? null,
      reported: report?.commit ?? null,
      applied: report?.lastSuccess?.commit ?? null,
    },
    gen: { order: order?.gen ?? null, report: report?.gen ?? null },
    verdict: row.decided?.decision.verdict ?? null,
    source: source === undefined ? null : { ...source },
    agent: { ...agent },
    reportedAt: report?.at ?? null,
  };
}

/** Why it is shown as it is. */
function shownReason(row: Row, { status }: Shown): Reason | undefined {
  const decision = row.decided?.decision;
  const refusal = row.refused?.reason ?? decision?.reasons[0];
  const held = decision?.verdict === 'hold' || decision?.verdict === 'refused' || row.refused !== undefined;
  if (held && status !== row.phase) return refusal;
  if (row.behind !== undefined && status === 'Pending') return row.order?.reasons[0];
  return row.report?.reason ?? row.order?.reasons[0] ?? refusal;
}

/** Everything that is known of a placement, without bodies and values. */
export function placementDetail(row: Row, agent: Liveness, now: number): PlacementDetailAnswer {
  const list = placementAnswer(row, agent, now);
  const { order, report, decided, placement, refused } = row;
  const origin = placement?.origin ?? refused?.origin ?? order?.source.manifest;
  const success = report?.lastSuccess;
  const age = (since: number | undefined): number | undefined =>
    since === undefined ? undefined : Math.max(0, now - since);
  return {
    ...list,
    origin:
      origin === undefined ? null : { repository: origin.repository, path: origin.path, line: origin.line },
    annotations: { ...(placement?.policy.annotations ?? order?.policy.annotations) },
    order: order === undefined ? null : orderAnswer(order),
    report: report === undefined ? null : reportAnswer(report),
    decided: decided === undefined ? null : decidedAnswer(decided),
    next: nextAnswer(row, list),
    lastSuccess:
      success === undefined
        ? null
        : {
            inputDigest: success.inputDigest,
            commit: success.commit,
            pulumiStack: success.pulumiStack,
            at: success.at,
          },
    ages: {
      statusMs: Math.max(0, now - list.since),
      phaseMs: Math.max(0, now - row.phaseSince),
      agentMs: Math.max(0, now - agent.since),
      ...defined({
        reportMs: age(report?.at),
        orderMs: age(order?.issuedAt),
        decisionMs: age(decided?.at),
        sourceMs: age(row.source?.since),
      }),
    },
  };
}

function orderAnswer(order: Order): NonNullable<PlacementDetailAnswer['order']> {
  const { repository, ref, commit, subject, author, time, manifest } = order.source;
  const { name, size, chunks, sha256 } = order.artifact;
  return {
    gen: order.gen,
    term: order.term,
    action: order.action,
    inputDigest: order.inputDigest,
    policyDigest: order.policyDigest,
    source: {
      repository,
      ref,
      commit,
      subject: withoutShapes(subject),
      author,
      time,
      manifest: { repository: manifest.repository, path: manifest.path, line: manifest.line },
    },
    artifact: { name, size, chunks, sha256 },
    project: order.inputs.project,
    pulumiStack: order.inputs.pulumiStack,
    configKeys: [
      ...new Set([
        ...Object.keys(order.inputs.config ?? {}),
        ...Object.keys(order.inputs.configSecrets ?? {}),
      ]),
    ].sort(),
    envNames: (order.inputs.env ?? []).map((variable) => variable.name),
    timeoutMs: order.policy.timeoutMs,
    reasons: order.reasons.map(reasonAnswer),
    ...defined({ runRequest: order.runRequest }),
    issuedAt: order.issuedAt,
  };
}

/** Texts of a report were cleaned when it came in. */
function reportAnswer(report: Report): NonNullable<PlacementDetailAnswer['report']> {
  const { ledger, seq, gen, agent, phase, inputDigest, commit, attempt, at } = report;
  const { runId, startedAt, finishedAt, changes, failure, lock, pendingCreates, tail, stale } = report;
  return {
    ...{ ledger, seq, gen, agent, phase, inputDigest, commit, attempt, at },
    reason: reasonAnswer(report.reason),
    ...defined({ runId, startedAt, finishedAt, changes, failure, pendingCreates, tail, stale }),
    ...(lock === undefined ? {} : { lock: { holder: lock.holder, ...defined({ since: lock.since }) } }),
  };
}

/** A decision with where it was made. */
export const decidedAnswer = ({
  decision,
  commit,
  at,
}: DecidedAt): NonNullable<PlacementDetailAnswer['decided']> => ({
  verdict: decision.verdict,
  reasons: decision.reasons.map(reasonAnswer),
  ...defined({ gen: decision.gen }),
  commit,
  at,
});

/** What it waits for: as its agent says, or what the hub holds back, or the delivery of its order. */
function nextAnswer(row: Row, { status, flags }: PlacementAnswer): PlacementDetailAnswer['next'] {
  const { report, decided, refused } = row;
  const decision = decided?.decision;
  if (refused !== undefined || decision?.verdict === 'hold' || decision?.verdict === 'refused')
    return { kind: 'decision', blockedBy: refused?.reason.code ?? decision?.reasons[0]?.code ?? 'Held' };
  if (status === 'Offline') return { kind: 'agent', blockedBy: 'Offline' };
  if (flags.some(({ flag }) => flag === 'Behind')) return { kind: 'delivery' };
  if (report?.next === undefined) return null;
  const { kind, at, queuePosition, blockedBy } = report.next;
  return { kind, ...defined({ at, queuePosition, blockedBy }) };
}
