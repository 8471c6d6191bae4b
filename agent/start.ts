/** Composition root: settings → ledger, line to the broker, loops → a clean stop. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import type { JetStreamClient } from '../shared/nats.ts';
import type { ArtifactRef } from '../shared/wire.ts';
import type { AgentConfig } from './config.ts';
import type { Surroundings } from './decide.ts';
import type { Executor } from './executor.ts';
import { fetchArtifact } from './fetch.ts';
import { makeGatekeeper, type Gatekeeper } from './gatekeeper.ts';
import { applyAnswer, takeEpoch } from './greet.ts';
import type { Sources } from './health.ts';
import { takeIn, type Verdict } from './intake.ts';
import { ensureKey, readSeed } from './key.ts';
import { openFileLedger } from './ledger/file.ts';
import type { Ledger } from './ledger/ledger.ts';
import { dial, type Dialled, type Line } from './line.ts';
import { makeOutbox, type Outbox } from './outbox.ts';
import { receive } from './receive.ts';
import { makeConductor, type Conductor } from './reconcile.ts';
import { makeReports, type Reports } from './report.ts';
import { startSpeaker, type Speaker } from './speak.ts';
import { atNothing, type AtStep } from './steps.ts';
import { makeTally, type Tally } from './tally.ts';
import { makeTranscripts } from './transcript.ts';

/** Stored bytes of an artifact; rejects when they cannot be had now. */
export type Fetch = (ref: ArtifactRef) => Promise<Buffer>;

export interface StartOptions {
  readonly log: Log;
  /** Makes what carries out runs. */
  readonly executor: (fetch: Fetch) => Executor;
  /** Where tests let the agent die. */
  readonly at?: AtStep;
}

export interface Agent {
  readonly publicKey: string;
  readonly ledger: Ledger;
  readonly conductor: Conductor;
  /** Resolves when the broker cannot be reached by this process any more: it must end, so that another one is started. */
  readonly lost: Promise<void>;
  /**
   * Takes no more orders, treats the runs as `onStop` says, sends what can be sent, closes. Resolves with whether runs
   * still go on: they are the next agent's, and this process must end.
   */
  stop(): Promise<{ readonly left: boolean }>;
}

/** How long the last reports may take at a stop; what is not sent is in the ledger. */
const LAST_WORDS_MS = 2_000;

/** A cancelled run gets both graces of the stop, and time to be recorded. */
const CANCEL_MS = limits.stopGraceMs + limits.stopSecondGraceMs + 5_000;

const RESEND = { firstMs: 250, longestMs: 10_000 };

