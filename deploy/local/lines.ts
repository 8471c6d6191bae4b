/** What people read while a fleet works: a line for each change, and a block of what is at work. Pure. */
import { atRest, type Counted, type PlacementRow } from './standing.ts';

export type Tone = 'good' | 'bad' | 'plain';

export interface Line {
  readonly text: string;
  readonly tone: Tone;
}

/** Widths of the columns, so that lines stand below each other. */
const CLUSTER_WIDTH = 12;
const NAME_WIDTH = 24;
const PHASE_WIDTH = 11;

/** Rows that stand otherwise than before, as lines. `quiet` leaves out what is on its way. */
export function changeLines(
  before: readonly PlacementRow[],
  after: readonly PlacementRow[],
  quiet: boolean,
): readonly Line[] {
  const known = new Map(before.map((row) => [keyOf(row), sign(row)]));
  return after
    .filter((row) => known.get(keyOf(row)) !== sign(row) && speaks(row) && !(quiet && !atRest(row)))
    .map((row) => ({ text: lineOf(row, undefined), tone: toneOf(row) }));
}

/** A line for each placement at work. `now`: ms. */
export const liveLines = (rows: readonly PlacementRow[], now: number): readonly Line[] =>
  rows.filter((row) => !atRest(row)).map((row) => ({ text: lineOf(row, now), tone: 'plain' }));

const keyOf = (row: PlacementRow): string => `${row.cluster}/${row.namespace}/${row.name}`;
const sign = (row: PlacementRow): string => `${row.reported?.gen ?? 0} ${row.phase} ${row.standing}`;

/** An order that its agent has not recorded yet says nothing new. */
const speaks = (row: PlacementRow): boolean => row.reported !== undefined || row.standing !== 'planned';

function lineOf(row: PlacementRow, now: number | undefined): string {
  const where = row.cluster.padEnd(CLUSTER_WIDTH);
  const name = `${row.namespace}/${row.name}`.padEnd(NAME_WIDTH);
  const state = (row.standing === 'refused' ? 'Refused' : row.phase).padEnd(PHASE_WIDTH);
  return [where, name, state, detailOf(row, now)].join(' ').trimEnd();
}

function detailOf(row: PlacementRow, now: number | undefined): string {
  const { reported } = row;
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
  if (row.standing === 'refused' || ['Failed', 'Stalled', 'Invalid'].includes(row.phase)) return 'bad';
  return row.phase === 'Succeeded' ? 'good' : 'plain';
}
