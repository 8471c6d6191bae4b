/** What a user sees of a fleet, through the hub's API. */
import type {
  CatalogProblemAnswer,
  CommitAnswer,
  PlacementAnswer,
  PlacementDetailAnswer,
  RunAnswer,
  SourceAnswer,
  WhyAnswer,
} from '../../hub/api/schemas.ts';
import { SETTLED } from '../../shared/outcome.ts';
import { until, type Waiting } from '../harness/until.ts';

export interface Named {
  readonly cluster: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface Reader {
  readonly base: string;
  isUp(): Promise<boolean>;
  /** Rejects unless the answer is 200. */
  get<T>(path: string): Promise<T>;
  /** Whatever is answered, with whatever status. */
  text(path: string): Promise<string>;
  placements(): Promise<readonly PlacementAnswer[]>;
  placement(named: Named): Promise<PlacementDetailAnswer>;
  runs(named: Named): Promise<readonly RunAnswer[]>;
  why(named: Named, commit: string): Promise<WhyAnswer>;
  sources(): Promise<readonly SourceAnswer[]>;
  problems(): Promise<readonly CatalogProblemAnswer[]>;
  /** Whether a commit is the newest one that was planned of its repository. */
  isPlanned(commit: string): Promise<boolean>;
  /** Waits until the commit was planned and every placement rests at its order; gives them all. */
  atRest(commit: string, waiting?: Waiting<unknown>): Promise<readonly PlacementAnswer[]>;
}

/** A whole machine under load, with processes that die and start again. */
const REST_MS = 60_000;

export function makeReader(base: string): Reader {
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${base}${path}`, { signal: AbortSignal.timeout(10_000) });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const items = async <T>(path: string): Promise<readonly T[]> => (await get<{ items: T[] }>(path)).items;
  const pathOf = ({ cluster, namespace = 'default', name }: Named): string =>
    `/v1/placements/${cluster}/${namespace}/${name}`;
  const reader: Reader = {
    base,
    isUp: () => fetch(`${base}/healthz`).then((response) => response.ok),
    get,
    text: (path) =>
      fetch(`${base}${path}`, { signal: AbortSignal.timeout(10_000) }).then((answer) => answer.text()),
    placements: () => items('/v1/placements'),
    placement: (named) => get(pathOf(named)),
    runs: (named) => items(`${pathOf(named)}/runs`),
    why: (named, commit) => get(`${pathOf(named)}/why?commit=${commit}`),
    sources: () => items('/v1/sources'),
    problems: () => items('/v1/problems'),
    isPlanned: async (commit) => {
      const planned = await items<CommitAnswer>('/v1/commits');
      const found = planned.find(({ id }) => id === commit);
      return planned.find(({ repository }) => repository === found?.repository)?.id === commit;
    },
    atRest: (commit, waiting = {}) =>
      until(`everything to rest at ${commit.slice(0, 7)}`, () => restingAt(reader, commit), {
        deadlineMs: REST_MS,
        ...waiting,
        accept: (rows) => rows !== undefined,
      }) as Promise<readonly PlacementAnswer[]>,
  };
  return reader;
}

async function restingAt(reader: Reader, commit: string): Promise<readonly PlacementAnswer[] | undefined> {
  if (!(await reader.isPlanned(commit))) throw new Error('the commit is not planned');
  const rows = await reader.placements();
  const moving = rows.filter((row) => row.gen.order !== null && !isResting(row));
  if (moving.length > 0) throw new Error(JSON.stringify(moving[0]));
  return rows;
}

const isResting = ({ gen, phase }: PlacementAnswer): boolean =>
  gen.order === gen.report && SETTLED.has(phase);
