/** What a set of processes costs, from looks at the process table. Pure. */

/** One line of the process table. */
export interface ProcessLine {
  readonly pid: number;
  readonly parent: number;
  /** CPU time of its own and of the children that it has reaped, in ticks of the kernel. */
  readonly ticks: number;
  /** Page faults of reaped children. No process lives without one, so it grows with every child that was reaped. */
  readonly reapedFaults: number;
}

/** Numbers of the fields of /proc/PID/stat behind the name, which may hold anything. */
const PARENT = 1;
const REAPED_FAULTS = 8;
const TICKS = [11, 12, 13, 14];

/** Reads /proc/PID/stat. Undefined for what is none. */
export function parseLine(text: string): ProcessLine | undefined {
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const numbers = [PARENT, REAPED_FAULTS, ...TICKS].map((at) => Number(fields[at] ?? Number.NaN));
  if (Number.isNaN(pid) || numbers.some(Number.isNaN)) return undefined;
  const [parent = 0, reapedFaults = 0, ...ticks] = numbers;
  return { pid, parent, reapedFaults, ticks: ticks.reduce((sum, one) => sum + one, 0) };
}

/** The roots and all below them. */
export function familyOf(
  table: readonly ProcessLine[],
  roots: ReadonlySet<number>,
): ReadonlyMap<number, ProcessLine> {
  const byPid = new Map(table.map((line) => [line.pid, line]));
  const belongs = (line: ProcessLine | undefined, hops = 0): boolean =>
    line !== undefined &&
    hops < byPid.size &&
    (roots.has(line.pid) || belongs(byPid.get(line.parent), hops + 1));
  return new Map(table.filter((line) => belongs(line)).map((line) => [line.pid, line]));
}

/** CPU time of a family in ticks. A child that ends in between stays in the sum: its parent has reaped it. */
export const ticksOf = (family: ReadonlyMap<number, ProcessLine>): number =>
  [...family.values()].reduce((sum, { ticks }) => sum + ticks, 0);

/** What was seen so far. */
export interface Census {
  /** Processes that were started since the first look. */
  readonly started: number;
  readonly family: ReadonlyMap<number, ProcessLine>;
}

/**
 * Adds a look. A child that came and went between two looks is not in the table, but its parent has reaped page faults
 * without one of its known children being gone; several of them between the same two looks count as one.
 */
export function countIn(before: Census | undefined, family: ReadonlyMap<number, ProcessLine>): Census {
  if (before === undefined) return { started: 0, family };
  const came = [...family.keys()].filter((pid) => !before.family.has(pid));
  const bereaved = new Set(
    [...before.family.values()].filter(({ pid }) => !family.has(pid)).map(({ parent }) => parent),
  );
  const unseen = [...family.values()].filter(
    ({ pid, reapedFaults }) =>
      reapedFaults > (before.family.get(pid)?.reapedFaults ?? reapedFaults) && !bereaved.has(pid),
  );
  return { started: before.started + came.length + unseen.length, family };
}
