/** What is measured, in which unit, and what it must not exceed. Pure. */

export const BARS = {
  commitToStartMs: { atMost: 300, digits: 0, unit: 'ms', what: 'commit seen → pulumi started' },
  ratioToBare: {
    atMost: 1.15,
    digits: 3,
    unit: '×',
    what: 'commit seen → success on the board, to bare pulumi up',
  },
  cliProcesses: { atMost: 1, digits: 2, unit: '', what: 'Pulumi CLI processes of a later run' },
  idleCpuPercent: {
    atMost: 1,
    digits: 2,
    unit: '% of a core',
    what: 'CPU of hub, agents and nats-server, idle',
  },
  idleProcesses: { atMost: 0, digits: 0, unit: '', what: 'processes started while idle' },
  agentRssMiB: { atMost: 80, digits: 1, unit: 'MiB', what: 'resident memory of an agent, idle' },
  hubRssMiB: { atMost: 150, digits: 1, unit: 'MiB', what: 'resident memory of the hub, idle' },
  runsForOneTouched: { atMost: 1, digits: 0, unit: '', what: 'runs for a commit to one of 20 stacks' },
} as const;

export type Figure = keyof typeof BARS;
export type Figures = Readonly<Record<Figure, number>>;

/** All figures, in their order. */
export const FIGURES = Object.keys(BARS) as readonly Figure[];

/** The figures that are worse than they may be. Compared as they are printed, so that no figure looks as if it held. */
export const missed = (figures: Figures): readonly Figure[] =>
  FIGURES.filter((figure) => !(figures[figure] <= BARS[figure].atMost));
