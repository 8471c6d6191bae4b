/** What a fleet costs while nothing happens. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { countIn, familyOf, parseLine, ticksOf, type Census, type ProcessLine } from './census.ts';
import { alive, type Estate } from './estate.ts';
import { summaryOf, type Summary } from './statistics.ts';

export interface Idle {
  /** Of one core, over the whole time, all parts with their children. */
  readonly cpuPercent: number;
  /** The share of each part in it. */
  readonly shares: Readonly<Record<'hub' | 'agents' | 'nats', number>>;
  readonly processes: number;
  readonly agentRssMiB: Summary;
  readonly hubRssMiB: Summary;
}

/** How often the process table is looked at. */
const LOOK_MS = 50;
/** Looks between two of memory. */
const LOOKS_A_SAMPLE = 20;
/** Of the kernel's accounting: the same on every Linux that Node.js runs on. */
const TICKS_A_SECOND = 100;

/** Watches for so long; memory counts from the second half on. */
export async function measureIdle(estate: Estate, forMs: number): Promise<Idle> {
  const hub = alive(estate.hub);
  const agents = estate.agents.map(alive);
  const roots = { hub: [hub], agents, nats: [estate.nats.pid() ?? 0] };
  const all = new Set([...roots.hub, ...roots.agents, ...roots.nats]);
  const before = ticksByPart(roots);
  const begun = performance.now();
  const hubRss: number[] = [];
  const agentRss: number[] = [];
  let census: Census | undefined;
  for (let look = 0; performance.now() - begun < forMs; look += 1) {
    census = countIn(census, familyOf(processTable(), all));
    if (look % LOOKS_A_SAMPLE === 0 && performance.now() - begun > forMs / 2) {
      hubRss.push(residentMiB(hub));
      agentRss.push(...agents.map(residentMiB));
    }
    await delay(LOOK_MS);
  }
  const seconds = (performance.now() - begun) / 1_000;
  const after = ticksByPart(roots);
  const percent = (part: keyof typeof roots): number =>
    ((after[part] - before[part]) / TICKS_A_SECOND / seconds) * 100;
  const shares = { hub: percent('hub'), agents: percent('agents'), nats: percent('nats') };
  return {
    cpuPercent: shares.hub + shares.agents + shares.nats,
    shares,
    processes: census?.started ?? 0,
    agentRssMiB: summaryOf(agentRss),
    hubRssMiB: summaryOf(hubRss),
  };
}

type Roots = Readonly<Record<keyof Idle['shares'], readonly number[]>>;

function ticksByPart(roots: Roots): Record<keyof Idle['shares'], number> {
  const table = processTable();
  const ticks = (pids: readonly number[]): number => ticksOf(familyOf(table, new Set(pids)));
  return { hub: ticks(roots.hub), agents: ticks(roots.agents), nats: ticks(roots.nats) };
}

function processTable(): readonly ProcessLine[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => parseLine(readProc(name, 'stat')) ?? []);
}

/** Empty for a process that is gone. */
function readProc(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

const residentMiB = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status'))?.[1] ?? Number.NaN) / 1024;
