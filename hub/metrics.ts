/**
 * Figures for Prometheus. No label grows with the fleet: repositories, actions, codes, phases and results only, so that
 * a thousand clusters cost what one does.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { REASON_CODES, SETTLED } from '../shared/outcome.ts';
import { ACTIONS, type Order, type Report } from '../shared/wire.ts';
import type { ReadModel } from './api/model.ts';
import { agentsAt } from './api/agents.ts';
import { shownAs, STATUSES } from './flags.ts';
import { DROP_CAUSES, type DropCause } from './intake.ts';
import { SOURCE_STATES, type SourceView } from './git/source.ts';
import { AGENT_STATES } from './liveness.ts';

export interface Metrics {
  /** A pass that planned took so long, ms. */
  planned(ms: number): void;
  ordered(order: Pick<Order, 'action'>): void;
  /** A commit came to rest in an order so long after it was made, ms. */
  committed(lagMs: number): void;
  dropped(cause: DropCause): void;
  /** Placements that were published again because an agent or the broker had lost them. */
  resynced(placements: number): void;
  /** What happened to repositories since the views of before. */
  sources(views: readonly SourceView[], before: readonly SourceView[]): void;
  /** A newer report; `before` is the one that it replaces. */
  reported(report: Report, before: Report | undefined): void;
  /** The text for Prometheus, with what the model says now. */
  expose(model: ReadModel): Promise<{ readonly type: string; readonly text: string }>;
}

