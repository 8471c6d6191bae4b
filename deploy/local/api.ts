/** The hub's API, as far as a fleet is followed by it. */
import pLimit from 'p-limit';
import * as z from 'zod';
import {
  clusterItem,
  commitDetail,
  commitItem,
  commitRow,
  placementDetail,
  placementItem,
  placementRow,
  problemItem,
  problemText,
  runItem,
  runRow,
  sourceItem,
  stamp,
  type PlacementItem,
  type SourceRow,
} from './answers.ts';
import { nameOf, type CommitRow, type PlacementRow, type RunRow } from './standing.ts';

/** A hub on this machine that does not answer for so long hangs or is gone. */
const ANSWER_LIMIT_MS = 10_000;
const REQUESTS_AT_A_TIME = 8;
/** Placements of one answer. */
const PAGE = 100;

/** The hub does not answer, or not now: it starts, or the broker is away. */
export class HubSilent extends Error {}

export interface Api {
  /** True once the hub answers at all. */
  ready(): Promise<true | undefined>;
  /** Clusters that manifests name. */
  clusters(): Promise<readonly string[]>;
  sources(): Promise<readonly SourceRow[]>;
  placements(): Promise<readonly PlacementRow[]>;
  /** Kept commits, newest first. */
  commits(): Promise<readonly { readonly sha: string; readonly plannedAt: number }[]>;
  /** Undefined while it is not planned. */
  commit(sha: string): Promise<CommitRow | undefined>;
  /** All kept runs. */
  runs(): Promise<readonly RunRow[]>;
  /** Errors in manifests, with file and line. */
  problems(): Promise<readonly string[]>;
}

/** Every call rejects with HubSilent while there is no answer. */
export function makeApi(address: string): Api {
  const get = <T>(path: string, schema: z.ZodType<T>): Promise<T> => found(ask(address, path, schema), path);
  const limit = pLimit(REQUESTS_AT_A_TIME);
  const known = new Map<string, { readonly stamp: string; readonly row: PlacementRow }>();
  const detail = async (item: PlacementItem): Promise<PlacementRow> => {
    const held = known.get(nameOf(item));
    if (held !== undefined && held.stamp === stamp(item)) return held.row;
    const row = placementRow(await get(pathOf(item), placementDetail));
    known.set(nameOf(item), { stamp: stamp(item), row });
    return row;
  };
  const items = (): Promise<readonly PlacementItem[]> =>
    allPages(async (cursor) => get(`/v1/placements?limit=${PAGE}${cursorOf(cursor)}`, pageOf(placementItem)));
  const commit = async (sha: string): Promise<CommitRow | undefined> => {
    const first = await ask(address, `/v1/commits/${sha}`, commitDetail);
    if (first === undefined) return undefined;
    const decisions = await allPages(async (cursor) => {
      const path = `/v1/commits/${sha}?limit=${PAGE}${cursorOf(cursor)}`;
      const { decisions: items, next } = cursor === undefined ? first : await get(path, commitDetail);
      return { items, next };
    });
    return commitRow({ ...first, decisions });
  };
  return {
    ready: async () => (await ask(address, '/v1/sources', z.unknown())) !== undefined || undefined,
    clusters: async () =>
      (await get('/v1/clusters', listOf(clusterItem))).items
        .filter(({ declared }) => declared)
        .map(({ name }) => name),
    sources: async () => (await get('/v1/sources', listOf(sourceItem))).items,
    placements: async () => Promise.all((await items()).map((item) => limit(() => detail(item)))),
    commits: async () =>
      (await get('/v1/commits', listOf(commitItem))).items.map(({ id, plannedAt }) => ({
        sha: id,
        plannedAt,
      })),
    commit,
    runs: async () => {
      const lists = (await items()).map((item) =>
        limit(async () =>
          (await get(`${pathOf(item)}/runs`, listOf(runItem))).items.map((run) => runRow(item, run)),
        ),
      );
      return (await Promise.all(lists)).flat();
    },
    problems: async () =>
      (await get('/v1/problems', listOf(problemItem))).items
        .filter(({ severity }) => severity === 'error')
        .map(problemText),
  };
}

const listOf = <T>(item: z.ZodType<T>): z.ZodType<{ items: T[] }> => z.object({ items: z.array(item) });
const pageOf = <T>(item: z.ZodType<T>): z.ZodType<{ items: T[]; next: string | null }> =>
  z.object({ items: z.array(item), next: z.string().nullable() });

const pathOf = ({ cluster, namespace, name }: PlacementItem): string =>
  `/v1/placements/${cluster}/${namespace}/${name}`;
const cursorOf = (cursor: string | undefined): string =>
  cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;

async function allPages<T>(
  page: (cursor: string | undefined) => Promise<{ items: readonly T[]; next: string | null }>,
): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, next } = await page(cursor);
    all.push(...items);
    if (next === null) return all;
    cursor = next;
  }
}

/** What is there by the list, but not by itself, has just gone: the next look tells. */
async function found<T>(answer: Promise<T | undefined>, path: string): Promise<T> {
  const value = await answer;
  if (value === undefined) throw new HubSilent(`${path} is not there`);
  return value;
}

/** Undefined: the hub answers that there is no such thing. An answer that is not understood is an error, not silence. */
async function ask<T>(address: string, path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(address + path, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    body = await response.json();
  } catch (error) {
    throw new HubSilent(`no answer to ${path}`, { cause: error });
  }
  if (response.status === 404) return undefined;
  if (response.status >= 500) throw new HubSilent(`${path} answered ${response.status}`);
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(body)}`);
  return schema.parse(body);
}
