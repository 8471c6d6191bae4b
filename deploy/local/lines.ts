/** What people read while a fleet works: a line for each change, and a block of what is at work. Pure. */
import { atRest, nameOf, type Counted, type PlacementRow } from './standing.ts';

export type Tone = 'good' | 'bad' | 'plain';

export interface Line {
  readonly text: string;
  readonly tone: Tone;
}

/** Width of the longest phase that is told. */
const PHASE_WIDTH = 'Succeeded'.length;

/** What was told last of each placement, by its name. */
export type Told = ReadonlyMap<string, string>;

export interface News {
  readonly lines: readonly Line[];
  readonly told: Told;
}

/**
 * Rows that stand otherwise than was told, as lines. A start is told unless it is `shown` elsewhere; what comes before a
 * start is not, and nothing is told of a placement whose agent may or may not be there.
 */
export function newsOf(told: Told, rows: readonly PlacementRow[], shown: boolean): News {
  const news = rows
    .filter((row) => told.get(nameOf(row)) !== sign(row))
    .filter((row) => (atRest(row) || row.agent === 'Offline' ? speaks(row) : isAtWork(row) && !shown));
  return {
    lines: news.map((row) => ({ text: lineOf(row, rows, undefined), tone: toneOf(row) })),
    told: new Map([...told, ...news.map((row) => [nameOf(row), sign(row)] as const)]),
  };
}

/** A line for each placement at work. `now`: ms. */
export const liveLines = (rows: readonly PlacementRow[], now: number): readonly Line[] =>
  rows.filter((row) => !atRest(row)).map((row) => ({ text: lineOf(row, rows, now), tone: 'plain' }));

const sign = (row: PlacementRow): string =>
  `${row.reported?.gen ?? 0} ${row.phase} ${row.standing} ${row.agent}`;

const isAtWork = (row: PlacementRow): boolean => row.agent === 'Online' && row.phase === 'Running';

/** What is held before its first order is told with its reason; a report says the rest. */
const speaks = (row: PlacementRow): boolean => row.reported !== undefined || row.standing !== 'planned';

/** `all`: rows with which it stands in columns. */
function lineOf(row: PlacementRow, all: readonly PlacementRow[], now: number | undefined): string {
  const width = (text: (one: PlacementRow) => string): number =>
    Math.max(...all.map((one) => text(one).length));
  const stack = (one: PlacementRow): string => `${one.namespace}/${one.name}`;
  const columns = [
    row.cluster.padEnd(width(({ cluster }) => cluster)),
    stack(row).padEnd(width(stack)),
    stateOf(row).padEnd(PHASE_WIDTH),
    detailOf(row, now),
  ];
  return `  ${columns.join('  ')}`.trimEnd();
}

function stateOf(row: PlacementRow): string {
  if (row.standing === 'refused') return 'Refused';
  return row.agent === 'Online' ? row.phase : row.agent;
}

function detailOf(row: PlacementRow, now: number | undefined): string {
  const { reported } = row;
  if (row.agent !== 'Online' && row.standing !== 'refused') return `last: ${row.phase}`;
  if (row.phase !== 'Succeeded' || row.standing !== 'planned')
    return [row.phase === 'Running' ? elapsed(reported?.startedAt, now) : '', firstLine(row.reason)]
      .filter(Boolean)
      .join('  ');
  const took = elapsed(reported?.startedAt, reported?.finishedAt);
  return [reported?.changes === undefined ? '' : changesText(reported.changes), took]
    .filter(Boolean)
    .join('  ');
}

/** `+2 ~1 -0` as in Pulumi's own summary: made, changed, removed; a replacement is shown where there is one. */
export function changesText({ create, update, delete: removed, replace, same }: Counted): string {
  const parts = [
    `+${create}`,
    `~${update}`,
    `-${removed}`,
    ...(replace > 0 ? [`±${replace}`] : []),
    `=${same}`,
  ];
  return parts.join(' ');
}

const elapsed = (from: number | undefined, to: number | undefined): string =>
  from === undefined || to === undefined ? '' : `${(Math.max(0, to - from) / 1_000).toFixed(1)} s`;

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

function toneOf(row: PlacementRow): Tone {
  if (
    row.standing === 'refused' ||
    row.agent === 'Offline' ||
    ['Failed', 'Stalled', 'Invalid'].includes(row.phase)
  )
    return 'bad';
  return row.phase === 'Succeeded' ? 'good' : 'plain';
}
