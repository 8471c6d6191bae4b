/**
 * The last planned commits and what was decided about a placement at each. A decision that only repeats the standing
 * one is not stored again, so the cost follows what happened, and still every question "why not?" has an answer.
 */
import { limits } from '../shared/limits.ts';
import type { DecidedAt, Decision, PlannedCommit, Verdict } from './decision.ts';
import { placementKey, type PlacementId } from './placement.ts';

export interface History {
  /** Newest first. */
  readonly commits: readonly PlannedCommit[];
  /** What stood before the oldest of them, by placement key. */
  readonly base: ReadonlyMap<string, DecidedAt>;
  /** What stands now, by placement key. */
  readonly standing: ReadonlyMap<string, DecidedAt>;
}

/** Nothing planned yet. */
export const EMPTY_HISTORY: History = { commits: [], base: new Map(), standing: new Map() };

/** Verdicts that published something: a later pass at the same commit that finds nothing to do does not hide them. */
const PUBLISHED: ReadonlySet<Verdict> = new Set<Verdict>(['run', 'policy', 'forget']);

/** How a pass is added. */
export interface Adding {
  /** Planned commits that are kept. */
  readonly keep?: number;
  /** Of the decisions, those that this commit may have brought about; the others are told by the commit of another source. */
  readonly owns?: (decision: Decision) => boolean;
}

/**
 * Adds a pass with a decision for every placement. The commit that its source was at before keeps its place and what it
 * started, its other decisions are replaced; a commit that a source came back to is a new entry.
 */
export function addPlanned(
  history: History,
  planned: PlannedCommit,
  { keep = limits.keptCommits, owns = () => true }: Adding = {},
): History {
  const at = history.commits.findIndex((held) => sameSource(held, planned));
  const held = history.commits[at];
  const again = held !== undefined && held.commit.id === planned.commit.id;
  const taken = takeDecisions(history.standing, planned, { held: again ? held : undefined, owns });
  const entry: PlannedCommit = { ...(again ? held : planned), ...taken.entry };
  const commits = again ? history.commits.with(at, entry) : [entry, ...history.commits];
  const base = stand(history.base, commits.slice(keep).reverse());
  return { commits: commits.slice(0, keep), base, standing: stand(history.standing, [taken.news]) };
}

/** A watched ref of a repository. */
export type SourceId = Pick<PlannedCommit, 'repository' | 'ref'>;
/** Whether two are the same one. */
export const sameSource = (a: SourceId, b: SourceId): boolean =>
  a.repository === b.repository && a.ref === b.ref;

interface Taken {
  readonly entry: Pick<PlannedCommit, 'decisions' | 'orders' | 'counts'>;
  /** The pass with its news only. */
  readonly news: PlannedCommit;
}

function takeDecisions(
  standing: History['standing'],
  planned: PlannedCommit,
  {
    held,
    owns,
  }: { readonly held: PlannedCommit | undefined; readonly owns: (decision: Decision) => boolean },
): Taken {
  const kept = new Map((held?.decisions ?? []).map((decision) => [placementKey(decision), decision]));
  const counts: Partial<Record<Verdict, number>> = {};
  const news: Decision[] = [];
  for (const decision of planned.decisions) {
    const key = placementKey(decision);
    const before = kept.get(key);
    const hidden = before !== undefined && decision.verdict === 'unchanged' && PUBLISHED.has(before.verdict);
    const verdict = hidden ? before.verdict : decision.verdict;
    counts[verdict] = (counts[verdict] ?? 0) + 1;
    if (!hidden && owns(decision) && !sameDecision(decision, standing.get(key)?.decision))
      news.push(decision);
  }
  for (const decision of news) kept.set(placementKey(decision), decision);
  const entry = { decisions: [...kept.values()], orders: (held?.orders ?? 0) + planned.orders, counts };
  return { entry, news: { ...planned, decisions: news } };
}

/** By code and text: ten thousand of them are compared in every pass. */
const sameDecision = (a: Decision, b: Decision | undefined): boolean =>
  b !== undefined &&
  a.verdict === b.verdict &&
  a.gen === b.gen &&
  a.reasons.length === b.reasons.length &&
  a.reasons.every((one, n) => one.code === b.reasons[n]?.code && one.text === b.reasons[n]?.text);

/** Later decisions replace earlier ones; `planned` is in order of time. */
function stand(before: History['standing'], planned: readonly PlannedCommit[]): History['standing'] {
  if (planned.every(({ decisions }) => decisions.length === 0)) return before;
  const standing = new Map(before);
  for (const { commit, plannedAt, decisions } of planned) {
    for (const decision of decisions)
      standing.set(placementKey(decision), { decision, commit: commit.id, at: plannedAt });
  }
  return standing;
}

/** A history from its stored parts. */
export const historyOf = (commits: readonly PlannedCommit[], base: History['base']): History => ({
  commits,
  base,
  standing: stand(base, [...commits].reverse()),
});

/** Forgets what stands about placements that are gone. */
export function forgetPlacements(history: History, gone: ReadonlySet<string>): History {
  const without = (map: History['base']): History['base'] =>
    new Map([...map].filter(([key]) => !gone.has(key)));
  return { ...history, base: without(history.base), standing: without(history.standing) };
}

/** The planned commit with this id, or with the start of it (at least seven digits). */
export const findCommit = ({ commits }: History, id: string): PlannedCommit | undefined =>
  commits.find((held) => held.commit.id === id) ??
  (id.length >= 7 ? commits.find((held) => held.commit.id.startsWith(id)) : undefined);

/** The newest entry of each source that was at a commit: two of them may be at the same one. */
const entriesOf = ({ commits }: History, id: string): readonly PlannedCommit[] =>
  commits
    .filter(({ commit }) => commit.id === id)
    .filter((entry, n, all) => all.findIndex((other) => sameSource(other, entry)) === n);

const holds = ({ decisions }: PlannedCommit, key: string): boolean =>
  decisions.some((decision) => placementKey(decision) === key);

export interface Why {
  readonly planned: PlannedCommit;
  /** Whether the decision was made at this commit; else it was made before and still stood. */
  readonly here: boolean;
  /** Absent: nothing had been decided about the placement by then. */
  readonly decided?: DecidedAt;
}

/** Why a commit did what it did to a placement. Undefined: the commit is not among the kept ones. */
export function whyAt(history: History, id: string, placement: PlacementId): Why | undefined {
  const first = findCommit(history, id);
  if (first === undefined) return undefined;
  const key = placementKey(placement);
  const planned = entriesOf(history, first.commit.id).find((entry) => holds(entry, key)) ?? first;
  for (const older of history.commits) {
    // those of other sources that the same pass saw are not later
    if (older.plannedAt > planned.plannedAt) continue;
    const decision = older.decisions.find((one) => placementKey(one) === key);
    if (decision === undefined) continue;
    const decided = { decision, commit: older.commit.id, at: older.plannedAt };
    return { planned, here: older === planned, decided };
  }
  const decided = history.base.get(key);
  return { planned, here: false, ...(decided === undefined ? {} : { decided }) };
}

/** Commits of the same source planned after `commit`; undefined when it is not among the kept ones. */
export function commitsBehind(
  { commits }: History,
  at: SourceId & { readonly commit: string },
): number | undefined {
  const index = commits
    .filter((held) => sameSource(held, at))
    .findIndex((held) => held.commit.id === at.commit);
  return index < 0 ? undefined : index;
}
