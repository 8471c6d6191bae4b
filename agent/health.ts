/** /healthz, /readyz and /metrics. Labels are bounded: no metric names a placement. */
import type { Server } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import { PHASES, type Phase } from '../shared/outcome.ts';
import type { Tally } from './tally.ts';

export interface Sources {
  /** Connected, and through with its start. */
  readonly ready: () => boolean;
  readonly phases: () => Iterable<Phase>;
  readonly running: () => number;
  readonly freeSlots: () => number;
  readonly unsent: () => number;
  readonly orders: Tally;
  readonly runs: Tally;
}

/** Resolves with what ends it. Rejects when the port is taken. */
export async function startHealth(port: number, sources: Sources): Promise<() => Promise<void>> {
  const registry = new Registry();
  addGauges(registry, sources);
  addTally(registry, { name: 'towline_agent_orders_total', label: 'verdict', tally: sources.orders });
  addTally(registry, { name: 'towline_agent_runs_total', label: 'result', tally: sources.runs });
  const server = await listen(port, registry, sources);
  return () => new Promise((resolve) => server.close(() => resolve()));
}

function addTally(
  registry: Registry,
  { name, label, tally }: { readonly name: string; readonly label: string; readonly tally: Tally },
): void {
  const counter: Counter = new Counter({
    name,
    help: `${tally.doc}, by ${label}.`,
    labelNames: [label],
    registers: [registry],
    collect: () => {
      counter.reset();
      for (const [value, count] of tally.counts) counter.inc({ [label]: value }, count);
    },
  });
}

function addGauges(registry: Registry, sources: Sources): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers: [registry], collect: () => made.set(read()) });
  };
  gauge('towline_agent_running', 'Runs that are prepared or go on.', sources.running);
  gauge('towline_agent_free_slots', 'Slots in which a run could start.', sources.freeSlots);
  gauge('towline_agent_unsent', 'Messages that the broker has not acknowledged.', sources.unsent);
  gauge('towline_agent_ready', '1 when connected.', () => Number(sources.ready()));
  gauge('towline_agent_resident_bytes', 'Memory of the agent.', () => process.memoryUsage.rss());
  const placements = new Gauge({
    name: 'towline_agent_placements',
    help: 'Placements by phase.',
    labelNames: ['phase'] as const,
    registers: [registry],
    collect: () => {
      const counts = Map.groupBy(sources.phases(), (phase) => phase);
      for (const phase of PHASES) placements.set({ phase }, counts.get(phase)?.length ?? 0);
    },
  });
}

interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const ok: Page = { status: 200, type: 'text/plain', body: 'ok\n' };

async function listen(port: number, registry: Registry, sources: Sources): Promise<Server> {
  const { createServer } = await import('node:http');
  const pages: Readonly<Record<string, () => Promise<Page>>> = {
    '/healthz': async () => ok,
    '/readyz': async () => (sources.ready() ? ok : { status: 503, type: 'text/plain', body: 'not ready\n' }),
    '/metrics': async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() }),
  };
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    const answer = ({ status, type, body }: Page): void =>
      void response.writeHead(status, { 'content-type': type }).end(body);
    if (page === undefined) answer({ status: 404, type: 'text/plain', body: 'not found\n' });
    else page().then(answer, () => answer({ status: 500, type: 'text/plain', body: 'not available\n' }));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => resolve(server));
  });
}
