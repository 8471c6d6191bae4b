/**
 * A new version of the digest runs nothing. Where the order in force has the digest of an older version, the new one is
 * worked out at the commit of that order: if it says what it says now, the order is published again under the new digest
 * with the old one as its equal, and the agent goes on from there without a run. The same holds for the digest of a newer
 * version, which a hub that was put back meets.
 */
import type { Order } from '../shared/wire.ts';
import { digestV1 } from './digest/v1.ts';
import { digestV2, filesDigest, isCurrent } from './digest/v2.ts';
import type { Tree } from './git/source.ts';
import { infer } from './inputs/runtimes.ts';
import type { SelectRequest } from './inputs/select.ts';
import { makeSelections, type Selected } from './inputs/selections.ts';
import { wholeLockfile } from './inputs/whole.ts';
import { placementKey, type Placement, type Wanted } from './placement.ts';

/** A commit with what its own manifests say about its files. */
export interface Commit extends Pick<SelectRequest, 'projects' | 'documents'> {
  readonly tree: Tree;
}

/** Commits by repository and id; undefined: it cannot be read, now or any more. */
export interface Commits {
  newest(repository: string): Commit | undefined;
  older(repository: string, commit: string): Promise<Commit | undefined>;
}

/** Orders of so many different commits are looked at closely; those of the others have to stand the simpler test. */
const CLOSE_COMMITS = 50;

interface Pair {
  readonly wanted: Wanted;
  readonly order: Order;
}

/** The wanted placements; those of which an older order means the same inputs say so. */
export async function withEquals(
  all: readonly Wanted[],
  inForce: ReadonlyMap<string, Order>,
  commits: Commits,
): Promise<readonly Wanted[]> {
  const outdated = all.flatMap((wanted): Pair[] => {
    const order = inForce.get(placementKey(wanted.placement));
    return order === undefined || order.action === 'forget' || isCurrent(order.inputDigest)
      ? []
      : [{ wanted, order }];
  });
  if (outdated.length === 0) return all;
  const fresh = outdated.filter(({ wanted, order }) => judged.get(order)?.wanted !== wanted);
  await judge(fresh, commits);
  const equal = new Map(
    outdated.flatMap(({ wanted, order }) =>
      judged.get(order)?.same === true ? [[wanted, order.inputDigest] as const] : [],
    ),
  );
  return all.map((wanted) => {
    const digest = equal.get(wanted);
    return digest === undefined ? wanted : { ...wanted, equals: [digest] };
  });
}

/** What was found of an order, so that one that stays in force, such as a hold, is looked at once. */
const judged = new WeakMap<Order, { readonly wanted: Wanted; readonly same: boolean }>();

async function judge(outdated: readonly Pair[], commits: Commits): Promise<void> {
  const groups = [
    ...Map.groupBy(outdated, ({ order: { source } }) => `${source.repository} ${source.commit}`).values(),
  ];
  groups.sort((a, b) => b.length - a.length);
  for (const [n, group] of groups.entries()) {
    // there is no simpler test of what a newer hub has ordered
    const close = n < CLOSE_COMMITS || group.some(({ order }) => !isV1(order));
    const same = new Set(await equalsOf(group, commits, close));
    for (const pair of group) judged.set(pair.order, { wanted: pair.wanted, same: same.has(pair) });
  }
}

/** Those of one commit whose order means what is wanted. */
async function equalsOf(group: readonly Pair[], commits: Commits, close: boolean): Promise<readonly Pair[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { repository, commit } = first.order.source;
  const then = close ? await commits.older(repository, commit) : undefined;
  const told = then === undefined ? new Map<Pair, boolean>() : await atThatCommit(group, then);
  const newest = commits.newest(repository);
  const rest = group.filter((pair) => !told.has(pair));
  const same = newest === undefined ? [] : await byOldDigest(rest, newest);
  return [...group.filter((pair) => told.get(pair) === true), ...same];
}

const isV1 = ({ inputDigest }: Order): boolean => inputDigest.startsWith('v1:');

/**
 * The new digest at the commit of the order against the one of now. Only where the old digest comes out as the order has
 * it: otherwise something that no commit holds was different then, and nothing is told. What the digest of a newer version
 * stands for cannot be worked out here.
 */
async function atThatCommit(group: readonly Pair[], then: Commit): Promise<ReadonlyMap<Pair, boolean>> {
  const placed = group.map(({ wanted, order }) => ordered(wanted.placement, order));
  const [old, current] = await chosen(placed, then, ['v1', 'v2']);
  return new Map(
    group.flatMap((pair, n): [Pair, boolean][] => {
      const { order, wanted } = pair;
      const [before, after] = [old?.[n], current?.[n]];
      if (after === undefined) return [];
      if (isV1(order) && (!before || digestV1(order.inputs, before.files) !== order.inputDigest)) return [];
      return [[pair, digestV2(order.inputs, after.filesDigest) === wanted.inputDigest]];
    }),
  );
}

/** The old digest of now against the one of the order. */
async function byOldDigest(group: readonly Pair[], newest: Commit): Promise<readonly Pair[]> {
  const [old] = await chosen(
    group.map(({ wanted }) => wanted.placement),
    newest,
    ['v1'],
  );
  return group.filter(({ wanted, order }, n) => {
    const files = old?.[n]?.files;
    return files !== undefined && digestV1(wanted.placement.inputs, files) === order.inputDigest;
  });
}

/** The placement as its order has it. */
const ordered = (placement: Placement, { inputs }: Order): Placement => ({
  ...placement,
  source: { ...placement.source, project: inputs.project },
  inputs,
});

type Version = 'v1' | 'v2';

/** By the rules of each version, the files of each placement; undefined: it has none there. The tree is read once. */
async function chosen(
  placements: readonly Placement[],
  { tree, projects, documents }: Commit,
  versions: readonly Version[],
): Promise<readonly (readonly (Selected | undefined)[])[]> {
  const keyOf = (version: Version, n: number): string => `${version} ${n}`;
  const requests = versions.flatMap((version) =>
    placements.map((placement, n): [string, SelectRequest] => {
      const how = version === 'v2' && placement.source.inferInputs ? infer : wholeLockfile;
      return [keyOf(version, n), { placement, projects, documents, infer: how }];
    }),
  );
  const selected = await makeSelections(filesDigest).selectAll(tree, new Map(requests));
  return versions.map((version) =>
    placements.map((_, n) => {
      const one = selected.get(keyOf(version, n));
      return one === undefined || one.problems.length > 0 ? undefined : one;
    }),
  );
}
