/** What the agent says about a placement: from its entry and what goes on with it to the next report. Pure. */
import { canonical } from '../shared/canonical.ts';
import { SETTLED, type Phase, type Reason } from '../shared/outcome.ts';
import { WIRE_VERSION, type Report } from '../shared/wire.ts';
import type { Decision } from './decide.ts';
import type { Ending, PlacementEntry, Running } from './ledger/ledger.ts';

/** How a placement stands at this moment. */
export interface View {
  readonly phase: Phase;
  readonly reason: Reason;
  readonly next?: NonNullable<Report['next']>;
  readonly lock?: NonNullable<Report['lock']>;
  readonly run?: { readonly runId: string; readonly attempt: number; readonly startedAt: number };
  readonly stale?: NonNullable<Report['stale']>;
}

/** Who speaks, and the number of the word. */
export interface Voice {
  readonly cluster: string;
  readonly agent: string;
  readonly epoch: number;
  readonly seq: number;
  readonly now: number;
}

/** How a placement stands by the ledger alone; undefined when there is nothing to say. */
export function viewOf(entry: PlacementEntry, decision: Decision): View | undefined {
  const view = plainView(entry, decision);
  return view === undefined ? undefined : withStale(view, entry.stale);
}

/** A refused older order is told until a newer one comes; what goes on keeps its own reason. */
export function withStale(view: View, stale: PlacementEntry['stale']): View {
  if (stale === undefined) return view;
  const text = `an order of generation ${stale.got} was refused: ${stale.have} was accepted before`;
  return { ...view, stale, ...(SETTLED.has(view.phase) ? { reason: { code: 'StaleOrder', text } } : {}) };
}

function plainView(entry: PlacementEntry, decision: Decision): View | undefined {
  switch (decision.kind) {
    case 'none':
      return undefined;
    case 'follow':
      return entry.running === undefined ? undefined : viewOfRunning(entry, entry.running);
    case 'wait':
      return {
        phase: decision.phase,
        reason: decision.reason,
        ...(decision.until === undefined ? {} : { next: { kind: 'hold', at: decision.until } }),
      };
    case 'skip':
      return { phase: decision.phase, reason: decision.reason };
    case 'forget':
      // Orphaned, because its resources stay and nobody applies it; the reason tells it from an undecided one.
      return { phase: 'Orphaned', reason: { ...decision.reason, code: 'Removed' } };
    case 'run':
      return { phase: 'Pending', reason: decision.reason };
  }
}

/** The newest order may be another one than the run is for: then it waits for the run's end. */
function viewOfRunning(entry: PlacementEntry, { attempt, order, trigger }: Running): View {
  if (entry.order?.gen === attempt.gen)
    return {
      phase: 'Running',
      reason: trigger,
      run: { runId: attempt.runId, attempt: attempt.number, startedAt: attempt.startedAt },
    };
  return {
    phase: 'Waiting',
    reason: {
      code: 'NoSlot',
      text: `starts after the run for commit ${order.source.commit}, which still goes on`,
    },
    next: { kind: 'run', blockedBy: attempt.runId },
  };
}

/** The report that puts a view into words. */
export function statementOf(entry: PlacementEntry, view: View, voice: Voice): Report {
  const { order, lastSuccess } = entry;
  return {
    v: WIRE_VERSION,
    ledger: voice.epoch,
    seq: voice.seq,
    gen: entry.gen,
    cluster: voice.cluster,
    stack: entry.stack,
    agent: voice.agent,
    phase: view.phase,
    reason: view.reason,
    inputDigest: order?.inputDigest ?? lastSuccess?.inputDigest ?? '',
    commit: order?.source.commit ?? lastSuccess?.commit ?? '',
    attempt: 0,
    ...detailsOf(entry, view),
    ...(view.run === undefined ? {} : view.run),
    ...(view.next === undefined ? {} : { next: view.next }),
    ...(view.lock === undefined ? {} : { lock: view.lock }),
    ...(view.stale === undefined ? {} : { stale: view.stale }),
    ...(lastSuccess === undefined ? {} : { lastSuccess }),
    ...(entry.unclean === undefined ? {} : { unclean: entry.unclean }),
    at: voice.now,
  };
}

/** A settled placement also shows how the attempt for its generation ended. */
function detailsOf(entry: PlacementEntry, view: View): Partial<Report> {
  const { last } = entry;
  return last !== undefined && last.gen === entry.gen && SETTLED.has(view.phase) ? endingDetails(last) : {};
}

function endingDetails(last: Ending): Partial<Report> {
  return {
    runId: last.runId,
    attempt: last.number,
    startedAt: last.startedAt,
    finishedAt: last.finishedAt,
    ...(last.changes === undefined ? {} : { changes: last.changes }),
    ...(last.failure === undefined ? {} : { failure: last.failure }),
    ...(last.tail === undefined ? {} : { tail: last.tail }),
    ...(last.lock === undefined ? {} : { lock: last.lock }),
    ...(last.pendingCreates === undefined ? {} : { pendingCreates: last.pendingCreates }),
  };
}

/** Whether a report says nothing that the one before did not. */
export function saysTheSame(one: Report | undefined, other: Report): boolean {
  if (one === undefined) return false;
  const bare = ({ ledger: _, seq: __, at: ___, ...rest }: Report): string => canonical(rest);
  return bare(one) === bare(other);
}
