/** Which commits brought a change about, as far as the hub has seen them. Pure. */
import { canonical } from '../shared/canonical.ts';
import { MAX_REASON_COMMITS, type Reason, type ReasonCode } from '../shared/outcome.ts';
import type { Decision } from './decision.ts';
import type { Change } from './detect.ts';
import type { Commit, Tree } from './git/source.ts';
import type { History } from './history.ts';
import { placementKey, type Resolution, type Wanted } from './placement.ts';

export interface Causes {
  readonly wanted: readonly Wanted[];
  readonly clusters: Resolution['clusters'];
  readonly trees: ReadonlyMap<string, Tree>;
  readonly history: Pick<History, 'commits' | 'standing'>;
}

/** The changes, with the commits at which they were seen in their reasons. */
export function withCommits(
  changes: ReadonlyMap<string, Change>,
  { wanted, clusters, trees, history }: Causes,
): ReadonlyMap<string, Change> {
  const planned = new Set(history.commits.map(({ repository, commit }) => `${repository} ${commit.id}`));
  const fleet = new Map(clusters.map(({ name, origin }) => [name, origin.repository]));
  const seen = new Map(changes);
  for (const { placement } of wanted) {
    const key = placementKey(placement);
    const change = changes.get(key);
    if (change === undefined || change.kind === 'unchanged') continue;
    const { source, origin, cluster } = placement;
    const manifests = [origin.repository, fleet.get(cluster) ?? origin.repository];
    const standing = history.standing.get(key)?.decision;
    const reasons = change.reasons.map((reason) => {
      const from = reason.code === 'InputChanged' ? [source.repository] : manifests;
      return withCommitsOf(reason, newestOf(from, trees, planned), standing);
    });
    seen.set(key, { ...change, reasons });
  }
  return seen;
}

const CAUSED: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'NewPlacement',
  'InputChanged',
  'ConfigChanged',
  'RunRequested',
]);

/** The newest commits of some repositories; where some of them are planned for the first time, only those. */
function newestOf(
  repositories: readonly string[],
  trees: ReadonlyMap<string, Tree>,
  planned: ReadonlySet<string>,
): readonly Commit[] {
  const read = [...new Set(repositories)].flatMap((name) => {
    const commit = trees.get(name)?.commit;
    return commit === undefined ? [] : [{ commit, isNew: !planned.has(`${name} ${commit.id}`) }];
  });
  const fresh = read.filter(({ isNew }) => isNew);
  return (fresh.length > 0 ? fresh : read).map(({ commit }) => commit);
}

/** What waited before this pass keeps the commits at which it was seen, and gets the newest if it became more or less. */
function withCommitsOf(reason: Reason, newest: readonly Commit[], standing: Decision | undefined): Reason {
  if (!CAUSED.has(reason.code)) return reason;
  const waiting = standing?.verdict === 'hold' ? standing.reasons : [];
  const before = waiting.find(({ code }) => code === reason.code);
  const same = before?.commits !== undefined && whatOf(before) === whatOf(reason);
  const ids = new Set<string>();
  const commits = [...(same ? [] : newest), ...(before?.commits ?? [])]
    .filter(({ id }) => !ids.has(id) && ids.add(id))
    .slice(0, MAX_REASON_COMMITS)
    .map(({ id, subject }) => ({ id, subject: subject.slice(0, SUBJECT_CHARACTERS).toWellFormed() }));
  return commits.length === 0 ? reason : { ...reason, commits };
}

/** An order carries them. */
const SUBJECT_CHARACTERS = 100;

const whatOf = ({ text, inputs = [], inputCount = 0 }: Reason): string =>
  canonical([text, inputs, inputCount]);
