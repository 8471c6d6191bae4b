/** How the hub's state is cut into files: what of it belongs to a shard, and the whole from its parts. Pure. */
import * as z from 'zod';
import { sha256 } from '../shared/canonical.ts';
import { reasonSchema } from '../shared/outcome.ts';
import { token, untoken } from '../shared/subjects.ts';
import { VERDICTS, type DecidedAt, type Decision, type PlannedCommit } from './decision.ts';
import { historyOf, type History } from './history.ts';
import { clusterOfKey, placementKey } from './placement.ts';

/** Placements in one file: 500 with 20 files and some decisions each are below 2 MB. */
const PLACEMENTS_A_SHARD = 500;

const commitSchema = z.object({
  repository: z.string(),
  ref: z.string(),
  commit: z.object({ id: z.string(), subject: z.string(), author: z.string(), time: z.number() }),
  plannedAt: z.number(),
  orders: z.number(),
  counts: z.record(z.string(), z.number()).optional(),
});
const decisionSchema = z.object({
  cluster: z.string(),
  stack: z.object({ namespace: z.string(), name: z.string() }),
  verdict: z.enum(VERDICTS),
  reasons: z.array(reasonSchema),
  gen: z.number().optional(),
});

export const indexSchema = z.object({ commits: z.array(commitSchema) });
export type Index = z.infer<typeof indexSchema>;

export const shardSchema = z.object({
  /** By commit, see {@link commitKey}. */
  decisions: z.record(z.string(), z.array(decisionSchema)),
  base: z.array(z.object({ decision: decisionSchema, commit: z.string(), at: z.number() })),
  /** By placement key: the digest, and its files as the text of a JSON list. */
  inputs: z.record(z.string(), z.object({ digest: z.string(), files: z.string() })),
});
export type Shard = z.infer<typeof shardSchema>;
type StoredDecision = z.infer<typeof decisionSchema>;
type StoredBase = Shard['base'][number];

export interface KnownInputs {
  readonly digest: string;
  readonly files: string;
}

/** All that the store holds. */
export interface Kept {
  readonly history: History;
  /** By placement key. */
  readonly inputs: Map<string, KnownInputs>;
}

const commitKey = (planned: {
  readonly repository: string;
  readonly plannedAt: number;
  commit: { id: string };
}): string => `${planned.plannedAt} ${planned.repository} ${planned.commit.id}`;

/** The cluster's part of a shard's name. */
export const clusterOfShard = (name: string): string => untoken(name.slice(0, name.indexOf('.')));

function shardOf(cluster: string, key: string, placements: number): string {
  const buckets = 2 ** Math.max(0, Math.ceil(Math.log2(placements / PLACEMENTS_A_SHARD)));
  return `${token(cluster)}.${Number.parseInt(sha256(key).slice(0, 8), 16) % buckets}`;
}

/** The part of the state that no cluster owns. */
export const indexOf = (kept: Kept): Index => ({
  commits: kept.history.commits.map(({ decisions: _, counts, ...rest }) => ({
    ...rest,
    ...(counts === undefined ? {} : { counts: { ...counts } }),
  })),
});

/** The shards of some clusters, by file name. */
export function shardsOf(kept: Kept, clusters: ReadonlySet<string>): ReadonlyMap<string, Shard> {
  const shards = new Map<string, Shard>();
  const nameOf = namer(kept);
  const shardFor = (cluster: string, key: string): Shard => {
    const name = nameOf(cluster, key);
    const shard = shards.get(name) ?? { decisions: {}, base: [], inputs: {} };
    shards.set(name, shard);
    return shard;
  };
  for (const planned of kept.history.commits) {
    for (const decision of planned.decisions) {
      if (!clusters.has(decision.cluster)) continue;
      const { decisions } = shardFor(decision.cluster, placementKey(decision));
      (decisions[commitKey(planned)] ??= []).push(decision as StoredDecision);
    }
  }
  for (const [key, decided] of kept.history.base)
    if (clusters.has(clusterOfKey(key))) shardFor(clusterOfKey(key), key).base.push(decided as StoredBase);
  for (const [key, known] of kept.inputs)
    if (clusters.has(clusterOfKey(key))) shardFor(clusterOfKey(key), key).inputs[key] = known;
  return shards;
}

/** The shard without its longest lists of inputs, so that it fits into a file of so many bytes. */
export function fitShard(shard: Shard, bytes: number): Shard {
  let size = Buffer.byteLength(JSON.stringify(shard));
  if (size <= bytes) return shard;
  const inputs = { ...shard.inputs };
  const longest = Object.entries(inputs).sort(([, a], [, b]) => b.files.length - a.files.length);
  for (const [key, known] of longest) {
    if (size <= bytes) break;
    size -= Buffer.byteLength(JSON.stringify(known.files));
    delete inputs[key];
  }
  return size <= bytes ? { ...shard, inputs } : { ...shard, inputs: {}, decisions: {} };
}

/** Buckets follow the number of placements that a cluster has files for. */
function namer(kept: Kept): (cluster: string, key: string) => string {
  const counts = new Map<string, number>();
  for (const key of new Set([...kept.inputs.keys(), ...kept.history.standing.keys()]))
    counts.set(clusterOfKey(key), (counts.get(clusterOfKey(key)) ?? 0) + 1);
  return (cluster, key) => shardOf(cluster, key, counts.get(cluster) ?? 1);
}

/** The whole from its files. A missing one leaves gaps, which only make answers shorter. */
export function joinShards(index: Index, shards: readonly Shard[]): Kept {
  const decisions = new Map<string, Decision[]>();
  const base = new Map<string, DecidedAt>();
  const inputs = new Map<string, KnownInputs>();
  for (const shard of shards) {
    for (const [commit, found] of Object.entries(shard.decisions))
      decisions.set(commit, [...(decisions.get(commit) ?? []), ...(found as Decision[])]);
    for (const decided of shard.base as DecidedAt[]) base.set(placementKey(decided.decision), decided);
    for (const [key, known] of Object.entries(shard.inputs)) inputs.set(key, known);
  }
  const commits = index.commits.map((commit) => ({
    ...commit,
    decisions: decisions.get(commitKey(commit)) ?? [],
  })) as PlannedCommit[];
  return {
    history: historyOf(commits, base),
    inputs,
  };
}