/** Resolves when the agent works, whether or not the broker is there. Rejects when the ledger cannot be opened. */
export async function startAgent(config: AgentConfig, options: StartOptions): Promise<Agent> {
  await mkdir(config.dataDir, { recursive: true });
  const publicKey = await ensureKey(config.keyFile);
  const ledger = await openFileLedger({
    folder: join(config.dataDir, 'ledger'),
    incarnation: config.incarnation,
    onDamage: (damage) => options.log.error(damage, 'a file of the ledger was damaged and is passed over'),
  });
  try {
    const agent = await assemble(config, { ...options, ledger });
    options.log.info(
      { cluster: config.cluster, publicKey, placements: ledger.entries.size },
      'agent started',
    );
    return { publicKey, ledger, ...agent };
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

interface Parts {
  readonly config: AgentConfig;
  readonly log: Log;
  readonly at: AtStep;
  readonly ledger: Ledger;
  readonly dialled: Dialled;
  readonly outbox: Outbox;
  readonly reports: Reports;
  readonly conductor: Conductor;
  readonly gatekeeper: Gatekeeper;
  readonly orders: Tally;
  readonly closeHealth: () => Promise<void>;
  readonly around: () => Surroundings;
}

type Options = StartOptions & { readonly ledger: Ledger };

async function assemble(
  config: AgentConfig,
  options: Options,
): Promise<Pick<Agent, 'conductor' | 'lost' | 'stop'>> {
  const { log, ledger } = options;
  await ledger.updateHeader((header) => ({ ...header, incarnation: config.incarnation }));
  const receiving = new AbortController();
  let received: Promise<void> = Promise.resolve();
  let speaker: Speaker | undefined;
  const outbox = makeOutbox({
    ...RESEND,
    onError: (key, error) => log.debug({ err: error, message: key }, 'not sent yet'),
  });
  const broker = { servers: config.nats, name: `towline agent ${config.cluster}` };
  const dialled = dial(
    { ...broker, seed: () => readSeed(config.keyFile) },
    {
      log,
      reconnected: () => {
        outbox.wake();
        speaker?.hello();
      },
    },
  );
  const parts = await makeParts(config, { ...options, dialled, outbox }).catch(async (error: unknown) => {
    await dialled.close();
    throw error;
  });
  parts.reports.resume();
  parts.conductor.start(parts.gatekeeper.open);
  void dialled.line.then((line) => {
    speaker = speak(parts, line);
    received = receiveOn(parts, line, receiving.signal);
  });
  const hush = async (): Promise<void> => {
    receiving.abort();
    await received;
  };
  return {
    conductor: parts.conductor,
    lost: dialled.lost,
    stop: () => stop(parts, { hush, silence: () => speaker?.close() }),
  };
}

async function makeParts(
  config: AgentConfig,
  options: Options & { readonly dialled: Dialled; readonly outbox: Outbox },
): Promise<Parts> {
  const { log, ledger, dialled, outbox } = options;
  const js = async (): Promise<JetStreamClient> => (await dialled.line).js;
  const now = (): number => Date.now();
  const around = (): Surroundings => ({
    now: now(),
    incarnation: config.incarnation,
    policy: ledger.header.clusterOrder?.policy,
  });
  const { cluster, name: agent, incarnation } = config;
  const reports = makeReports({ ledger, outbox, js, cluster, agent, now, log });
  const gatekeeper = makeGatekeeper(ledger.header.epoch === 0, {
    limitMs: limits.startDrainMs,
    late: () => takeEpoch({ ledger, reports, now }, 0),
  });
  const [orders, runs] = [makeTally('Orders that came'), makeTally('Runs that ended')];
  const at = options.at ?? atNothing;
  const conductor = makeConductor({
    ledger,
    reports,
    transcripts: makeTranscripts({ outbox, js }),
    executor: options.executor(fetcherOf(dialled)),
    incarnation,
    now,
    newRunId: () => `${now().toString(36)}-${randomBytes(6).toString('hex')}`,
    ended: ({ result }) => runs.add(result),
    at,
    log,
    around,
    maxSlots: config.maxRuns,
  });
  const closeHealth = await serve(config.httpPort, {
    ready: dialled.isUp,
    phases: () => [...reports.newest.values()].map((report) => report.phase),
    running: () => conductor.running.length,
    freeSlots: () => conductor.freeSlots,
    unsent: () => outbox.size,
    orders,
    runs,
  });
  return {
    config,
    log,
    at,
    ledger,
    dialled,
    outbox,
    reports,
    conductor,
    gatekeeper,
    orders,
    closeHealth,
    around,
  };
}

/** Loaded only where it is used: HTTP and metrics are a fifth of the agent's memory. */
async function serve(port: number | undefined, sources: Sources): Promise<() => Promise<void>> {
  if (port === undefined) return async () => undefined;
  const { startHealth } = await import('./health.ts');
  return startHealth(port, sources);
}

/** A broker that is away is a reason to wait, and not to sit in a slot until it comes. */
const fetcherOf =
  (dialled: Dialled): Fetch =>
  async (ref) => {
    if (!dialled.isUp()) throw new Error('the broker cannot be reached');
    return fetchArtifact((await dialled.line).connection, ref);
  };

function speak(parts: Parts, { connection }: Line): Speaker {
  const { ledger, reports, conductor, gatekeeper, config, log, around } = parts;
  return startSpeaker({
    connection,
    ledger,
    reports,
    incarnation: config.incarnation,
    answered: async (answer) => {
      await applyAnswer({ ledger, reports, now: () => around().now }, answer);
      gatekeeper.answered();
      conductor.wake();
    },
    condition: () => ({
      agent: config.name,
      version: manifest.version,
      free: conductor.freeSlots,
      running: [...conductor.running],
      at: around().now,
    }),
    log,
  });
}

function receiveOn(parts: Parts, { js }: Line, signal: AbortSignal): Promise<void> {
  const { ledger, reports, conductor, gatekeeper, orders, config, log, around, at } = parts;
  const intake = {
    ledger,
    reports,
    cluster: config.cluster,
    around,
    wake: conductor.wake,
    log,
    count: (verdict: Verdict) => orders.add(verdict),
  };
  const take = (subject: string, data: Uint8Array): Promise<void> => takeIn(intake, subject, data);
  return receive({ js, account: config.account, take, drained: gatekeeper.drained, at, log }, signal);
}

async function stop(
  parts: Parts,
  { hush, silence }: { readonly hush: () => Promise<void>; readonly silence: () => void },
): Promise<{ readonly left: boolean }> {
  const { config, conductor, outbox, log } = parts;
  parts.gatekeeper.close();
  conductor.quiesce();
  await hush();
  if (config.onStop === 'cancel') conductor.cancel();
  const patience =
    config.onStop === 'cancel' ? CANCEL_MS : config.onStop === 'finish' ? config.stopTimeoutMs : 0;
  await within(patience, (signal) => Promise.race([conductor.idle(), aborted(signal)]));
  const left = conductor.running.length > 0;
  if (left) log.warn({ running: conductor.running }, 'runs go on; the next agent takes them up');
  await within(LAST_WORDS_MS, (signal) => outbox.idle(signal));
  silence();
  conductor.close();
  outbox.close();
  await parts.closeHealth();
  await parts.dialled.close();
  await parts.ledger.close();
  return { left };
}

/** Waits for work at most so long. */
async function within(ms: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  await work(late.signal);
  clearTimeout(timer);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
