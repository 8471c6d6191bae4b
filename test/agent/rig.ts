/** A conductor on a real file ledger with a scripted executor; what it reports is kept instead of sent. */
import type { TestContext } from 'node:test';
import type { Surroundings } from '../../agent/decide.ts';
import type { Executor } from '../../agent/executor.ts';
import { takeIn, type Verdict } from '../../agent/intake.ts';
import { openFileLedger } from '../../agent/ledger/file.ts';
import type { Ledger, PlacementEntry } from '../../agent/ledger/ledger.ts';
import type { Outbox } from '../../agent/outbox.ts';
import { makeConductor, type Conductor, type ConductorParts } from '../../agent/reconcile.ts';
import { makeReports, type Reports } from '../../agent/report.ts';
import { atNothing } from '../../agent/steps.ts';
import { makeLog } from '../../shared/log.ts';
import { hubSubjects } from '../../shared/subjects.ts';
import { encode, type ClusterPolicy, type Order, type Report, WIRE_VERSION } from '../../shared/wire.ts';
import { atEnd } from '../harness/owned.ts';
import { tempFolder } from '../harness/temp.ts';
import { until } from '../harness/until.ts';
import { CLUSTER, INCARNATION } from './samples.ts';

export interface Rig {
  readonly ledger: Ledger;
  readonly reports: Reports;
  readonly conductor: Conductor;
  /** Every report in the order in which it was said: `key phase code`. */
  readonly said: string[];
  readonly verdicts: Verdict[];
  take(order: Order): Promise<void>;
  takeBytes(subject: string, data: Uint8Array): Promise<void>;
  policy(gen: number, policy: ClusterPolicy): Promise<void>;
  entry(key: string): PlacementEntry | undefined;
  newest(key: string): Report | undefined;
  /** Waits until the newest report of a placement has this phase. */
  phase(key: string, phase: Report['phase']): Promise<Report>;
  /** The agent is gone: nothing of it writes any more. */
  die(): Promise<void>;
}

export interface RigOptions {
  readonly executor: Executor;
  /** Default: a new one. */
  readonly folder?: string;
  /** Resolves when runs may start; default: at once. */
  readonly open?: Promise<void>;
  readonly incarnation?: string;
  readonly maxSlots?: number;
  readonly now?: () => number;
}

const silent = makeLog({ name: 'test', level: 'silent' });

export async function makeRig(context: TestContext, options: RigOptions): Promise<Rig> {
  const folder = options.folder ?? (await tempFolder(context, 'agent'));
  const incarnation = options.incarnation ?? INCARNATION;
  const ledger = await openFileLedger({ folder, incarnation, onDamage: () => undefined });
  await ledger.updateHeader((header) => ({ ...header, epoch: Math.max(1, header.epoch) }));
  const said: string[] = [];
  const verdicts: Verdict[] = [];
  const now = options.now ?? (() => Date.now());
  const around = (): Surroundings => ({
    now: now(),
    incarnation,
    policy: ledger.header.clusterOrder?.policy,
  });
  const base = { ledger, log: silent, now, cluster: CLUSTER, around };
  const outbox = outboxInto(said, (key) => reports.newest.get(key));
  const reports = makeReports({ ...base, outbox, js: never, agent: 'test' });
  const conductor = conductorOf(options, { ...base, incarnation, reports });
  const count = (verdict: Verdict): void => void verdicts.push(verdict);
  const intake = { ...base, reports, wake: conductor.wake, count };
  const takeBytes: Rig['takeBytes'] = (subject, data) => takeIn(intake, subject, data);
  const die = async (): Promise<void> => {
    conductor.quiesce();
    conductor.close();
    await ledger.close();
  };
  atEnd(context, die);
  conductor.start(options.open ?? Promise.resolve());
  return {
    ledger,
    reports,
    conductor,
    said,
    verdicts,
    takeBytes,
    die,
    ...shortcuts({ ledger, reports, takeBytes }),
  };
}

type Base = Pick<ConductorParts, 'ledger' | 'log' | 'now' | 'around' | 'incarnation' | 'reports'>;

function conductorOf(options: RigOptions, base: Base): Conductor {
  let runs = 0;
  return makeConductor({
    ...base,
    executor: options.executor,
    transcripts: { open: () => ({ write: () => undefined, end: () => undefined }) },
    newRunId: () => `run-${Date.now().toString(36)}-${(runs += 1)}`,
    ended: () => undefined,
    at: atNothing,
    maxSlots: options.maxSlots ?? Infinity,
  });
}

function shortcuts({
  ledger,
  reports,
  takeBytes,
}: Pick<Rig, 'ledger' | 'reports' | 'takeBytes'>): Pick<
  Rig,
  'take' | 'policy' | 'entry' | 'newest' | 'phase'
> {
  return {
    take: (order) => takeBytes(hubSubjects.order(CLUSTER, order.stack), encode(order)),
    policy: (gen, policy) => {
      const message = { v: WIRE_VERSION, gen, term: 1, cluster: CLUSTER, policy } as const;
      return takeBytes(hubSubjects.clusterOrder(CLUSTER), encode(message));
    },
    entry: (key) => ledger.entries.get(key),
    newest: (key) => reports.newest.get(key),
    phase: (key, phase) =>
      until(`${key} to be ${phase}`, () => {
        const report = reports.newest.get(key);
        if (report?.phase !== phase) throw new Error(`${report?.phase}: ${report?.reason.text}`);
        return report;
      }),
  };
}

const never = (): Promise<never> => new Promise(() => undefined);

const outboxInto = (said: string[], newest: (key: string) => Report | undefined): Outbox => ({
  put: (name) => {
    const [kind, key = ''] = name.split(' ');
    const report = newest(key);
    if (kind === 'report' && report !== undefined) said.push(`${key} ${report.phase} ${report.reason.code}`);
  },
  has: () => false,
  size: 0,
  wake: () => undefined,
  idle: () => Promise.resolve(),
  close: () => undefined,
});
