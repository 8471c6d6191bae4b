/** The figures of change detection, and what they must not exceed. Pure. */
import { rounded } from '../statistics.ts';

export interface Cost {
  readonly orders: number;
  /** From the start of the pass that saw the commit to its plan. */
  readonly seconds: number;
}

/** One repository, and commits to it. */
export interface Scale {
  readonly oneStack: Cost;
  readonly library100: Cost;
  readonly files5000: Cost;
  readonly full: { readonly seconds: number };
  /** The most that the process held: hub, orders and all. */
  readonly rssMiB: number;
  /** `git diff-tree` of one commit, its process included. */
  readonly floorSeconds: number;
}

export interface Tool {
  /** Median over the cases. */
  readonly seconds: number;
  /** Cases with another answer than the right one. */
  readonly wrong: number;
}

/** Answers to the same questions about one workspace. */
export interface Comparison {
  /** A hub, from the moment at which the branch has moved: it knows what ran last. */
  readonly ours: Tool;
  /** `towline affected`: knows nothing, and reads both commits. */
  readonly command: Tool;
  /** Commands as well, from the start of the process to its end. */
  readonly peers: readonly (Tool & { readonly name: string })[];
}

export interface DetectFigures extends Scale, Comparison {
  /** One poll over HTTP. */
  readonly noopPoll: { readonly cpuMs: number; readonly requests: number; readonly processes: number };
  readonly growth: readonly { readonly stacks: number; readonly seconds: number }[];
}

const seconds = (value: number): number => rounded(value, 3);
const cost = ({ orders, seconds: value }: Cost): Cost => ({ orders, seconds: seconds(value) });
const tool = ({ seconds: value, wrong }: Tool): Tool => ({ seconds: seconds(value), wrong });

/** One line with all figures and nothing else. */
export const detectJson = (figures: DetectFigures): string =>
  JSON.stringify({
    oneStack: cost(figures.oneStack),
    library100: cost(figures.library100),
    files5000: cost(figures.files5000),
    full: { seconds: seconds(figures.full.seconds) },
    noopPoll: {
      cpuMs: rounded(figures.noopPoll.cpuMs, 2),
      requests: rounded(figures.noopPoll.requests, 2),
      processes: figures.noopPoll.processes,
    },
    rssMiB: rounded(figures.rssMiB, 0),
    growth: figures.growth.map(({ stacks, seconds: value }) => ({ stacks, seconds: seconds(value) })),
    ours: tool(figures.ours),
    command: tool(figures.command),
    peers: figures.peers.map(({ name, ...figure }) => ({ name, ...tool(figure) })),
  });

interface Bar {
  readonly what: string;
  readonly value: (figures: DetectFigures) => number;
  readonly atMost: (figures: DetectFigures) => number;
  readonly unit: string;
}

const fixed = (limit: number) => () => limit;

/** Bars of 10,000 stacks on five clusters; smaller estates hold them as well. */
export const DETECT_BARS: readonly Bar[] = [
  { what: 'one stack: orders', value: (f) => f.oneStack.orders, atMost: fixed(5), unit: '' },
  { what: 'one stack: commit seen → planned', value: (f) => f.oneStack.seconds, atMost: fixed(2), unit: 's' },
  { what: 'library of 100: orders', value: (f) => f.library100.orders, atMost: fixed(500), unit: '' },
  { what: 'everything anew', value: (f) => f.full.seconds, atMost: fixed(10), unit: 's' },
  { what: 'poll without news: CPU', value: (f) => f.noopPoll.cpuMs, atMost: fixed(3), unit: 'ms' },
  // one round is the discovery and the question
  { what: 'poll without news: requests', value: (f) => f.noopPoll.requests, atMost: fixed(2), unit: '' },
  { what: 'poll without news: processes', value: (f) => f.noopPoll.processes, atMost: fixed(0), unit: '' },
  { what: 'memory of the hub', value: (f) => f.rssMiB, atMost: fixed(1024), unit: 'MiB' },
  { what: 'wrong answers', value: (f) => f.ours.wrong + f.command.wrong, atMost: fixed(0), unit: '' },
  {
    what: 'one commit, 500 packages',
    value: (f) => f.ours.seconds,
    atMost: (f) => Math.min(...f.peers.map(({ seconds: value }) => value)),
    unit: 's (the fastest peer)',
  },
];

/** Bars that are not held. */
export const missedBars = (figures: DetectFigures): readonly Bar[] =>
  DETECT_BARS.filter(({ value, atMost }) => !(value(figures) <= atMost(figures)));

/** For people: each figure, beside its bar where it has one. */
export function detectText(figures: DetectFigures): string {
  const missed = new Set(missedBars(figures));
  const bars = DETECT_BARS.map((bar) => {
    const verdict = missed.has(bar) ? 'MISSED' : 'ok';
    const limit = rounded(bar.atMost(figures), 3);
    return `${bar.what.padEnd(36)} ${rounded(bar.value(figures), 3)}  at most ${limit} ${bar.unit}  ${verdict}`;
  });
  return [
    ...bars,
    `5,000 files: ${figures.files5000.orders} orders, planned after ${seconds(figures.files5000.seconds)} s`,
    `git diff-tree of one commit, the floor: ${seconds(figures.floorSeconds)} s`,
    ...figures.growth.map(
      ({ stacks, seconds: value }) => `${stacks} stacks, one touched: ${seconds(value)} s`,
    ),
    ...[
      { name: 'the hub', ...figures.ours },
      { name: 'towline affected', ...figures.command },
      ...figures.peers,
    ].map(({ name, seconds: value, wrong }) => `${name}: ${seconds(value)} s a case, ${wrong} wrong`),
    '',
  ].join('\n');
}
