/** How a placement is shown: its status and the flags beside it, as functions of its row, its agent and now. */
import { limits } from '../shared/limits.ts';
import { PHASES, SETTLED } from '../shared/outcome.ts';
import type { Liveness } from './liveness.ts';
import type { Row } from './view.ts';

/** What people see: a phase, or that its agent is silent. */
export const STATUSES = [...PHASES, 'Offline'] as const;
export type Status = (typeof STATUSES)[number];

/**
 * `Offline`: no beat of its agent within the cluster's limit. `Unheard`: the hub does not know yet whether the agent is
 * there. `Stale`: reported as at work for longer than its run may take. `Behind`: the agent has not recorded the order
 * in force.
 */
export const FLAGS = ['Offline', 'Unheard', 'Stale', 'Behind'] as const;

export interface Flag {
  readonly flag: (typeof FLAGS)[number];
  /** ms. */
  readonly since: number;
  readonly text: string;
  /** Behind: by so many commits of its source, where known. */
  readonly commits?: number;
}

/** The status with the time since when it holds, ms. */
export interface Shown {
  readonly status: Status;
  readonly since: number;
}

/**
 * A silent agent is never shown as its last green, and neither is a placement whose wanted state is held, refused or not
 * yet recorded by its agent. Work in progress is shown as what it is.
 */
export function shownAs(row: Row, agent: Liveness): Shown {
  if (agent.state === 'Offline') return { status: 'Offline', since: agent.since };
  if (agent.state === 'Unheard') return { status: 'Unknown', since: agent.since };
  if (row.report !== undefined && !SETTLED.has(row.phase))
    return { status: row.phase, since: row.phaseSince };
  const held = heldAs(row);
  if (held !== undefined) return held;
  if (row.behind !== undefined) return { status: 'Pending', since: row.behind.since };
  return { status: row.phase, since: row.phaseSince };
}

/** What was not read yet is not wrong: the agent's report stands, with the state of the source beside it. */
const isInvalid = ({ refused }: Row): boolean =>
  refused !== undefined && refused.reason.code !== 'SourceUnavailable';

function heldAs(row: Row): Shown | undefined {
  const { decided } = row;
  if (decided?.decision.verdict === 'refused' || isInvalid(row))
    return { status: 'Invalid', since: decided?.at ?? row.phaseSince };
  if (decided?.decision.verdict !== 'hold') return undefined;
  const code = decided.decision.reasons[0]?.code;
  const status = code === 'Suspended' || code === 'Orphaned' ? code : 'Waiting';
  return { status, since: decided.at };
}

/** In the order of {@link FLAGS}. */
export function flagsOf(row: Row, agent: Liveness, now: number): readonly Flag[] {
  return [...agentFlags(row, agent), ...staleFlags(row, now), ...behindFlags(row)];
}

function agentFlags(row: Row, agent: Liveness): readonly Flag[] {
  if (agent.state === 'Online') return [];
  const text =
    agent.state === 'Offline'
      ? `the agent of ${row.cluster} is silent; what it reported last may no longer hold`
      : `the agent of ${row.cluster} has not been heard since the hub listens`;
  return [{ flag: agent.state, since: agent.since, text }];
}

/** After its time limit a run is stopped in two steps; a report is due after that. */
function staleFlags(row: Row, now: number): readonly Flag[] {
  const { report } = row;
  if (report === undefined || (report.phase !== 'Running' && report.phase !== 'Preparing')) return [];
  const timeoutMs = row.order?.policy.timeoutMs ?? limits.runTimeoutMs;
  const due = report.at + timeoutMs + limits.stopGraceMs + limits.stopSecondGraceMs + limits.offlineAfterMs;
  if (now < due) return [];
  return [
    { flag: 'Stale', since: due, text: `reported as ${report.phase}, but a report of its end is overdue` },
  ];
}

function behindFlags(row: Row): readonly Flag[] {
  if (row.behind === undefined) return [];
  const { since, commits } = row.behind;
  const reported = row.report === undefined ? 'no order' : `order ${row.report.gen}`;
  const text = `the agent reports ${reported}, in force is order ${row.order?.gen ?? 0}`;
  return [{ flag: 'Behind', since, text, ...(commits === undefined ? {} : { commits }) }];
}
