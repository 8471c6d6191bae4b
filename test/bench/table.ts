/** Results of the bench as text. Pure. */
import { BARS, FIGURES, missed, type Figures } from './bars.ts';
import { rounded, type Summary } from './statistics.ts';

export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
  readonly summary: Summary;
}

/** One line with all figures and nothing else. */
export const jsonOf = (figures: Figures): string => JSON.stringify(roundedFigures(figures));

/** As they are printed and judged. */
export const roundedFigures = (figures: Figures): Figures =>
  Object.fromEntries(
    FIGURES.map((figure) => [figure, rounded(figures[figure], BARS[figure].digits)]),
  ) as Figures;

/** The measurements behind the figures, then each figure beside its bar. */
export const textOf = (rows: readonly Row[], figures: Figures): string =>
  `${aligned([HEAD, ...rows.map(cellsOf)])}\n\n${aligned(judged(roundedFigures(figures)))}\n`;

const HEAD = ['', 'median', 'min', 'max', 'n', ''];

const cellsOf = ({ what, unit, digits, summary }: Row): readonly string[] => [
  what,
  ...[summary.median, summary.min, summary.max].map((value) => value.toFixed(digits)),
  String(summary.count),
  unit,
];

function judged(figures: Figures): readonly (readonly string[])[] {
  const bad = missed(figures);
  return FIGURES.map((figure) => {
    const { atMost, unit, what } = BARS[figure];
    return [
      what,
      String(figures[figure]),
      `at most ${atMost}`,
      unit,
      bad.includes(figure) ? 'MISSED' : 'ok',
      figure,
    ];
  });
}

/** First column to the left, numbers to the right. */
function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines.reduce<readonly number[]>(
    (known, cells) => cells.map((cell, n) => Math.max(known[n] ?? 0, cell.length)),
    [],
  );
  const pad = (cell: string, n: number): string =>
    n > 0 && /^[\d.]+$|^(median|min|max|n)$/.test(cell)
      ? cell.padStart(widths[n] ?? 0)
      : cell.padEnd(widths[n] ?? 0);
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}
