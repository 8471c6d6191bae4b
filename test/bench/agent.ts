/**
 * What an agent adds to Pulumi, and what a fleet costs while nothing happens: `node test/bench/agent.ts [--json]
 * [--check] [--pairs 20] [--idle 60]`. Ends with 1 when it could not measure, and with `--check` also when a figure
 * misses its bar.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { atEnd, type Owner } from '../harness/owned.ts';
import { missed, type Figures } from './bars.ts';
import { startEstate, type Estate } from './estate.ts';
import { measureIdle, type Idle } from './idle.ts';
import { landscape, STACKS, touchOne, typescript, yaml, type Timed } from './landscape.ts';
import { ratiosOf, summaryOf, type Summary } from './statistics.ts';
import { jsonOf, roundedFigures, textOf, type Row } from './table.ts';
import { makeTimer, type Timing } from './timing.ts';

/** Fewer pairs, or seconds, for a quick look. */
const OPTIONS = {
  json: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  pairs: { type: 'string', default: '20' },
  idle: { type: 'string', default: '60' },
} as const;
/** From the start, in the order of the timings; when they are over, the pairs that there are have to do. */
const PAIRS_MS = { typescript: 235_000, yaml: 275_000 };
/** A fleet that hangs must not hang the bench. */
const WHOLE_MS = 360_000;

/** Written beside the result, so that standard output holds nothing else. */
const say = (text: string): void => void process.stderr.write(`${text}\n`);

interface Measured {
  readonly figures: Figures;
  readonly rows: readonly Row[];
}

interface Wish {
  readonly pairs: number;
  readonly idleSeconds: number;
}

async function measure(owner: Owner, wish: Wish): Promise<Measured> {
  const begun = performance.now();
  say('starting a fleet from its bundles');
  const estate = await startEstate(owner);
  const place = join(estate.folder, 'note.txt');
  say(`applying ${STACKS} stacks`);
  await rest(estate, 'First', await landscape(estate.state, place));
  await estate.counter.take();
  await rest(estate, 'Touch one', touchOne(1));
  const runs = (await estate.counter.take()).filter((start) => start.arguments.startsWith('up '));
  const timed = async (one: Timed, untilMs: number): Promise<readonly Timing[]> => {
    say(`${wish.pairs} pairs of runs, ${one.name}`);
    const timer = await makeTimer(estate, one, place);
    return timer.pairs(wish.pairs, () => performance.now() - begun > untilMs);
  };
  const timings = {
    typescript: await timed(typescript, PAIRS_MS.typescript),
    yaml: await timed(yaml, PAIRS_MS.yaml),
  };
  say(`idle for ${wish.idleSeconds} s`);
  const idle = await measureIdle(estate, wish.idleSeconds * 1_000);
  return {
    figures: figuresOf(timings.typescript, idle, runs.length),
    rows: [...rowsOf('YAML', timings.yaml), ...rowsOf('TypeScript', timings.typescript), ...idleRows(idle)],
  };
}

async function rest(
  estate: Estate,
  subject: string,
  changes: Awaited<ReturnType<typeof landscape>>,
): Promise<void> {
  const commit = await estate.repository.commit(subject, changes);
  const rows = await estate.reader.atRest(commit, { deadlineMs: 120_000 });
  const bad = rows.filter(({ phase }) => phase !== 'Succeeded');
  if (rows.length !== STACKS || bad.length > 0)
    throw new Error(`${rows.length} placements, not succeeded: ${JSON.stringify(bad[0])}`);
}

const wholeRatio = (timings: readonly Timing[]): Summary =>
  ratiosOf(timings.map(({ whole, bare }) => ({ measured: whole, base: bare })));

const figuresOf = (timings: readonly Timing[], idle: Idle, runs: number): Figures => ({
  commitToStartMs: summaryOf(timings.map(({ seenToStart }) => seenToStart)).median,
  ratioToBare: wholeRatio(timings).median,
  // The most that any run needed: a median would hide one run that needed two.
  cliProcesses: summaryOf(timings.map(({ clis }) => clis)).max,
  idleCpuPercent: idle.cpuPercent,
  idleProcesses: idle.processes,
  agentRssMiB: idle.agentRssMiB.median,
  hubRssMiB: idle.hubRssMiB.median,
  runsForOneTouched: runs,
});

function rowsOf(name: string, timings: readonly Timing[]): readonly Row[] {
  const ms = (what: string, pick: (timing: Timing) => number): Row => ({
    ...{ what: `${name}: ${what}`, unit: 'ms', digits: 0 },
    summary: summaryOf(timings.map(pick)),
  });
  const ratio = (what: string, summary: Summary): Row => ({
    ...{ what: `${name}: ${what}`, unit: '×', digits: 3, summary },
  });
  return [
    ms('commit seen → pulumi started', (timing) => timing.seenToStart),
    ms('commit seen → start in the run record', (timing) => timing.seenToRecord),
    ms('start → end in the run record', (timing) => timing.run),
    ms('end in the run record → success on the board', (timing) => timing.endToBoard),
    ms('commit seen → success on the board', (timing) => timing.whole),
    ms('bare pulumi up', (timing) => timing.bare),
    ratio('whole to bare', wholeRatio(timings)),
    ratio('run alone to bare', ratiosOf(timings.map(({ run, bare }) => ({ measured: run, base: bare })))),
  ];
}

const idleRows = ({ shares, agentRssMiB, hubRssMiB }: Idle): readonly Row[] => [
  ...Object.entries(shares).map(([part, percent]) => ({
    ...{ what: `idle: CPU of ${part}`, unit: '%', digits: 2, summary: summaryOf([percent]) },
  })),
  { what: 'idle: memory of the agents', unit: 'MiB', digits: 1, summary: agentRssMiB },
  { what: 'idle: memory of the hub', unit: 'MiB', digits: 1, summary: hubRssMiB },
];

/** Rejects when the time is up, or when somebody stops it. */
function stopped(owner: Owner): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`not done after ${WHOLE_MS / 1_000} s`)), WHOLE_MS);
    const hear = (signal: NodeJS.Signals): void => reject(new Error(`stopped by ${signal}`));
    process.on('SIGINT', hear).on('SIGTERM', hear);
    atEnd(owner, () => {
      clearTimeout(timer);
      process.off('SIGINT', hear).off('SIGTERM', hear);
    });
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  const wish = { pairs: Number(values.pairs), idleSeconds: Number(values.idle) };
  await using releases = new AsyncDisposableStack();
  const owner: Owner = { after: (release) => releases.defer(release) };
  try {
    const { figures, rows } = await Promise.race([measure(owner, wish), stopped(owner)]);
    process.stdout.write(values.json ? `${jsonOf(figures)}\n` : textOf(rows, figures));
    say(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
    return values.check && missed(roundedFigures(figures)).length > 0 ? 1 : 0;
  } catch (error) {
    say(`nothing was measured: ${(error as Error).message}`);
    return 1;
  }
}

// What was cut off may still wait for something that does not come any more.
process.exit(await main());