/** Figures of one hub, in a registry of their own. */
export function makeMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  const counters = makeCounters(registers);
  const gauges = makeGauges(registers);
  return {
    planned: (ms) => counters.planSeconds.observe(ms / 1_000),
    ordered: ({ action }) => counters.orders.inc({ action }),
    committed: (lagMs) => counters.commitLag.observe(Math.max(0, lagMs) / 1_000),
    dropped: (cause) => counters.dropped.inc({ cause }),
    resynced: (placements) => counters.resyncs.inc(placements),
    sources: (views, before) => {
      const known = new Map(before.map((view) => [view.name, view]));
      for (const { name, moved, mended } of views) {
        const last = known.get(name);
        const isRewrite = moved?.descends === 'no' && moved.at !== last?.moved?.at;
        counters.rewrites.inc({ repository: name }, isRewrite ? 1 : 0);
        const isMended = mended !== undefined && mended.at !== last?.mended?.at;
        counters.mended.inc({ repository: name }, isMended ? 1 : 0);
      }
    },
    reported: (report, before) => {
      const result = runEnd(report, before);
      if (result === undefined) return;
      counters.runs.inc({ result });
      if (report.startedAt !== undefined && report.finishedAt !== undefined)
        counters.runSeconds.observe({ result }, Math.max(0, report.finishedAt - report.startedAt) / 1_000);
    },
    expose: async (model) => {
      read(model, gauges);
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** A report of a run's end is counted once, whatever is reported about the same run later. */
export function runEnd(report: Report, before: Report | undefined): 'succeeded' | 'failed' | undefined {
  const { runId, finishedAt, phase } = report;
  if (runId === undefined || finishedAt === undefined || !SETTLED.has(phase)) return undefined;
  if (before?.runId === runId && before.finishedAt !== undefined) return undefined;
  return report.failure === undefined && phase === 'Succeeded' ? 'succeeded' : 'failed';
}

function makeCounters(registers: Registry[]) {
  const seconds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
  const counters = {
    planSeconds: new Histogram({
      name: 'towline_plan_seconds',
      help: 'Time of a pass that planned.',
      buckets: seconds,
      registers,
    }),
    commitLag: new Histogram({
      name: 'towline_commit_lag_seconds',
      help: 'From the committer’s time to the pass that planned the commit.',
      buckets: [1, 2, 5, 10, 15, 30, 60, 300, 3_600],
      registers,
    }),
    orders: new Counter({
      name: 'towline_orders_total',
      help: 'Orders published.',
      labelNames: ['action'] as const,
      registers,
    }),
    runs: new Counter({
      name: 'towline_runs_total',
      help: 'Runs that ended, by result.',
      labelNames: ['result'] as const,
      registers,
    }),
    runSeconds: new Histogram({
      name: 'towline_run_seconds',
      help: 'Time of a run.',
      labelNames: ['result'] as const,
      buckets: [1, 5, 15, 30, 60, 300, 900, 3_600],
      registers,
    }),
    dropped: new Counter({
      name: 'towline_dropped_messages_total',
      help: 'Messages of agents that were left out.',
      labelNames: ['cause'] as const,
      registers,
    }),
    ...sourceCounters(registers),
    resyncs: new Counter({
      name: 'towline_resyncs_total',
      help: 'Placements published again because they were lost on the way.',
      registers,
    }),
  };
  for (const action of ACTIONS) counters.orders.inc({ action }, 0);
  for (const result of ['succeeded', 'failed']) counters.runs.inc({ result }, 0);
  for (const cause of DROP_CAUSES) counters.dropped.inc({ cause }, 0);
  return counters;
}

function sourceCounters(registers: Registry[]) {
  return {
    rewrites: new Counter({
      name: 'towline_source_rewrites_total',
      help: 'Moves of a watched ref to a commit that does not descend from the one before.',
      labelNames: ['repository'] as const,
      registers,
    }),
    mended: new Counter({
      name: 'towline_source_mended_total',
      help: 'Times that a repository was found damaged and read anew.',
      labelNames: ['repository'] as const,
      registers,
    }),
  };
}

function makeGauges(registers: Registry[]) {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> =>
    new Gauge({ name: `towline_${name}`, help, labelNames: [...labelNames], registers });
  return {
    pollAge: gauge('poll_age_seconds', 'Since the last look at a repository.', ['repository']),
    sourceState: gauge('source_state', '1 for the state that a repository is in.', ['repository', 'state']),
    placements: gauge('placements', 'Placements by status.', ['status']),
    held: gauge('held', 'Placements that the hub holds, by reason.', ['code']),
    agents: gauge('agents', 'Agents by liveness.', ['state']),
    agentAge: gauge('agent_age_max_seconds', 'Longest silence of an agent of a declared cluster.', []),
    problems: gauge('catalog_problems', 'Errors and warnings of the manifests.', ['severity']),
    ready: gauge('ready', '1 when the hub answers for the whole fleet.', []),
  };
}

function read(model: ReadModel, gauges: ReturnType<typeof makeGauges>): void {
  const now = model.now();
  gauges.pollAge.reset();
  gauges.sourceState.reset();
  for (const { name, state, checkedAt } of model.sources()) {
    gauges.pollAge.set({ repository: name }, Math.max(0, now - checkedAt) / 1_000);
    for (const one of SOURCE_STATES)
      gauges.sourceState.set({ repository: name, state: one }, one === state ? 1 : 0);
  }
  readRows(model, gauges);
  const severities = model.problems().map(({ severity }) => severity);
  for (const severity of ['error', 'warning'] as const)
    gauges.problems.set({ severity }, severities.filter((one) => one === severity).length);
  gauges.ready.set(model.notReady() === undefined ? 1 : 0);
}

function readRows(model: ReadModel, gauges: ReturnType<typeof makeGauges>): void {
  const now = model.now();
  const agentOf = agentsAt(model, now);
  const placements = new Map<string, number>(STATUSES.map((status) => [status, 0]));
  const held = new Map<string, number>(REASON_CODES.map((code) => [code, 0]));
  for (const row of model.view().rows) {
    const { status } = shownAs(row, agentOf(row.cluster));
    placements.set(status, (placements.get(status) ?? 0) + 1);
    const decision = row.decided?.decision;
    const code = decision?.reasons[0]?.code;
    if (code !== undefined && (decision?.verdict === 'hold' || decision?.verdict === 'refused'))
      held.set(code, (held.get(code) ?? 0) + 1);
  }
  for (const [status, number] of placements) gauges.placements.set({ status }, number);
  for (const [code, number] of held) gauges.held.set({ code }, number);
  const agents = model.clusters().map(({ name, declared }) => ({ agent: agentOf(name), declared }));
  for (const state of AGENT_STATES)
    gauges.agents.set({ state }, agents.filter(({ agent }) => agent.state === state).length);
  const ages = agents.filter(({ declared }) => declared).map(({ agent }) => now - agent.since);
  gauges.agentAge.set(Math.max(0, ...ages) / 1_000);
}
