/** Where lines go: above a block that is drawn anew on a terminal, one after the other elsewhere. */
import { styleText } from 'node:util';
import type { Line, Tone } from './lines.ts';

/** What is needed of a stream such as standard output. */
export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export interface Screen {
  /** The block at the end is shown: a reader sees what is at work without lines that say so. */
  readonly live: boolean;
  /** Lines that stay. */
  say(...lines: readonly (Line | string)[]): void;
  /** The block below them, in place of the former one, with lines that stay above it; no block without a terminal. */
  show(block: readonly Line[], ...above: readonly Line[]): void;
}

const STYLES: Readonly<Record<Tone, 'green' | 'red' | undefined>> = {
  good: 'green',
  bad: 'red',
  plain: undefined,
};

const CLEAR_BELOW = '\x1b[0J';
const up = (lines: number): string => (lines === 0 ? '' : `\x1b[${lines}F`);

/** Escapes are written to a terminal only, colours only where NO_COLOR is not set. */
export function makeScreen(
  stream: Stream,
  environment: Readonly<Record<string, string | undefined>>,
): Screen {
  const live = stream.isTTY === true && environment['TERM'] !== 'dumb';
  const coloured = live && !environment['NO_COLOR'];
  let block: readonly string[] = [];
  const draw = (above: readonly string[], next: readonly string[]): void => {
    if (above.length === 0 && next.join('\n') === block.join('\n')) return;
    const head = live ? up(block.length) + CLEAR_BELOW : '';
    stream.write(head + [...above, ...next].map((line) => `${line}\n`).join(''));
    block = next;
  };
  const text = (line: Line | string): string => {
    if (typeof line === 'string') return line;
    const style = STYLES[line.tone];
    return coloured && style !== undefined
      ? styleText(style, line.text, { validateStream: false })
      : line.text;
  };
  return {
    live,
    say: (...lines) => draw(lines.map(text), block),
    show: (next, ...above) => draw(above.map(text), live ? fit(next, stream) : []),
  };
}

/** A line that wraps, or a block higher than the terminal, could not be drawn over. */
function fit(block: readonly Line[], { columns = 80, rows = 24 }: Stream): readonly string[] {
  const most = Math.max(1, rows - 2);
  const shown = block.length > most ? block.slice(0, most - 1) : block;
  const more = block.length - shown.length;
  return [
    ...shown.map(({ text }) => text.slice(0, columns - 1)),
    ...(more > 0 ? [`  and ${more} more at work`.slice(0, columns - 1)] : []),
  ];
}

/** For those who want the result alone. */
export const silentScreen: Screen = { live: false, say: () => undefined, show: () => undefined };
