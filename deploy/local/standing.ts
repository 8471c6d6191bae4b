/** How a fleet stands, from what the hub's API says. Pure. */
import { SETTLED, type Phase } from '../../shared/outcome.ts';

export interface Counted {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly replace: number;
  readonly same: number;
}

/** A placement as the API lists it, with what is followed here. */
export interface PlacementRow {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** As its agent said last. */
  readonly phase: Phase;
  /** Whether that agent is there: what a silent one said last may no longer hold. */
  readonly agent: 'Online' | 'Offline' | 'Unheard';
  /** Why it stands so, for people. */
  readonly reason: string;
  /** Generation and digest of the order in force; absent: none was published. */
  readonly wanted?: { readonly gen: number; readonly digest: string; readonly commit: string };
  /** What the agent reported last; absent: nothing yet. */
  readonly reported?: {
    readonly gen: number;
    readonly digest: string;
    readonly runId?: string;
    readonly startedAt?: number;
    readonly finishedAt?: number;
    readonly changes?: Counted;
    /** Newest lines of the run's output. */
    readonly tail?: readonly string[];
  };
  /** `held`: the hub waits on purpose. `refused`: its manifest cannot be planned; an order in force stays. */
  readonly standing: 'planned' | 'held' | 'refused';
}

export interface DecisionRow {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly verdict: string;
  readonly reasons: readonly string[];
  readonly gen?: number;
}

export interface CommitRow {
  readonly sha: string;
  readonly subject: string;
  readonly plannedAt: number;
  readonly decisions: readonly DecisionRow[];
  /** Placements that the commit left alone. */
  readonly unchanged: number;
}

export interface RunRow {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly runId: string;
  readonly kind: string;
  readonly gen: number;
  readonly digest: string;
  readonly trigger: string;
  readonly result: 'succeeded' | 'failed';
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** `cluster namespace/name` */
export const nameOf = (row: Pick<PlacementRow, 'cluster' | 'namespace' | 'name'>): string =>
  `${row.cluster} ${row.namespace}/${row.name}`;

/** Its agent is there, and nothing more happens to it until something from outside changes. */
export function atRest(row: PlacementRow): boolean {
  if (row.wanted === undefined) return row.standing !== 'planned';
  const settled = row.reported !== undefined && row.reported.gen >= row.wanted.gen && SETTLED.has(row.phase);
  return settled && row.agent === 'Online';
}

/** The placements that a commit gave an order to start. */
export const orderedBy = (commit: CommitRow): readonly DecisionRow[] =>
  commit.decisions.filter(({ verdict }) => verdict === 'run');

/** Every order of the commit reached its end, or was replaced by a later one that did. */
export function isDone(commit: CommitRow, rows: readonly PlacementRow[]): boolean {
  const byName = new Map(rows.map((row) => [nameOf(row), row]));
  return orderedBy(commit).every((decision) => {
    const row = byName.get(nameOf(decision));
    return row?.reported !== undefined && row.reported.gen >= (decision.gen ?? 0) && SETTLED.has(row.phase);
  });
}

/** The records of all runs that the agents reported are there: they come by another way than the reports. */
export const isRecorded = (rows: readonly PlacementRow[], runs: readonly RunRow[]): boolean => {
  const known = new Set(runs.map(({ runId }) => runId));
  return rows.every(({ reported }) => {
    const ended = reported?.runId !== undefined && reported.finishedAt !== undefined;
    return !ended || known.has(reported.runId ?? '');
  });
};

export interface CommitFigures {
  readonly sha: string;
  readonly subject: string;
  readonly orders: number;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unchanged: number;
  /** From `since` to the last end of a run; with no run to the plan. */
  readonly seconds: number;
}

/** The figures of a commit that is done. `since`: when it was made or first seen, ms. */
export function figuresOf(
  commit: CommitRow,
  rows: readonly PlacementRow[],
  { runs, since }: { runs: readonly RunRow[]; since: number },
): CommitFigures {
  const ordered = orderedBy(commit);
  const updates = runs.filter((run) => run.kind === 'update');
  const ends = ordered.map((decision) => endOf(decision, { rows, updates }));
  const until = Math.max(commit.plannedAt, ...ends.map(({ at }) => at));
  return {
    sha: commit.sha,
    subject: commit.subject,
    orders: ordered.length,
    runs: ends.reduce((sum, { started }) => sum + started, 0),
    succeeded: ends.filter(({ end }) => end === 'succeeded').length,
    failed: ends.filter(({ end }) => end === 'failed').length,
    unchanged: commit.unchanged,
    seconds: Math.max(0, Math.round((until - since) / 100) / 10),
  };
}

interface End {
  readonly started: number;
  /** `replaced`: a later order came before this one's run. */
  readonly end: 'succeeded' | 'failed' | 'replaced';
  readonly at: number;
}

/** By its runs where it had any; else (nothing could be started, nothing had to) by where the placement came to rest. */
function endOf(
  decision: DecisionRow,
  { rows, updates }: { rows: readonly PlacementRow[]; updates: readonly RunRow[] },
): End {
  const name = nameOf(decision);
  const own = updates.filter((run) => run.gen === decision.gen && nameOf(run) === name);
  const last = own.toSorted((a, b) => a.startedAt - b.startedAt).at(-1);
  if (last !== undefined) return { started: own.length, end: last.result, at: last.finishedAt };
  const row = rows.find((one) => nameOf(one) === name && one.reported?.gen === decision.gen);
  if (row === undefined) return { started: 0, end: 'replaced', at: 0 };
  const end = row.phase === 'Succeeded' ? 'succeeded' : 'failed';
  return { started: 0, end, at: row.reported?.finishedAt ?? 0 };
}

/** Placements at rest with another digest than the wanted one. */
export const lost = (rows: readonly PlacementRow[]): readonly PlacementRow[] =>
  rows.filter((row) => atRest(row) && row.wanted !== undefined && row.reported?.digest !== row.wanted.digest);

const FAILED: ReadonlySet<Phase> = new Set(['Failed', 'Stalled', 'Invalid'] satisfies Phase[]);

/** 0: all is as wanted or held on purpose. 1: a run failed or needs a person. 2: something committed cannot be planned. */
export function exitCodeOf(rows: readonly PlacementRow[], problems: number): 0 | 1 | 2 {
  if (rows.some((row) => FAILED.has(row.phase))) return 1;
  return problems > 0 || rows.some((row) => row.standing === 'refused') ? 2 : 0;
}

/** Triggers that ask for a run of what was applied already. */
const ASKED: ReadonlySet<string> = new Set(['RunRequested', 'ReferenceChanged', 'ClusterRebuilt']);

/** Updates that started although the one before them had succeeded with the same digest. */
export function repeated(runs: readonly RunRow[]): readonly RunRow[] {
  const updates = runs.filter((run) => run.kind === 'update').sort((a, b) => a.startedAt - b.startedAt);
  const before = new Map<string, RunRow>();
  return updates.filter((run) => {
    const last = before.get(nameOf(run));
    before.set(nameOf(run), run);
    return last?.result === 'succeeded' && last.digest === run.digest && !ASKED.has(run.trigger);
  });
}
